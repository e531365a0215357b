"""Queries that people judge: in which order, and the sample behind prediction-powered numbers."""

import random
from collections.abc import Collection, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import NamedTuple, TypeVar

from karat.app.pooling import PooledHit, pool
from karat.app.score import RunSource, load_run, whole_run
from karat.errors import InputError
from karat.formats import read_dataset
from karat.model import Dataset, Query, Run, Target
from karat.model.judgments import label_use, model_labels_of
from karat.scoring.human_sample import recorded_sample, with_human_sample
from karat.scoring.labels import LabelChoice, choose_labels, voted_targets
from karat.scoring.matching.judge import Scored, Truth
from karat.scoring.score import evaluate_run
from karat.scoring.settings import Scoring
from karat.system.words import counted, first_few, join_names

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


class NextQuery(NamedTuple):
    """A query that people should judge: its row, its stratum, and its unjudged hits."""

    row: int
    stratum: str
    hits: tuple[PooledHit, ...]


def judging_order(
    data: Dataset, runs: Mapping[str, Run], *, depth: int = 10, seed: int = 0
) -> list[NextQuery]:
    """Return all queries in the order in which people should judge them, judged or not.

    The queries that people judged first are a stratified random sample, whenever they stop: see
    `stratified_order`. The strata are made from the labels of models: how much the *runs* differ by
    them, and whether the models contradict each other. Without model labels there is one stratum,
    and the order is random. Judgments of people do not change the order, so that a later call
    continues where people stopped.
    """
    hits: dict[int, list[PooledHit]] = {}
    for item in pool(data, runs, depth=depth):
        hits.setdefault(item.row, []).append(item)
    strata = _strata(data, runs, depth=depth)
    return [
        NextQuery(row, strata[row], tuple(hits.get(row, ())))
        for row in stratified_order(strata, seed=seed)
    ]


def draw_next(
    data: Dataset, runs: Mapping[str, Run], count: int, *, depth: int = 10, seed: int = 0
) -> tuple[list[PooledHit], list[str]]:
    """Return the unjudged hits of the next *count* queries, and all queries drawn, by their ids.

    Queries that were drawn before and have unjudged hits come first; if they are fewer, the next
    ones in the order are drawn. Whether people have judged a query, or a run has found something,
    does not decide whether it is drawn: the sample would not be random.
    """
    order = {
        data.query_ids[query.row]: query
        for query in judging_order(data, runs, depth=depth, seed=seed)
    }
    before = recorded_sample(data)
    open_ones = [query_id for query_id in before if order[query_id].hits]
    fresh = [query_id for query_id in order if query_id not in set(before)]
    fresh = fresh[: max(count - len(open_ones), 0)]
    asked = [*open_ones[:count], *fresh]
    return [hit for query_id in asked for hit in order[query_id].hits], [*before, *fresh]


def stratified_order(strata: Sequence[str], *, seed: int = 0) -> list[int]:
    """Return the rows of *strata* so that every prefix is a proportionally stratified sample.

    Every row is in a prefix of m of n rows with the same probability, m / n. That is why a plain
    mean over the judged queries is unbiased, and no estimate needs weights for the strata. An order
    that starts with the "most interesting" queries would not have this property: people would judge
    the queries on which the model errs, and the model would look worse than it is.

    The rows are lined up by stratum, shuffled within each, and visited in bit-reversed order (van
    der Corput's sequence) from a random start. The sequence spreads every prefix evenly over the
    line, so that each stratum gets its share; the random start is uniform over all rows, so that
    all of them have the same probability.

    >>> stratified_order(["a", "a", "b", "b"], seed=1)
    [3, 0, 2, 1]
    """
    rng = random.Random(seed)
    size = len(strata)
    line = list(range(size))
    rng.shuffle(line)
    line.sort(key=lambda row: strata[row])
    start = rng.randrange(size) if size else 0
    bits = max(size - 1, 0).bit_length()
    visited = (_reversed_bits(position, bits) for position in range(1 << bits))
    return [line[(position + start) % size] for position in visited if position < size]


def _reversed_bits(number: int, bits: int) -> int:
    """Return *number* with its *bits* in the opposite order.

    >>> [_reversed_bits(number, 2) for number in range(4)]
    [0, 2, 1, 3]
    """
    return int(f"{number:0{bits}b}"[::-1], 2) if bits else 0


def _strata(data: Dataset, runs: Mapping[str, Run], *, depth: int) -> list[str]:
    """Return the stratum of each query, from the labels of models only."""
    queries = list(data.queries())
    if not any(model_labels_of(query) for query in queries):
        return ["unlabelled"] * len(queries)
    # Grades as the models gave them: on the scale of people, the order would change as they judge.
    by_models = data.with_queries(
        [query._replace(targets=voted_targets(query)) for query in queries]
    )
    spreads = _spreads(by_models, runs, depth=depth)
    differing = sorted(spread for spread in spreads if spread > 0)
    middle = differing[len(differing) // 2] if differing else 0.0
    strata = []
    for query, spread in zip(queries, spreads, strict=True):
        text = "runs differ much" if spread >= middle else "runs differ little"
        text = text if spread > 0 else "runs score alike"
        strata.append(f"{text}, models disagree" if _is_disputed(query) else text)
    return strata


def _spreads(data: Dataset, runs: Mapping[str, Run], *, depth: int) -> list[float]:
    """Return by how much the scores of the *runs* differ on each query."""
    measure = f"ndcg@{depth}"
    columns = [
        evaluate_run(
            data, run, scoring=Scoring((measure,)), confidence=None, slices={}, name=name
        ).table.columns[measure]
        for name, run in runs.items()
    ]
    rows = ([0.0 if isnan(score) else score for score in row] for row in zip(*columns, strict=True))
    return [max(row) - min(row) for row in rows]


def _is_disputed(query: Query) -> bool:
    """Return whether models disagree about the relevance of a hit."""
    relevant: dict[Target, set[bool]] = {}
    for label in model_labels_of(query):
        ungraded = label.target._replace(grade=0.0)
        relevant.setdefault(ungraded, set()).add(label.target.grade > 0)
    return any(len(votes) > 1 for votes in relevant.values())
