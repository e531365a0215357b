"""Measures of two rankings: what they share, and how high.

The other ranking is that of :mod:`karat.extensions.overlap.ranking`: the grade of a judged hit says
at which rank the other run has it.
"""

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.scoring.metrics.definition import metric


@metric(
    "Share of the first k hits that another run has among its first k, in any order.",
    formula="hits in both / k, or / the longer list if both have fewer; 1 for two empty lists",
    compares_runs=True,
)
def overlap(judged: JudgedQuery, k: int) -> float:
    """Return the share of the first *k* hits that both rankings have.

    >>> other_has_them_at_1_and_3 = JudgedQuery([1, 2], [3, 1], ideal=[3, 2, 1], retrieved=3)
    >>> overlap(other_has_them_at_1_and_3, 2), overlap(other_has_them_at_1_and_3, 1)
    (0.5, 1.0)
    """
    longer = min(k, max(judged.relevant_count(), judged.retrieved))
    return sum(depth <= k for depth in shared_depths(judged)) / longer if longer else 1.0


@metric(
    "Share of the first k hits that another run does not have among its first k.",
    formula="1 - overlap@k",
    compares_runs=True,
    higher_is_better=False,
)
def churn(judged: JudgedQuery, k: int) -> float:
    """Return the share of the first *k* hits that only one of the rankings has.

    >>> churn(JudgedQuery([2], [3], ideal=[3, 2, 1], retrieved=4), 4)
    0.75
    """
    return 1.0 - overlap(judged, k)


@metric(
    "Rank-biased overlap with another run: the mean overlap of all depths, the first ones most.",
    formula="(1 - p) sum of p^(d - 1) overlap@d; beyond the end of the lists, the agreement that "
    "they have there goes on (RBO_ext)",
    compares_runs=True,
)
def rbo(judged: JudgedQuery, k: int | None = None, *, p: float = 0.9) -> float:
    """Return the extrapolated rank-biased overlap of Webber, Moffat and Zobel (2010), equation 32.

    With *k*, both rankings end there. With p = 0.9 the first ten ranks have 86 % of the weight.

    >>> round(rbo(JudgedQuery([1, 2], [1, 2], ideal=[2, 1], retrieved=2), p=0.5), 4)
    0.5
    """
    if not 0.0 < p < 1.0:
        raise InputError(f"rbo's p is {p:g}; expected a number above 0 and below 1")
    lengths = judged.relevant_count(), judged.retrieved
    short, long = sorted(lengths if k is None else (min(k, each) for each in lengths))
    if not short:
        return float(not long)
    depths = sorted(shared_depths(judged))
    in_short = sum(depth <= short for depth in depths)
    total, weight, shared = 0.0, 1.0, 0
    for depth in range(1, long + 1):
        while shared < len(depths) and depths[shared] <= depth:
            shared += 1
        # The shorter list would go on to agree as it did up to its end.
        assumed = in_short * max(0, depth - short) / short
        total += weight * (shared + assumed) / depth
        weight *= p
    end = (shared - in_short) / long + in_short / short
    return min(1.0, (1.0 - p) * total + end * weight)


def shared_depths(judged: JudgedQuery) -> list[float]:
    """Return for each hit of both rankings the depth from which on both have it.

    >>> shared_depths(JudgedQuery([1, 4], [1, 3], ideal=[3, 2, 1], retrieved=4))
    [3, 4]
    """
    length = judged.relevant_count()
    return [
        max(rank, length + 1 - grade)
        for rank, grade in zip(judged.ranks, judged.grades, strict=True)
        if grade > 0
    ]
