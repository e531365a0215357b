"""Rank-biased precision over grades, and the maximum that unjudged hits could add to it."""

from functools import lru_cache
from itertools import accumulate, repeat
from operator import mul

from karat.model import JudgedQuery
from karat.scoring.metrics.gain import gain_function
from karat.scoring.metrics.measure import Metric
from karat.scoring.metrics.ties import groups, mean_weight
from karat.scoring.metrics.user import check_chance

__all__ = ["RBP_GRADED", "RBP_RESIDUAL", "UNJUDGED", "rbp_graded", "rbp_residual", "unjudged"]


@lru_cache(maxsize=16)
def _table(p: float, size: int) -> tuple[float, ...]:
    """Return p^0 .. p^size, each computed from the one before, as trec_eval rounds them."""
    return tuple(accumulate(repeat(p, size), mul, initial=1.0))


def _powers(p: float, size: int) -> tuple[float, ...]:
    return _table(p, 1 << size.bit_length())


def rbp_graded(judged: JudgedQuery, *, p: float = 0.9, gain: str = "linear") -> float:
    """Return the gain per hit of a reader who continues with probability *p*.

    Gains are divided by the query's highest gain if that is above 1.

    >>> round(rbp_graded(JudgedQuery([1, 2], [1, 2], ideal=[2, 1], retrieved=2), p=0.5), 4)
    0.5
    """
    check_chance(p)
    gain_of = gain_function(gain)
    highest = _highest_gain(judged, gain)
    powers = _powers(p, judged.retrieved)
    spans = judged.spans or [(rank, rank) for rank in judged.ranks]
    return (1.0 - p) * sum(
        gain_of(grade) / highest * mean_weight(first, last, lambda rank: powers[rank - 1], None)
        for (first, last), grade in zip(spans, judged.grades, strict=True)
        if grade >= 0
    )


def _highest_gain(judged: JudgedQuery, gain: str) -> float:
    """Return the highest gain, at least 1.

    Every gain of a table counts, and every level up to the highest grade, whether or not it occurs.
    """
    gain_of = gain_function(gain)
    gains = [1.0, *map(gain_of, judged.ideal)]
    if ":" in gain:
        gains += [float(pair.partition(":")[2]) for pair in gain.split("/")]
        gains += map(gain_of, range(int(max(judged.ideal, default=0))))
    return max(gains)


def rbp_residual(judged: JudgedQuery, *, p: float = 0.9) -> float:
    """Return how much rank-biased precision the unjudged hits, and all beyond, could still add.

    As in trec_eval it is 0 if every hit is judged, although ranks beyond the last could add.

    >>> round(rbp_residual(JudgedQuery([1], [1], ideal=[1], retrieved=2), p=0.5), 4)
    0.5
    """
    check_chance(p)
    pairs = zip(judged.ranks, judged.grades, strict=True)
    known = {rank for rank, grade in pairs if grade >= 0}
    if len(known) == judged.retrieved:
        return 0.0
    powers = _powers(p, judged.retrieved)
    unknown = [powers[rank - 1] for rank in range(1, judged.retrieved + 1) if rank not in known]
    return min(powers[judged.retrieved] + (1.0 - p) * sum(unknown), 1.0)


def unjudged(judged: JudgedQuery, k: int) -> float:
    """Return the unjudged hits among the first *k*, over *k*; ranks without a hit do not count.

    >>> unjudged(JudgedQuery([1], [1], ideal=[1], retrieved=3), 5)
    0.4
    """
    known = 0.0
    for tie in groups(judged):
        known += sum(grade >= 0 for grade in tie.grades) * tie.within(k) / tie.size
    return max(0.0, min(k, judged.retrieved) - known) / k


RBP_GRADED = Metric(
    "rbp-graded",
    rbp_graded,
    definition="Graded rank-biased precision, relative to the query's highest grade above "
    "1. Karat's rbp is binary.",
    formula="(1 - p) sum over ranks i of p^(i - 1) gain_i / max(1, highest gain)",
    cut="none",
    params={"p": 0.9, "gain": "linear"},
    laws=frozenset({"ideal", "padding", "promotion", "zero"}),
    expected_ties=True,
)

RBP_RESIDUAL = Metric(
    "rbp-residual",
    rbp_residual,
    definition="How much rank-biased precision would rise if all unjudged hits were relevant.",
    formula="p^n + (1 - p) sum over unjudged ranks i of p^(i - 1), n hits; 0 if all are judged",
    cut="none",
    params={"p": 0.9},
    higher_is_better=False,
)

UNJUDGED = Metric(
    "unjudged",
    unjudged,
    definition="Unjudged share of the first k ranks; a grade below 0 is unjudged. Karat's "
    "judged divides by the number of hits.",
    formula="unjudged hits in the first k / k",
    cut="required",
    higher_is_better=False,
    expected_ties=True,
)
