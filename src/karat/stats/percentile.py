"""Percentiles by linear interpolation between the two nearest values."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.stats.arrays import scored

__all__ = ["known_percentiles", "least_values", "percentiles"]

# 100 / (100 - 99.9) is a little more than 1,000.
ROUNDING = 1e-6


def percentiles(values: ArrayLike, at: Sequence[float]) -> tuple[float | None, ...]:
    """Return the percentiles *at* (0 to 100) of one column; None for each without a value.

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
    """Return how many values the percentile *point* needs: at least one of them must be above it.

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
