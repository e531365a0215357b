"""Metrics that model a reader who stops at some rank."""

from collections import Counter

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.scoring.metrics.measure import Metric
from karat.scoring.metrics.ties import groups, mean_weight

__all__ = ["ERR", "RBP", "err", "rbp"]


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
            for place in range(size):
                if k is not None and before + place + 1 > k:
                    break
                share = stop * times / size
                score += still_reading * share * passed[place] / (before + place + 1)
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


ERR = Metric(
    "err",
    err,
    definition="Expected reciprocal rank at which a user is satisfied.",
    formula="sum over ranks i <= k of 1/i R_i prod over j < i of (1 - R_j), R = (2^g - 1) / 2^max",
    params={"max_grade": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)

RBP = Metric(
    "rbp",
    rbp,
    definition="Precision weighted by the probability that a user reads that far.",
    formula="(1 - p) sum of p^(i - 1) over relevant ranks i <= k",
    params={"p": 0.8, "level": 0.0},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)
