"""Metrics of the returned set, independent of its order."""

from karat.model import JudgedQuery
from karat.scoring.metrics.measure import Metric

__all__ = ["SET_F1", "SET_PRECISION", "SET_RECALL", "harmonic_mean"]


def set_precision(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the mean best credit of the returned hits; without partial credit, the relevant share.

    >>> set_precision(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4))
    0.25
    """
    if not judged.retrieved:
        return 0.0
    credits = judged.credits(level)
    earned = len(judged.relevant(level)) if credits is None else sum(credits.entries)
    return earned / judged.retrieved


def set_recall(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the mean best credit of the relevant targets; without partial credit, the found share.

    >>> set_recall(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4))
    0.5
    """
    total = judged.relevant_count(level)
    if not total:
        return 0.0
    credits = judged.credits(level)
    return (len(judged.relevant(level)) if credits is None else sum(credits.targets)) / total


def set_f1(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the harmonic mean of set precision and set recall.

    An empty answer to a query without relevant targets is perfect: 1.

    >>> round(set_f1(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4)), 4)
    0.3333
    """
    if not judged.retrieved and not judged.relevant_count(level):
        return 1.0
    return harmonic_mean(set_precision(judged, level=level), set_recall(judged, level=level))


def harmonic_mean(precision: float, recall: float) -> float:
    """Return the harmonic mean of both, 0 where both are 0.

    >>> harmonic_mean(0.5, 0.5)
    0.5
    """
    return 2.0 * precision * recall / (precision + recall) if precision + recall else 0.0


SET_PRECISION = Metric(
    "set-precision",
    set_precision,
    definition="Relevant share of all hits, with partial credit.",
    formula="sum of each hit's best credit / hits",
    cut="none",
    params={"level": 0.0},
    laws=frozenset({"ideal", "promotion", "zero"}),
    expected_ties=True,
)

SET_RECALL = Metric(
    "set-recall",
    set_recall,
    definition="Share of relevant targets found, with partial credit.",
    formula="sum of each target's best credit / targets",
    cut="none",
    params={"level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)

SET_F1 = Metric(
    "set-f1",
    set_f1,
    definition="F1 of all hits, with half credit for a directory above the target.",
    formula="2 P R / (P + R) of set-precision and set-recall; 1 for two empty sets",
    cut="none",
    params={"level": 0.0},
    laws=frozenset({"ideal", "promotion"}),
    expected_ties=True,
)
