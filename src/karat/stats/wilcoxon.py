"""Wilcoxon's signed-rank test, on request only, with the reason against it in the result."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.stats.arrays import FloatArray, scored
from karat.stats.distributions import normal_tail
from karat.stats.exact import grid_p

__all__ = ["Wilcoxon", "wilcoxon"]

# Up to here the distribution of rank sums is worked out; beyond it is normal for all purposes.
EXACT = 50

WARNING = (
    "the signed-rank test asks whether differences are symmetric around 0, not whether the mean "
    "differs: many small gains and few large losses that cancel out are called significant"
)


class Wilcoxon(NamedTuple):
    """Rank sums of the positive and the negative differences, the p value, how it was made."""

    positive: float
    negative: float
    n: int
    p: float
    method: str
    warning: str


def wilcoxon(differences: ArrayLike) -> Wilcoxon:
    """Return the two-sided test; differences of 0 are left out, equal ones share their mean rank.

    Exact up to fifty differences, ties or not; then normal, with the variance corrected for ties
    and without a continuity correction.

    >>> test = wilcoxon([0.2, 0.1, 0.4, -0.3])
    >>> test.positive, test.negative, test.p
    (7.0, 3.0, 0.625)
    """
    kept = scored(differences)
    kept = kept[kept != 0.0]
    n = len(kept)
    if n == 0:
        return Wilcoxon(0.0, 0.0, 0, 1.0, "exact", WARNING)
    ranks, ties = mean_ranks(np.abs(kept))
    positive = float(ranks[kept > 0].sum())
    negative = float(ranks[kept < 0].sum())
    if n <= EXACT:
        # Mean ranks are whole or half: doubled, they are the steps of a grid.
        p = grid_p(np.rint(2 * ranks).astype(np.int64), kept > 0)
        return Wilcoxon(positive, negative, n, p, "exact", WARNING)
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((ties**3 - ties).sum()) / 48
    p = normal_tail((positive - negative) / 2 / math.sqrt(variance))
    return Wilcoxon(positive, negative, n, p, "normal", WARNING)


def mean_ranks(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rank of each value from 1, ties at their mean rank, and the size of each tie."""
    _, place, counts = np.unique(np.round(values, 12), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place], counts.astype(np.float64)
