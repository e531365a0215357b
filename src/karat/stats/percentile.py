"""Percentiles by linear interpolation between the two nearest values."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.stats.arrays import scored

__all__ = ["percentiles"]


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


def interpolated(ordered: Sequence[float], point: float) -> float:
    """Return the percentile *point* of sorted values."""
    place = (len(ordered) - 1) * point / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
