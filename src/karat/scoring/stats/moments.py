"""Means, standard errors and percentiles of columns; queries may form dependent clusters."""

import math
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.scoring.stats.arrays import as_columns, cluster_codes, cluster_sums, drop_missing
from karat.scoring.stats.distributions import t_quantile

__all__ = [
    "Moments",
    "column_moments",
    "known_percentiles",
    "least_values",
    "percentiles",
    "relative_improvement",
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


def interpolate(ordered: Sequence[float], point: float) -> float:
    """Return the percentile *point* of sorted values."""
    place = (len(ordered) - 1) * point / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def reach(df: int, *, level: float, power: float) -> float:
    """Return how many standard errors a difference must be from 0 to be detected."""
    return t_quantile((1 + level) / 2, df) + t_quantile(power, df)


def check_power(power: float) -> None:
    """Raise InputError unless *power* lies between one half and 1."""
    if not 0.5 < power < 1.0:
        raise InputError(f"power {power} is not between 0.5 and 1; expected a value such as 0.8")
