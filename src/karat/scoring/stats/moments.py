"""Means, standard errors and percentiles of columns; queries may form dependent clusters."""

import math
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.scoring.stats.arrays import as_columns, cluster_codes, cluster_sums, scored
from karat.scoring.stats.bootstrap import check_level
from karat.scoring.stats.distributions import t_quantile

__all__ = [
    "Moments",
    "WinTieLoss",
    "column_moments",
    "detectable_difference",
    "known_percentiles",
    "least_values",
    "paired_effect",
    "percentiles",
    "queries_needed",
    "relative_improvement",
    "win_tie_loss",
]


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


class WinTieLoss(NamedTuple):
    """On how many queries the system is better, equal or worse."""

    wins: int
    ties: int
    losses: int


def paired_effect(differences: ArrayLike) -> float | None:
    """Return mean / standard deviation of *differences* (n - 1); None without a variance.

    >>> round(paired_effect([0.2, 0.1, 0.4, 0.3]), 3)
    1.936
    """
    (found,) = column_moments(differences)
    return found.mean / found.sd if found.varies else None


def win_tie_loss(differences: ArrayLike) -> WinTieLoss:
    """Return how many *differences* are above, at and below 0; NaN is skipped.

    >>> win_tie_loss([0.5, 0.0, -0.1, float("nan")])
    WinTieLoss(wins=1, ties=1, losses=1)
    """
    kept = scored(differences)
    wins, losses = int(np.count_nonzero(kept > 0)), int(np.count_nonzero(kept < 0))
    return WinTieLoss(wins, len(kept) - wins - losses, losses)


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
    ordered = np.sort(scored(values))
    if not len(ordered):
        return (None,) * len(at)
    return tuple(interpolated(ordered.tolist(), point) for point in at)


def known_percentiles(values: ArrayLike, at: Sequence[float]) -> tuple[float | None, ...]:
    """Return the percentiles *at*; None for each that needs more values than there are.

    >>> known_percentiles(range(1, 21), [50, 90, 99])
    (10.5, 18.1, None)
    """
    count = len(scored(values))
    found = percentiles(values, at)
    pairs = zip(at, found, strict=True)
    return tuple(value if count >= least_values(point) else None for point, value in pairs)


def least_values(point: float) -> int:
    """Return how many values the percentile *point* needs: at least one must be above it.

    The median needs one value, and so does the maximum, which is itself a value.

    >>> least_values(50), least_values(90), least_values(99), least_values(100)
    (1, 10, 100, 1)
    """
    return ceil(100 / (100 - point) - ROUNDING) if 50 < point < 100 else 1


def interpolated(ordered: Sequence[float], point: float) -> float:
    """Return the percentile *point* of sorted values."""
    place = (len(ordered) - 1) * point / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


# More queries than anyone will judge; a difference that needs more is out of reach.
MOST_QUERIES = 2**40


def detectable_difference(
    sd: float, n: int, *, level: float = 0.95, power: float = 0.8
) -> float | None:
    """Return the true difference that a paired test on *n* queries finds with probability *power*.

    *sd* is the standard deviation of the differences; the test is two-sided at 1 - *level*, and
    both quantiles are Student's. None for fewer than two queries or without a standard deviation.

    >>> round(detectable_difference(0.3, 127), 3), round(detectable_difference(0.3, 30), 3)
    (0.075, 0.159)
    """
    check_level(level)
    check_power(power)
    if n < 2 or math.isnan(sd):
        return None
    return reach(n - 1, level=level, power=power) * sd / math.sqrt(n)


def queries_needed(sd: float, difference: float, *, level: float = 0.95, power: float = 0.8) -> int:
    """Return the smallest number of queries that makes *difference* detectable.

    >>> queries_needed(0.3, 0.05), queries_needed(0.3, 0.02)
    (285, 1768)
    """
    check_level(level)
    check_power(power)
    if not sd >= 0.0:
        raise InputError(f"standard deviation {sd} is not a number of 0 or more")
    if not difference > 0.0:
        raise InputError(f"difference {difference} is not a positive number; nothing to detect")
    low, high = 1, 2
    while reach(high - 1, level=level, power=power) * sd / math.sqrt(high) > difference:
        low, high = high, high * 2
        if high > MOST_QUERIES:
            raise InputError(f"difference {difference} is too small to detect at all")
    while high - low > 1:
        middle = (low + high) // 2
        found = reach(middle - 1, level=level, power=power) * sd / math.sqrt(middle)
        low, high = (low, middle) if found <= difference else (middle, high)
    return high


def reach(df: int, *, level: float, power: float) -> float:
    """Return how many standard errors a difference must be from 0 to be detected."""
    return t_quantile((1 + level) / 2, df) + t_quantile(power, df)


def check_power(power: float) -> None:
    """Raise InputError unless *power* lies between one half and 1."""
    if not 0.5 < power < 1.0:
        raise InputError(f"power {power} is not between 0.5 and 1; expected such as 0.8")
