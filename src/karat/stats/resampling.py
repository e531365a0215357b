"""The resampled t of many columns at once, for queries or for clusters of them.

Sums are taken over integers held in doubles: exact, so that neither the number of threads nor the
order of summation changes a digit of the result.
"""

import math

import numpy as np
from numpy.typing import NDArray

from karat.stats.arrays import FloatArray, IntArray, cluster_sums
from karat.stats.chance import generator, resample_counts

__all__ = ["exact_integers", "studentised"]

Float32Array = NDArray[np.float32]

# A resample's variance is at least this share of the sample's: no division by 0.
LEAST_VARIANCE = 1e-12


def studentised(
    centred: FloatArray, *, codes: IntArray | None, level: float, draws: int, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the low and high quantile of the resampled t, and the standard error, per column.

    A cluster enters by its total and its size; without clusters each query is one of size 1.
    A resample without variance has a huge t; what that means for a quantile, the caller decides.
    """
    n = len(centred)
    if codes is None:
        totals, sizes = centred, np.ones(n)
    else:
        sizes = np.bincount(codes).astype(np.float64)
        totals = cluster_sums(centred, codes)
    units = len(sizes)
    scale = np.sqrt((totals * totals).mean(axis=0))
    scaled = (totals / np.where(scale > 0, scale, 1.0)).T
    if (sizes == sizes[0]).all():
        t = even_sizes(scaled, draws=draws, seed=seed)
    else:
        t = uneven_sizes(scaled, sizes, draws=draws, seed=seed)
    t.sort(axis=1)
    # The k-th smallest and largest of B draws, k = (B + 1) alpha / 2: no interpolation for 9,999.
    k = max(1, int((draws + 1) * (1 - level) / 2 + 1e-9))
    root = math.sqrt(units - 1)
    low, high = (t[:, place].astype(np.float64) * root for place in (k - 1, draws - k))
    return low, high, scale * units / (n * root)


def even_sizes(scaled: FloatArray, *, draws: int, seed: int) -> Float32Array:
    """Return t / sqrt(units - 1) of each column and draw, for clusters of one size.

    With sum A and sum of squares S over the drawn totals, this is A / sqrt(units S - A**2).
    """
    width, units = scaled.shape
    first, first_unit = exact_integers(scaled)
    second, second_unit = exact_integers(scaled * scaled)
    table = np.concatenate([first, second])
    t = np.empty((width, draws), dtype=np.float32)
    start = 0
    for counts in resample_counts(generator(seed), draws=draws, width=units):
        sums = table @ counts.T
        # Single precision from here on: element by element, hence the same on every machine.
        total = sums[:width].astype(np.float32)
        total *= first_unit
        spread = sums[width:].astype(np.float32)
        spread *= second_unit * np.float32(units)
        spread -= total * total
        np.maximum(spread, np.float32(LEAST_VARIANCE * units * units), out=spread)
        np.sqrt(spread, out=spread)
        np.divide(total, spread, out=t[:, start : start + len(counts)])
        start += len(counts)
    return t


def uneven_sizes(scaled: FloatArray, sizes: FloatArray, *, draws: int, seed: int) -> Float32Array:
    """Return t / sqrt(units - 1) of each column and draw, for clusters of different sizes.

    The mean is a ratio of totals to sizes; its residuals are total - ratio * size.
    """
    width, units = scaled.shape
    first, first_unit = exact_integers(scaled)
    second, second_unit = exact_integers(scaled * scaled)
    cross, cross_unit = exact_integers(scaled * sizes)
    table = np.concatenate([first, second, cross, sizes[None], (sizes * sizes)[None]])
    t = np.empty((width, draws), dtype=np.float32)
    start = 0
    for counts in resample_counts(generator(seed), draws=draws, width=units):
        sums = table @ counts.T
        total = sums[:width] * first_unit
        ratio = total / sums[-2]
        spread = sums[width : 2 * width] * second_unit + ratio * ratio * sums[-1]
        spread -= 2 * ratio * (sums[2 * width : -2] * cross_unit)
        np.maximum(spread, LEAST_VARIANCE * units, out=spread)
        t[:, start : start + len(counts)] = total / np.sqrt(units * spread)
        start += len(counts)
    return t


def exact_integers(rows: FloatArray) -> tuple[FloatArray, Float32Array]:
    """Return *rows* as whole numbers and the unit of each row; any resample's sum stays exact.

    Units are powers of two, small enough that the number of terms times the largest of them
    is below 2**53, where doubles stop holding every integer.
    """
    largest = np.abs(rows).max(axis=1, keepdims=True)
    room = 2.0**52 / (rows.shape[1] * np.where(largest > 0, largest, 1.0))
    unit = np.exp2(-np.floor(np.log2(room)))
    return np.rint(rows / unit), unit.astype(np.float32)
