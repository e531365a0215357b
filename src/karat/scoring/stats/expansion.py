"""Quantiles of the resampled t without drawing: the limit of the bootstrap for many draws.

A resample of two values is a binomial count, so its quantiles are exact. Of other columns the
quantiles follow from skewness and kurtosis, by the Cornish-Fisher expansion of Student's t to the
order 1/n (Hall, The Bootstrap and Edgeworth Expansion, 1992, sections 2.5 and 2.6).
"""

import math
from bisect import bisect_left

import numpy as np

from karat.scoring.stats.arrays import FloatArray
from karat.scoring.stats.distributions import incomplete_beta, normal_quantile

__all__ = ["expansion_quantiles"]

# Where the expansion is used. Within these limits its ends differ from those of a million draws by
# less than a hundredth of the interval's width (benchmarks/statistics.py).
LEAST_QUERIES = 300
LEVELS = (0.8, 0.99)
# Skewness and excess kurtosis of the mean of a resample: skewness / sqrt(n) and kurtosis / n.
MOST_SKEWNESS = 0.12
MOST_KURTOSIS = 0.1
# With fewer values beside the two most frequent ones, sums lie on a grid, which the expansion
# does not know.
LEAST_OTHERS = 20
# Scaled values that agree to so many decimals are equal.
DECIMALS = 9


def expansion_quantiles(centred: FloatArray, *, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the low and high quantile of the resampled t of each column; NaN if draws are needed.

    *centred* are independent queries minus the mean of their column; a column must vary.

    >>> low, high = expansion_quantiles(np.array([[-0.5], [0.5]] * 200), level=0.95)
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (-2.008, 2.008)
    """
    n, width = centred.shape
    found = np.full((2, width), math.nan)
    if n >= LEAST_QUERIES:
        # Sums along contiguous rows do not depend on the number of rows.
        rows = np.ascontiguousarray(centred.T)
        rows = rows / np.sqrt((rows * rows).mean(axis=1, keepdims=True))
        others = np.array([beside_two(row) for row in rows])
        for place in np.flatnonzero(others == 0).tolist():
            found[:, place] = binomial_quantiles(int((rows[place] > 0).sum()), n, level)
        many = np.flatnonzero(others >= LEAST_OTHERS)
        if len(many) and LEVELS[0] <= level <= LEVELS[1]:
            found[:, many] = cornish_fisher(rows[many], level)
    return found[0], found[1]


def beside_two(row: FloatArray) -> int:
    """Return how many values of *row* are neither the most frequent one nor the second.

    >>> beside_two(np.array([0.0, 1.0, 0.5, 1.0, 0.0]))
    1
    """
    _, counts = np.unique(np.round(row, DECIMALS), return_counts=True)
    return len(row) - int(np.sort(counts)[-2:].sum())


def binomial_quantiles(hits: int, n: int, level: float) -> tuple[float, float]:
    """Return the exact quantiles of the resampled t of *n* values, of which *hits* are the larger.

    With k of the larger ones in a resample, t = (k - hits) sqrt((n - 1) / (k (n - k))), which
    rises with k. It is infinite if no value differs.

    >>> binomial_quantiles(2, 400, 0.95)[0]
    -inf
    """
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        # The least k with P(K <= k) >= tail.
        k = bisect_left(range(n), tail, key=lambda k: incomplete_beta(n - k, k + 1, 1 - hits / n))
        spread = k * (n - k) / (n - 1)
        ends.append((k - hits) / math.sqrt(spread) if spread else math.copysign(math.inf, k - hits))
    return ends[0], ends[1]


def cornish_fisher(rows: FloatArray, level: float) -> FloatArray:
    """Return ``[end, column]`` of *rows* with mean 0 and variance 1; NaN beyond the limits."""
    n = rows.shape[1]
    squares = rows * rows
    skewness = (squares * rows).mean(axis=1) / math.sqrt(n)
    kurtosis = ((squares * squares).mean(axis=1) - 3) / n
    ends = []
    far = normal_quantile((1 + level) / 2)
    for z in (-far, far):
        # P(t <= z) = normal(z) + (first + second) density(z), with the variance over n.
        first = skewness * (2 * z * z + 1) / 6
        slope = skewness * 2 * z / 3
        second = z * (
            kurtosis * (z * z - 3) / 12
            - skewness**2 * (z**4 + 2 * z * z - 3) / 18
            - (z * z + 3) / (4 * n)
        )
        t = z - first + first * slope - z * first**2 / 2 - second
        # The t of a sample has its variance over n - 1.
        ends.append(t * math.sqrt((n - 1) / n))
    near = (np.abs(skewness) <= MOST_SKEWNESS) & (kurtosis <= MOST_KURTOSIS)
    return np.where(near, ends, math.nan)
