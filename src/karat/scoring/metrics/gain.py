"""Discounted cumulative gain."""

from collections.abc import Callable
from functools import lru_cache
from math import isfinite, log2
from operator import mul

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.scoring.metrics.measure import Metric
from karat.scoring.metrics.ties import mean_weight

__all__ = ["DCG", "NDCG", "dcg", "ndcg"]

# Discounts of the first ranks, computed once; ranks count from 1, so entry 0 is never used.
DISCOUNTS = [0.0, *(1.0 / log2(rank + 1) for rank in range(1, 1025))]


def discount(rank: int) -> float:
    """Return 1 / log2(rank + 1).

    >>> discount(1), discount(3)
    (1.0, 0.5)
    """
    return DISCOUNTS[rank] if rank < len(DISCOUNTS) else 1.0 / log2(rank + 1)


@lru_cache(maxsize=32)
def gain_function(name: str) -> Callable[[float], float]:
    """Return the function from grade to gain: ``linear``, ``exp``, or a table such as ``1:3/2:9``.

    Negative grades have no gain; a grade that the table lacks is its own gain.
    """
    if name == "exp":
        return _exponential
    if name == "linear":
        return lambda grade: grade if grade > 0 else 0.0
    try:
        pairs = [part.split(":") for part in name.split("/")]
        given = {float(grade): float(gain) for grade, gain in pairs}
    except ValueError:
        raise InputError(
            f"gain {name!r} is unknown; expected linear, exp or grade:gain/..."
        ) from None
    if not all(gain >= 0.0 and isfinite(gain) for gain in given.values()):
        raise InputError(f"gain {name!r}: expected gains that are finite numbers of 0 or more")
    return lambda grade: given.get(grade, grade if grade > 0 else 0.0)


def _exponential(grade: float) -> float:
    try:
        return 2.0**grade - 1.0 if grade > 0 else 0.0
    except OverflowError:
        raise InputError(f"grade {grade:g} is too high for gain=exp; expected below 1024") from None


def dcg(judged: JudgedQuery, k: int | None = None, *, gain: str = "linear") -> float:
    """Return the discounted cumulative gain of the first *k* hits.

    >>> query = JudgedQuery([2, 3], [2, 1], ideal=[2, 1], retrieved=3)
    >>> round(dcg(query, 10), 2)
    1.76
    """
    gain_of = gain_function(gain)
    if judged.spans is not None:
        means = (mean_weight(first, last, discount, k) for first, last in judged.spans)
        return sum(map(mul, map(gain_of, judged.grades), means), 0.0)
    total = 0.0
    for rank, grade in zip(judged.ranks, judged.grades, strict=True):
        if k is not None and rank > k:
            break
        total += gain_of(grade) * discount(rank)
    return total


# Most queries share few lists of grades: one or two relevant documents.
@lru_cache(maxsize=4096)
def ideal_dcg(grades: tuple[float, ...], k: int | None, gain: str) -> float:
    """Return the gain of all judgments in the best order, cut at *k*."""
    gains = sorted(map(gain_function(gain), grades), reverse=True)[:k]
    total = 0.0
    # Summed rank by rank as in dcg, so that the best ranking has exactly 1.
    for rank, value in enumerate(gains, 1):
        total += value * discount(rank)
    return total


def ndcg(judged: JudgedQuery, k: int | None = None, *, gain: str = "linear") -> float:
    """Return the gain relative to the best order of all judgments; 0 if nothing is relevant.

    >>> query = JudgedQuery([2, 3], [2, 1], ideal=[2, 1], retrieved=3)
    >>> round(ndcg(query, 10), 4)
    0.6697
    """
    # Gains from a table need not follow the grades; otherwise grades beyond k cannot be the best.
    cut = k if gain in ("linear", "exp") else None
    ideal = ideal_dcg(tuple(judged.ideal[:cut]), k, gain)
    # The mean over tied orders may round to more than the ideal.
    return min(dcg(judged, k, gain=gain) / ideal, 1.0) if ideal else 0.0


NDCG = Metric(
    "ndcg",
    ndcg,
    definition="Discounted gain of the first k hits, relative to the ideal ranking.",
    formula="DCG@k / IDCG@k, IDCG over all judgments; gain=exp uses 2^grade - 1",
    params={"gain": "linear"},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)

DCG = Metric(
    "dcg",
    dcg,
    definition="Discounted gain of the first k hits.",
    formula="sum over ranks i <= k of grade_i / log2(i + 1)",
    params={"gain": "linear"},
    high=float("inf"),
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)
