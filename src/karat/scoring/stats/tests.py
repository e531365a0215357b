"""Further tests: Student's t, Wilcoxon, two-way residual variance, randomised Tukey HSD."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.scoring.stats.arrays import (
    FloatArray,
    as_columns,
    block_rows,
    check_draws,
    cluster_codes,
    cluster_sums,
    drop_missing,
    generator,
)
from karat.scoring.stats.distributions import normal_tail, t_two_sided
from karat.scoring.stats.moments import Moments
from karat.scoring.stats.signflip import grid_p, whole_unit

__all__ = [
    "TTest",
    "Wilcoxon",
    "randomised_tukey",
    "residual_variance",
    "t_from_moments",
    "wilcoxon",
]


class TTest(NamedTuple):
    """Student's t, its degrees of freedom and the two-sided p value; None without a variance."""

    t: float | None
    df: int
    p: float | None


def t_from_moments(found: Moments) -> TTest:
    """Return the test of a mean against 0, from its moments."""
    df = max(found.units - 1, 0)
    if df and found.mean == 0.0 and found.sd == 0.0:
        return TTest(None, df, 1.0)
    # Cluster totals may cancel out although the values vary, hence the second condition.
    if not found.varies or not found.se > 1e-12 * abs(found.mean):
        return TTest(None, df, None)
    t = found.mean / found.se
    return TTest(t, df, t_two_sided(t, df))


# Up to this count the distribution of rank sums is computed; beyond it, it is normal.
EXACT = 50

WARNING = (
    "the signed-rank test asks whether differences are symmetric around 0, not whether the mean "
    "differs: many small gains and few large losses that cancel out are called significant"
)


class Wilcoxon(NamedTuple):
    """Rank sums of the positive and the negative differences, the p value and its method."""

    positive: float
    negative: float
    n: int
    p: float
    method: str
    warning: str


def wilcoxon(differences: ArrayLike) -> Wilcoxon:
    """Return the two-sided test; differences of 0 are dropped, equal ones share their mean rank.

    Exact up to fifty differences, ties or not; beyond that normal, with the variance corrected for
    ties and without a continuity correction.

    >>> test = wilcoxon([0.2, 0.1, 0.4, -0.3])
    >>> test.positive, test.negative, test.p
    (7.0, 3.0, 0.625)
    """
    kept = drop_missing(differences)
    kept = kept[kept != 0.0]
    n = len(kept)
    if n == 0:
        return Wilcoxon(0.0, 0.0, 0, 1.0, "exact", WARNING)
    ranks, ties = mean_ranks(np.abs(kept))
    positive = float(ranks[kept > 0].sum())
    negative = float(ranks[kept < 0].sum())
    if n <= EXACT:
        # Mean ranks are integers or halves: doubled, they are the steps of a grid.
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


def residual_variance(values: ArrayLike) -> float | None:
    """Return the residual variance of a two-way ANOVA of ``values[query, system]``.

    Queries that any system lacks are dropped; None for fewer than two queries.

    >>> residual_variance([[1, 2], [2, 4], [3, 3]])
    0.5
    """
    table = as_columns(values)
    if table.shape[1] < 2:
        raise InputError(f"got {table.shape[1]} system; expected two or more to compare")
    table = table[~np.isnan(table).any(axis=1)]
    queries, systems = table.shape
    if queries < 2:
        return None
    centred = table - table.mean()
    residuals = centred - centred.mean(axis=0) - centred.mean(axis=1)[:, None]
    variance = float((residuals**2).sum()) / ((queries - 1) * (systems - 1))
    # Residuals that are only rounding errors count as none.
    return 0.0 if math.sqrt(variance) <= 1e-12 * float(np.abs(table).max()) else variance


def randomised_tukey(
    values: ArrayLike, *, draws: int = 9_999, seed: int = 0, clusters: ArrayLike | None = None
) -> FloatArray:
    """Return corrected p values ``[system, system]`` for ``values[query, system]``.

    Under the null hypothesis all systems are interchangeable, so the scores of each query are
    shuffled among them. The p value of a pair is the share of shuffles in which the best and the
    worst mean differ at least as much as the pair. Equal gaps count, also if rounding separates
    them. Queries that any system lacks are dropped; the diagonal is 1. With *clusters*, one label
    per query, the scores of a whole cluster are shuffled alike.

    >>> randomised_tukey([[0.9, 0.1], [0.8, 0.3], [0.7, 0.2], [0.9, 0.4]], draws=999).shape
    (2, 2)
    """
    check_draws(draws)
    table = as_columns(values)
    if table.shape[1] < 2:
        raise InputError(f"got {table.shape[1]} system; expected two or more to compare")
    complete = ~np.isnan(table).any(axis=1)
    if clusters is None:
        table = table[complete]
    else:
        # A joint shuffle of all queries of a cluster is a shuffle of their totals.
        codes = cluster_codes(clusters, len(table))
        table = cluster_sums(table[complete], codes[complete])
    units, systems = table.shape
    if not units:
        return np.ones((systems, systems))
    numbers, slack = whole_scores(table)
    sums = numbers.sum(axis=0)
    gaps = np.abs(sums[:, None] - sums[None, :])
    reached = np.zeros((systems, systems), dtype=np.int64)
    rng = generator(seed)
    rows = block_rows(units * systems)
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        shuffled = rng.permuted(np.broadcast_to(numbers, (count, units, systems)), axis=2)
        totals = shuffled.sum(axis=1)
        ranges = totals.max(axis=1) - totals.min(axis=1)
        reached += np.count_nonzero(ranges[:, None, None] >= gaps - slack, axis=0)
    p = (reached + 1) / (draws + 1)
    np.fill_diagonal(p, 1.0)
    return p


def whole_scores(table: FloatArray) -> tuple[FloatArray, float]:
    """Return the scores as integers whose sums are exact, and the slack of a gap."""
    largest = float(np.abs(table).max())
    numbers = np.rint(table / (largest or 1.0) * whole_unit(len(table)))
    return numbers, 2.0 * len(table)
