"""Measures of the whole returned set, independent of its order."""

from math import inf

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.scoring.metrics.measure import Metric
from karat.scoring.metrics.sets import set_precision, set_recall

__all__ = ["SET_AP", "SET_F", "SET_RELATIVE_PRECISION", "UTILITY"]


def set_relative_precision(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return the relevant hits relative to the maximum for a set of this size.

    >>> set_relative_precision(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4))
    0.5
    """
    most = min(judged.retrieved, judged.relevant_count(level))
    return len(judged.relevant(level)) / most if most else 0.0


def set_ap(judged: JudgedQuery, *, level: float = 0.0) -> float:
    """Return set precision times set recall.

    >>> set_ap(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4))
    0.125
    """
    size = judged.retrieved * judged.relevant_count(level)
    return len(judged.relevant(level)) ** 2 / size if size else 0.0


def set_f(judged: JudgedQuery, *, weight: float = 1.0, level: float = 0.0) -> float:
    """Return the weighted harmonic mean of set precision and set recall.

    *weight* is the square of the usual beta: above 1 recall counts more.

    >>> round(set_f(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4)), 4)
    0.3333
    """
    if weight < 0.0:
        raise InputError(f"set-f's weight is {weight:g}; expected 0 or more")
    precision = set_precision(judged, level=level)
    recall = set_recall(judged, level=level)
    below = weight * precision + recall
    return (weight + 1.0) * precision * recall / below if below else 0.0


def utility(
    judged: JudgedQuery,
    *,
    found: float = 1.0,
    wrong: float = -1.0,
    missed: float = 0.0,
    spared: float = 0.0,
    collection: float = 0.0,
    level: float = 0.0,
) -> float:
    """Return the utility of the returned set, with one weight for each of the four outcomes.

    *spared* is the weight of documents that were rightly not returned; it needs the *collection*
    size.

    >>> utility(JudgedQuery([1], [1], ideal=[1, 1], retrieved=4))
    -2.0
    """
    hits = len(judged.relevant(level))
    total = judged.relevant_count(level)
    return (
        found * hits
        + wrong * (judged.retrieved - hits)
        + missed * (total - hits)
        + spared * (collection + hits - judged.retrieved - total)
    )


SET_RELATIVE_PRECISION = Metric(
    "set-relative-precision",
    set_relative_precision,
    definition="Relevant hits relative to the most that a set of this size can have.",
    formula="relevant hits / min(hits, R)",
    cut="none",
    params={"level": 0.0},
    laws=frozenset({"ideal", "promotion", "zero"}),
    expected_ties=True,
)

SET_AP = Metric(
    "set-ap",
    set_ap,
    definition="Set precision times set recall.",
    formula="relevant hits^2 / (hits R)",
    cut="none",
    params={"level": 0.0},
    laws=frozenset({"ideal", "promotion", "zero"}),
    expected_ties=True,
)

SET_F = Metric(
    "set-f",
    set_f,
    definition="Weighted harmonic mean of set precision and set recall; unlike set-f1 it "
    "is 0 if nothing is returned and nothing is relevant.",
    formula="(w + 1) P R / (w P + R), w the weight of recall",
    cut="none",
    params={"weight": 1.0, "level": 0.0},
    laws=frozenset({"ideal", "promotion", "zero"}),
    expected_ties=True,
)

UTILITY = Metric(
    "utility",
    utility,
    definition="Weighted sum over found, wrong, missed and spared documents.",
    formula="found a + wrong b + missed c + spared d over the contingency table a, b, c, d of "
    "returned and relevant",
    cut="none",
    params={
        "found": 1.0,
        "wrong": -1.0,
        "missed": 0.0,
        "spared": 0.0,
        "collection": 0.0,
        "level": 0.0,
    },
    low=-inf,
    high=inf,
    laws=frozenset({"ideal", "promotion"}),
    expected_ties=True,
)
