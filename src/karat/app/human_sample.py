"""--human-sample: the queries that people judged, for prediction-powered numbers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from karat.app.judge import pool
from karat.app.score import RunSource, load_run, whole_run
from karat.errors import InputError
from karat.formats import read_dataset
from karat.model import Dataset, Run
from karat.model.judgments import label_use
from karat.scoring.human_sample import with_human_sample
from karat.scoring.labels import LabelChoice, choose_labels
from karat.scoring.matching.judge import Scored, Truth
from karat.scoring.settings import Scoring
from karat.system.words import first_few, join_names

__all__ = ["AUTO", "DEPTH", "judged_queries", "sampled_gold", "sampled_run"]

TruthOf = TypeVar("TruthOf", bound=Truth)

AUTO = "auto"
# Hits of each run that people must have judged, if no measure has a cut-off.
DEPTH = 10
# Fewer queries give no standard error.
FEWEST = 2


def sampled_gold(gold: Truth, runs: Mapping[str, Run], sample: str, scoring: Scoring) -> Dataset:
    """Return *gold* with its human sample; scores on it are prediction-powered.

    *sample* is a file with query ids, a gold set whose queries are the sample, or ``auto`` for the
    queries in which people judged the first hits of all *runs*: as many as the largest cut-off of a
    measure. A gold set without model labels raises InputError, and so does a sample with queries
    that no person has judged.
    """
    if not isinstance(gold, Dataset):
        raise InputError(
            "--human-sample needs a gold set with model labels, not a list of judgments; convert "
            "it (karat convert), then add labels (karat judge --model)"
        )
    use = label_use(gold)
    if use and use.is_used:
        raise InputError(
            f"--human-sample and --judge-labels {use.choice} exclude each other: a human sample "
            "uses the labels of people and of models anyway"
        )
    choose_labels(gold, LabelChoice.ONLY)
    if sample == AUTO:
        depth = max((measure.k or 0 for measure in scoring.parsed(gold)), default=0) or DEPTH
        ids = judged_queries(gold, runs, depth=depth)
        if len(ids) < FEWEST:
            raise InputError(
                f"--human-sample auto: people judged the first {depth} hits of every run in "
                f"{len(ids)} of {len(gold)} queries; judge further ones (karat judge GOLD RUN... "
                "--next 20), or name a file with query ids"
            )
    else:
        ids = _listed(gold, sample)
    return with_human_sample(gold, ids)


def sampled_run(
    gold: TruthOf,
    run: RunSource,
    sample: str | None,
    *,
    name: str,
    scoring: Scoring,
    format: str | None = None,  # noqa: A002 - the word users write
) -> tuple[TruthOf | Dataset, Run | Scored]:
    """Return *gold* with its human *sample*, and the loaded run; without a sample, *gold* as is."""
    if sample is None:
        return gold, load_run(run, gold, scoring=scoring, format=format)
    whole = whole_run(run, gold, name=name, format=format)
    return sampled_gold(gold, {name: whole}, sample, scoring), whole


def judged_queries(gold: Dataset, runs: Mapping[str, Run], *, depth: int) -> list[str]:
    """Return the queries with a judgment in which the first *depth* hits of all runs are judged."""
    unjudged = {item.row for item in pool(gold, runs, depth=depth)}
    return [
        query_id
        for row, query_id in enumerate(gold.query_ids)
        if row not in unjudged and gold.targets(row)
    ]


def _listed(gold: Dataset, path: str) -> list[str]:
    """Return the query ids in the file *path*: one a line, or those of a gold set."""
    known = {query_id: row for row, query_id in enumerate(gold.query_ids)}
    if not Path(path).exists():
        raise InputError(f"--human-sample {path}: no such file; expected a file or {AUTO}")
    lines = [line.strip() for line in _text(path).splitlines() if line.strip()]
    ids: Sequence[str] = lines
    if not any(line in known for line in lines):
        ids = read_dataset(path).query_ids
    _check(path, [each for each in ids if each not in known], "not in the gold set")
    _check(path, [each for each in ids if not gold.targets(known[each])], "not judged by a person")
    if len(set(ids)) < FEWEST:
        raise InputError(f"{path}: the human sample has {len(set(ids))} queries; expected 15 or so")
    return list(dict.fromkeys(ids))


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _check(path: str, wrong: Sequence[str], problem: str) -> None:
    if wrong:
        names = join_names(first_few([repr(each) for each in wrong]))
        raise InputError(f"{path}: {len(wrong)} of the queries are {problem}: {names}")
