"""--human-sample: the queries that people judged, for prediction-powered numbers."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from karat.app.judge import pool
from karat.app.score import RunSource, load_run, whole_run
from karat.errors import InputError
from karat.formats import read_dataset
from karat.model import Dataset, Run
from karat.model.judgments import label_use
from karat.scoring.human_sample import recorded_sample, with_human_sample
from karat.scoring.labels import LabelChoice, choose_labels
from karat.scoring.matching.judge import Scored, Truth
from karat.scoring.settings import Scoring
from karat.system.words import counted, first_few, join_names

__all__ = ["AUTO", "DEPTH", "sampled_gold", "sampled_run"]

TruthOf = TypeVar("TruthOf", bound=Truth)

AUTO = "auto"
# Hits of each run that people must have judged, if no measure has a cut-off.
DEPTH = 10
# Fewer queries give no standard error.
FEWEST = 2


def sampled_gold(gold: Truth, runs: Mapping[str, Run], sample: str, scoring: Scoring) -> Dataset:
    """Return *gold* with its human sample; scores on it are prediction-powered.

    *sample* is a file with query ids, a gold set whose queries are the sample, or ``auto`` for the
    queries that ``karat judge --next`` has drawn and recorded in *gold*. People must have judged
    the first hits of these queries in all *runs*, as many as the largest cut-off of a measure:
    with ``auto``, an unjudged hit raises InputError. With a file it counts as not relevant, and a
    remark says so. A gold set without model labels raises InputError.
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
    depth = max((measure.k or 0 for measure in scoring.parsed(gold)), default=0) or DEPTH
    if sample == AUTO:
        return with_human_sample(gold, _recorded(gold, runs, depth))
    ids = _listed(gold, sample)
    hits, queries = _unjudged(gold, runs, ids, depth)
    remark = ""
    if hits:
        remark = (
            f"{counted(hits, 'unjudged hit')} of {queries} of the {len(ids)} sampled queries "
            f"{'counts' if hits == 1 else 'count'} as not relevant"
        )
    return with_human_sample(gold, ids, remark)


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


def _recorded(gold: Dataset, runs: Mapping[str, Run], depth: int) -> Sequence[str]:
    """Return the recorded sample of *gold*; InputError if people have not judged all of it."""
    ids = recorded_sample(gold)
    if len(ids) < FEWEST:
        recorded = f"records a sample of {len(ids)}" if ids else "records no sample"
        raise InputError(
            f"--human-sample {AUTO}: the gold set {recorded} of its {len(gold)} queries; draw "
            "one and judge it with karat judge GOLD RUN... --next 20, or name a file with the ids "
            "of randomly chosen queries: --human-sample FILE"
        )
    hits, queries = _unjudged(gold, runs, ids, depth)
    if hits:
        raise InputError(
            f"--human-sample {AUTO}: {counted(hits, 'hit')} of {queries} of the {len(ids)} sampled "
            f"queries are not judged yet; judge them with karat judge GOLD RUN... --next {queries} "
            f"-k {depth}, with the same runs"
        )
    return ids


def _unjudged(
    gold: Dataset, runs: Mapping[str, Run], ids: Collection[str], depth: int
) -> tuple[int, int]:
    """Return how many of the first *depth* hits of *runs* are unjudged, and of how many queries.

    Only the queries *ids* count.
    """
    chosen = set(ids)
    rows = [
        item.row for item in pool(gold, runs, depth=depth) if gold.query_ids[item.row] in chosen
    ]
    return len(rows), len(set(rows))


def _listed(gold: Dataset, path: str) -> list[str]:
    """Return the query ids in the file *path*: one a line, or those of a gold set."""
    known = set(gold.query_ids)
    if not Path(path).exists():
        raise InputError(f"--human-sample {path}: no such file; expected a file or {AUTO}")
    lines = [line.strip() for line in _text(path).splitlines() if line.strip()]
    ids: Sequence[str] = lines
    if not any(line in known for line in lines):
        try:
            ids = read_dataset(path).query_ids
        except InputError:
            # One word per line is a list of unknown ids, not a damaged gold set.
            if not lines or lines[0][0] in "{[" or any(len(line.split()) > 1 for line in lines):
                raise
    wrong = [each for each in ids if each not in known]
    if wrong:
        names = join_names(first_few([repr(each) for each in wrong]))
        raise InputError(f"{path}: not in the gold set: {names}")
    if len(set(ids)) < FEWEST:
        raise InputError(
            f"{path}: the human sample has {len(set(ids))} queries; expected about 15 or more"
        )
    return list(dict.fromkeys(ids))


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
