"""A run in place of a gold set: its hits are the targets, and their grades say the order.

The first of n hits has the grade n, the last the grade 1.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from karat.formats import read_run
from karat.formats.base import RANKING, Format, ReadOptions
from karat.model import Dataset, Outcome, Query, Run, Target
from karat.model.dataset import COMPARED_BY
from karat.scoring.matching.modes import MATCHERS, tie_policy
from karat.scoring.matching.regions import order_hits, valid_hits

# The first hit, the first page, and the whole list.
MEASURES = ("overlap@1", "overlap@10", "churn@10", "rbo")


def detect(_path: str, _head: bytes) -> bool:
    """Return False: a file is a run, and only some commands take one in place of a gold set."""
    return False


def read(path: Path, options: ReadOptions) -> Dataset:
    """Return the run in *path* as targets."""
    return as_targets(read_run(path, limits=options.limits), path.name)


def as_targets(run: Run, name: str) -> Dataset:
    """Return the documents of *run* as targets, in its order; of several hits on one, the first.

    Queries that failed are left out.
    """
    by_path = any(run.start_lines) or any(run.symbols.names)
    match = "exact" if by_path else "document"
    about = {COMPARED_BY: MEASURES}
    return Dataset.of(_queries(run, match), name=name, match=match, metadata=about)


def _queries(run: Run, match: str) -> Iterator[Query]:
    spelled = MATCHERS.get(match)().spelled
    ties = tie_policy(None, run)
    for answer in run.answers():
        if answer.outcome is not Outcome.ANSWERED:
            continue
        hits = valid_hits(answer.hits, Counter())
        ordered, _ = order_hits(hits, [0.0] * len(hits), ties)
        paths = list(dict.fromkeys(spelled(hit.path) for hit in ordered if hit.path))
        grades = range(len(paths), 0, -1)
        targets = (Target(path, float(grade)) for path, grade in zip(paths, grades, strict=True))
        yield Query(answer.query_id, "", tuple(targets))


FORMAT = Format(
    RANKING,
    "dataset",
    "a run in place of a gold set, to compare other runs with it",
    (),
    detect,
    read,
)
