"""Means, standard errors and percentiles of columns, and the distributions of their tests.

Queries may form dependent clusters. Probabilities of Student's t, beta and the binomial all come
from the incomplete beta function, with an absolute error below 1e-10 for up to a million degrees of
freedom.
"""

import math
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.scoring.stats.arrays import as_columns, cluster_codes, cluster_sums, drop_missing

TINY = 1e-300
CONVERGED = 1e-15


def stirling_rest(x: float) -> float:
    """Return log gamma(x) minus Stirling's approximation; for x of 10 and more, to 1e-14."""
    square = 1.0 / (x * x)
    series = 1 / 1680 - square / 1188
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * series))) / x


def log_beta(a: float, b: float) -> float:
    """Return log B(a, b) without subtracting large log gammas from each other.

    >>> round(log_beta(2, 3), 12) == round(math.log(1 / 12), 12)
    True
    """
    small, large = min(a, b), max(a, b)
    total = small + large
    if large < 10:
        return math.lgamma(small) + math.lgamma(large) - math.lgamma(total)
    rest = stirling_rest(large) - stirling_rest(total)
    tail = math.log1p(-small / total)
    if small < 10:
        power = small - small * math.log(total)
        return math.lgamma(small) + rest + power + (large - 0.5) * tail
    front = 0.5 * math.log(2 * math.pi / large) + stirling_rest(small) + rest
    return front + (small - 0.5) * math.log(small / total) + large * tail


def beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    c = 1.0
    d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    change = math.inf
    step = 0
    while abs(change) > CONVERGED:
        step += 1
        twice = 2 * step
        even = step * (b - step) * x / ((a + twice - 1) * (a + twice))
        odd = -(a + step) * (a + b + step) * x / ((a + twice) * (a + twice + 1))
        for term in (even, odd):
            d = 1.0 / nonzero(1.0 + term * d)
            c = nonzero(1.0 + term / c)
            value *= c * d
        change = c * d - 1.0
    return value


def nonzero(x: float) -> float:
    """Return *x*, or a tiny number in place of 0."""
    return x if abs(x) > TINY else TINY


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b): P(X <= x) for X ~ Beta(a, b).

    >>> round(incomplete_beta(2, 1, 0.5), 12)
    0.25
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta(a, b))
    # The fraction converges fast only below the mean; above it, use the mirrored one.
    if x < (a + 1.0) / (a + b + 2.0):
        return front * beta_fraction(a, b, x) / a
    return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b


def t_two_sided(t: float, df: float) -> float:
    """Return P(|T| >= |t|) for Student's t with *df* degrees of freedom; never 0.

    >>> round(t_two_sided(2.116, 19), 3)
    0.048
    """
    square = t * t
    if square == 0.0:
        return 1.0
    if square < df:
        p = 1.0 - incomplete_beta(0.5, df / 2, square / (df + square))
    else:
        p = incomplete_beta(df / 2, 0.5, df / (df + square))
    return max(p, sys.float_info.min)


def bisect(above: Callable[[float], bool], low: float, high: float) -> float:
    """Return the point of [low, high] at which *above* turns true, to the last bit."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if above(middle) else (middle, high)
    return high


@lru_cache(maxsize=1024)
def t_quantile(probability: float, df: float) -> float:
    """Return the *probability* quantile of Student's t, for a probability above one half.

    >>> round(t_quantile(0.975, 126), 3)
    1.979
    """
    tail = 2 * (1.0 - probability)
    peak = 2.0 * math.exp(-log_beta(df / 2, 0.5)) / math.sqrt(df)
    t, step = 0.0, math.inf
    # Newton steps from the left never overshoot, because the density falls from 0 on.
    while step > 1e-13 * t:
        density = peak * math.exp(-0.5 * (df + 1) * math.log1p(t * t / df))
        step = (t_two_sided(t, df) - tail) / density
        t += step
    return t


@lru_cache(maxsize=1024)
def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the point below which Beta(a, b) has *probability*.

    >>> round(beta_quantile(0.5, 3, 3), 12)
    0.5
    """
    return bisect(lambda x: incomplete_beta(a, b, x) >= probability, 0.0, 1.0)


def sign_test(wins: int, losses: int) -> float:
    """Return the exact two-sided p value of *wins* against *losses* under fair coins; never 0.

    >>> sign_test(5, 0)
    0.0625
    """
    trials, fewer = wins + losses, min(wins, losses)
    if 2 * fewer >= trials - 1:
        return 1.0
    # Integers give the exact fraction; for larger counts the sum would cost too much.
    if trials <= 500:
        patterns = 2 * sum(math.comb(trials, heads) for heads in range(fewer + 1))
        return patterns / (1 << trials)
    # At least the smallest float: with over a thousand coins the true value is below any float.
    return max(2.0 * incomplete_beta(trials - fewer, fewer + 1, 0.5), sys.float_info.min)


