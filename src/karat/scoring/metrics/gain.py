"""Measures of gain: nDCG and its relatives, and models of a reading user such as RBP and ERR."""

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from math import isfinite, log2
from operator import mul

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.scoring.metrics.definition import metric
from karat.scoring.metrics.measure import groups, mean_weight

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
        table = {float(grade): float(gain) for grade, gain in pairs}
    except ValueError:
        raise InputError(
            f"gain {name!r} is unknown; expected linear, exp or grade:gain/..."
        ) from None
    if not all(gain >= 0.0 and isfinite(gain) for gain in table.values()):
        raise InputError(f"gain {name!r}: expected gains that are finite numbers of 0 or more")
    return lambda grade: table.get(grade, grade if grade > 0 else 0.0)


def _exponential(grade: float) -> float:
    try:
        return 2.0**grade - 1.0 if grade > 0 else 0.0
    except OverflowError:
        raise InputError(f"grade {grade:g} is too high for gain=exp; expected below 1024") from None


@metric(
    "Discounted gain of the first k hits.",
    formula="sum over ranks i <= k of grade_i / log2(i + 1)",
    high=float("inf"),
    laws={"ideal", "padding", "promotion", "zero"},
    expected_ties=True,
    budgets=True,
)
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


@metric(
    "Discounted gain of the first k hits, relative to the ideal ranking.",
    formula="DCG@k / IDCG@k, IDCG over all judgments; gain=exp uses 2^grade - 1",
    laws={"ideal", "padding", "promotion", "zero"},
    expected_ties=True,
    budgets=True,
)
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


@metric(
    "Expected reciprocal rank at which a user is satisfied.",
    formula="sum over ranks i <= k of 1/i R_i prod over j < i of (1 - R_j), R = (2^g - 1) / 2^max; "
    "max is max_grade, or if that is 0 the highest grade of the query",
    laws={"ideal", "padding", "promotion", "zero"},
    expected_ties=True,
    budgets=True,
)
def err(judged: JudgedQuery, k: int | None = None, *, max_grade: float = 0.0) -> float:
    """Return the expected reciprocal rank at which a reader is satisfied.

    A grade g satisfies with probability (2^g - 1) / 2^max; *max_grade* 0 means the query's highest.

    >>> round(err(JudgedQuery([1, 2], [1, 2], ideal=[2, 1], retrieved=2)), 4)
    0.5312
    """
    if max_grade < 0.0:
        raise InputError(f"err's max_grade is {max_grade:g}; expected 0 or more")
    highest = max_grade or max((*judged.ideal, *judged.grades), default=0.0)
    if highest <= 0:
        return 0.0
    # Divided first: 2^max itself may be too large for a float.
    least = 2.0**-highest
    score = 0.0
    still_reading = 1.0
    for before, size, grades in groups(judged):
        stops = [2.0 ** (min(max(grade, 0.0), highest) - highest) - least for grade in grades]
        for stop, times in Counter(stops).items():
            others = [*stops, *([0.0] * (size - len(stops)))]
            others.remove(stop)
            passed = _chance_to_pass(others)
            for index in range(size):
                if k is not None and before + index + 1 > k:
                    break
                share = stop * times / size
                score += still_reading * share * passed[index] / (before + index + 1)
        for stop in stops:
            still_reading *= 1.0 - stop
    return score


def _chance_to_pass(stops: list[float]) -> list[float]:
    """Return entry m: the probability to read on after m random hits from those of *stops*."""
    size = len(stops)
    chances = [1.0] + [0.0] * size
    for seen, stop in enumerate(stops, 1):
        # A set of m out of `seen` includes the newest with probability m / seen.
        for m in range(seen, 0, -1):
            with_newest = m / seen * chances[m - 1] * (1.0 - stop)
            without = (1.0 - m / seen) * chances[m]
            chances[m] = with_newest + without
    return chances


@metric(
    "Precision weighted by the probability that a user reads that far.",
    formula="(1 - p) sum of p^(i - 1) over relevant ranks i <= k",
    laws={"ideal", "padding", "promotion", "zero"},
    expected_ties=True,
    budgets=True,
)
def rbp(judged: JudgedQuery, k: int | None = None, *, p: float = 0.8, level: float = 0.0) -> float:
    """Return the rank-biased precision of a reader who continues with probability *p*.

    >>> round(rbp(JudgedQuery([1, 3], [1, 1], ideal=[1, 1], retrieved=3), p=0.5), 4)
    0.625
    """
    check_chance(p)
    spans = judged.spans or [(rank, rank) for rank in judged.ranks]
    return (1.0 - p) * sum(
        mean_weight(first, last, lambda rank: p ** (rank - 1), k)
        for (first, last), grade in zip(spans, judged.grades, strict=True)
        if grade > 0 and grade >= level
    )


def check_chance(p: float) -> None:
    """Raise InputError unless *p* is a probability."""
    if not 0.0 <= p <= 1.0:
        raise InputError(f"rbp's p is {p}; expected a probability from 0 to 1")
