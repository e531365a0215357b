"""Precision, recall, F1 and average precision."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import count
from operator import truediv

from karat.model import JudgedQuery
from karat.scoring.metrics.measure import Metric
from karat.scoring.metrics.sets import harmonic_mean
from karat.scoring.metrics.ties import groups, hits_within

__all__ = ["AP", "F1", "PRECISION", "RECALL", "R_PRECISION"]


def precision(judged: JudgedQuery, k: int, *, level: float = 0.0) -> float:
    """Return the relevant share of the first *k*; a shorter list is padded with misses.

    >>> precision(JudgedQuery([2, 3], [2, 1], ideal=[2, 1], retrieved=3), 5)
    0.4
    """
    if judged.spans is None:
        return bisect_right(judged.relevant(level), k) / k
    return hits_within(judged, k, level) / k


def recall(judged: JudgedQuery, k: int | None = None, *, level: float = 0.0) -> float:
    """Return the share of the relevant targets found within rank *k*.

    >>> recall(JudgedQuery([2, 8], [2, 1], ideal=[2, 1], retrieved=9), 5)
    0.5
    """
    total = judged.relevant_count(level)
    if not total:
        return 0.0
    if judged.spans is None:
        ranks = judged.found(level)
        return (len(ranks) if k is None else bisect_right(ranks, k)) / total
    return hits_within(judged, k, level) / total


def f1(judged: JudgedQuery, k: int, *, level: float = 0.0) -> float:
    """Return the harmonic mean of precision and recall at *k*.

    >>> round(f1(JudgedQuery([1], [1], ideal=[1, 1], retrieved=3), 2), 2)
    0.5
    """
    if judged.spans is not None:
        # Both have the same numerator, so the mean over orders is again linear in it.
        total = k + judged.relevant_count(level)
        return 2.0 * hits_within(judged, k, level) / total
    return harmonic_mean(precision(judged, k, level=level), recall(judged, k, level=level))


def r_precision(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return precision at R, the number of relevant targets.

    >>> r_precision(JudgedQuery([1, 9], [1, 1], ideal=[1, 1], retrieved=9))
    0.5
    """
    total = judged.relevant_count(level)
    return precision(judged, total, level=level) if total else 0.0


def ap(judged: JudgedQuery, k: int | None = None, *, level: float = 0.0) -> float:
    """Return the mean precision at the ranks of the relevant hits, over all relevant targets.

    >>> round(ap(JudgedQuery([1, 3], [1, 1], ideal=[1, 1, 1], retrieved=9)), 4)
    0.5556
    """
    total = judged.relevant_count(level)
    if not total:
        return 0.0
    if judged.spans is not None:
        return _expected_precision_sum(judged, k, level) / total
    ranks = judged.relevant(level)
    if k is not None:
        ranks = ranks[: bisect_right(ranks, k)]
    precisions: Iterator[float] = map(truediv, count(1), ranks)
    return sum(precisions) / total


def _expected_precision_sum(judged: JudgedQuery, k: int | None, level: float) -> float:
    """Return the expected sum of precisions at relevant ranks over all orders of the tied hits.

    With r relevant among g tied hits, each position is relevant with probability r/g, and then the
    g-1 other positions share the r-1 other relevant hits evenly.
    """
    score = 0.0
    earlier = 0
    for tie in groups(judged):
        before, size, _ = tie
        relevant = tie.relevant(level)
        if not relevant:
            continue
        share = (relevant - 1) / (size - 1) if size > 1 else 0.0
        for place in range(1, size + 1):
            if k is not None and before + place > k:
                break
            score += relevant / size * (earlier + 1 + (place - 1) * share) / (before + place)
        earlier += relevant
    return score


BY_RANK = frozenset({"ideal", "padding", "promotion", "zero"})

PRECISION = Metric(
    "precision",
    precision,
    definition="Relevant share of the first k hits.",
    formula="relevant hits in the first k / k",
    cut="required",
    params={"level": 0.0},
    laws=BY_RANK,
    expected_ties=True,
)

RECALL = Metric(
    "recall",
    recall,
    definition="Share of relevant targets found in the first k hits.",
    formula="targets found in the first k / relevant targets",
    params={"level": 0.0},
    laws=BY_RANK,
    expected_ties=True,
)

F1 = Metric(
    "f1",
    f1,
    definition="Harmonic mean of precision and recall at k.",
    formula="2 P R / (P + R), 0 where both are 0",
    cut="required",
    params={"level": 0.0},
    laws=BY_RANK,
    expected_ties=True,
)

R_PRECISION = Metric(
    "r-precision",
    r_precision,
    definition="Precision at R, the number of relevant targets.",
    formula="relevant hits in the first R / R",
    cut="none",
    params={"level": 0.0},
    laws=BY_RANK,
    expected_ties=True,
)

AP = Metric(
    "ap",
    ap,
    definition="Precision averaged over the ranks of relevant hits.",
    formula="sum of P@i over relevant ranks i <= k / relevant targets",
    params={"level": 0.0},
    laws=BY_RANK,
    expected_ties=True,
)