def normal_tail(z: float) -> float:
    """Return P(|Z| >= |z|) for a standard normal Z; never 0."""
    return max(math.erfc(abs(z) / math.sqrt(2)), sys.float_info.min)


@lru_cache(maxsize=1024)
def normal_quantile(probability: float) -> float:
    """Return the *probability* quantile of a standard normal, for a probability above one half.

    >>> round(normal_quantile(0.975), 9)
    1.959963985
    """
    tail = 2 * (1.0 - probability)
    return bisect(lambda z: normal_tail(z) <= tail, 0.0, 40.0)


class Moments(NamedTuple):
    """Mean, standard deviation (n - 1) and standard error of the mean; NaN where undefined.

    ``units`` is the number of independent units: queries, or clusters of queries.
    """

    n: int
    units: int
    mean: float
    sd: float
    se: float

    @property
    def varies(self) -> bool:
        """Whether the values differ by more than rounding."""
        return self.sd > 1e-12 * abs(self.mean)


def column_moments(values: ArrayLike, *, clusters: ArrayLike | None = None) -> tuple[Moments, ...]:
    """Return the moments of each column of ``values[query, column]``; NaN is skipped.

    With *clusters* the standard error is that of a ratio of cluster totals to cluster sizes, so
    queries of one cluster may depend on each other in any way.

    >>> column_moments([1, 0, 1, 0])[0].mean
    0.5
    """
    columns = as_columns(values)
    present = ~np.isnan(columns)
    n = present.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(present, columns, 0.0).sum(axis=0) / n
        centred = np.where(present, columns - mean, 0.0)
        sd = np.sqrt((centred * centred).sum(axis=0) / np.where(n > 1, n - 1, math.nan))
        if clusters is None:
            units, se = n, sd / np.sqrt(n)
        else:
            codes = cluster_codes(clusters, len(columns))
            units = (cluster_sums(present.astype(np.float64), codes) > 0).sum(axis=0)
            totals = cluster_sums(centred, codes)
            inflation = units / np.where(units > 1, units - 1, math.nan)
            se = np.sqrt(inflation * (totals * totals).sum(axis=0)) / n
    rows = zip(n.tolist(), units.tolist(), mean.tolist(), sd.tolist(), se.tolist(), strict=True)
    return tuple(Moments(*row) for row in rows)


def relative_improvement(system: float | None, baseline: float | None) -> float | None:
    """Return (system - baseline) / baseline as a fraction; None if that is undefined.

    >>> relative_improvement(0.75, 0.5), relative_improvement(0.75, 0.0)
    (0.5, None)
    """
    if system is None or not baseline:
        return None
    return (system - baseline) / abs(baseline)


# 100 / (100 - 99.9) is a little more than 1,000.
ROUNDING = 1e-6


def percentiles(values: ArrayLike, at: Sequence[float]) -> tuple[float | None, ...]:
    """Return the percentiles *at* (0 to 100) of one column; None for each if there are no values.

    Position (n - 1) * at / 100 from 0, interpolated; one value is every percentile of itself.

    >>> percentiles(range(1, 11), [50, 90])
    (5.5, 9.1)
    """
    wrong = [point for point in at if not 0.0 <= point <= 100.0]
    if wrong:
        raise InputError(f"percentile {wrong[0]} is not between 0 and 100")
    ordered = np.sort(drop_missing(values))
    if not len(ordered):
        return (None,) * len(at)
    return tuple(interpolate(ordered.tolist(), point) for point in at)


def known_percentiles(values: ArrayLike, at: Sequence[float]) -> tuple[float | None, ...]:
    """Return the percentiles *at*; None for each that needs more values than there are.

    >>> known_percentiles(range(1, 21), [50, 90, 99])
    (10.5, 18.1, None)
    """
    count = len(drop_missing(values))
    pairs = zip(at, percentiles(values, at), strict=True)
    return tuple(value if count >= least_values(point) else None for point, value in pairs)


def least_values(point: float) -> int:
    """Return how many values the percentile *point* needs: at least one must be above it.

    The median needs one value, and so does the maximum, which is itself a value.

    >>> least_values(50), least_values(90), least_values(99), least_values(100)
    (1, 10, 100, 1)
    """
    return ceil(100 / (100 - point) - ROUNDING) if 50 < point < 100 else 1


def interpolate(ordered: Sequence[float], point: float) -> float:
    """Return the percentile *point* of sorted values."""
    position = (len(ordered) - 1) * point / 100
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
