"""karat judge --next: the order in which people should judge queries."""

import random
from collections.abc import Mapping, Sequence
from math import isnan
from typing import NamedTuple

from karat.app.judge import PooledHit, pool
from karat.model import Dataset, Query, Run, Target
from karat.model.judgments import model_labels_of
from karat.scoring.human_sample import recorded_sample
from karat.scoring.labels import voted_targets
from karat.scoring.score import evaluate_run
from karat.scoring.settings import Scoring

__all__ = ["NextQuery", "draw_next", "judging_order", "stratified_order"]


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
    visited = (_reversed_bits(place, bits) for place in range(1 << bits))
    return [line[(place + start) % size] for place in visited if place < size]


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
    found = []
    for query, spread in zip(queries, spreads, strict=True):
        text = "runs differ much" if spread >= middle else "runs differ little"
        text = text if spread > 0 else "runs score alike"
        found.append(f"{text}, models disagree" if _is_disputed(query) else text)
    return found


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
        place = label.target._replace(grade=0.0)
        relevant.setdefault(place, set()).add(label.target.grade > 0)
    return any(len(votes) > 1 for votes in relevant.values())
