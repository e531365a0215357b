"""Corrections for multiple comparisons: step-down maxT, Holm, and Benjamini-Hochberg."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from karat.scoring.stats.arrays import FloatArray
from karat.scoring.stats.bootstrap import FEW, deviating_units, exact_integers
from karat.scoring.stats.chance import generator, resample_counts
from karat.scoring.stats.signflip import Flips

__all__ = ["benjamini_hochberg", "holm", "resample_halves", "step_down"]

Float32Array = NDArray[np.float32]


def resample_halves(flips: Flips, centred: FloatArray, *, seed: int) -> dict[int, Float32Array]:
    """Return the resamples that replace the later half of the flips of each column.

    ``centred[unit, column]`` are the differences minus their mean, 0 for missing ones; clusters are
    given by their totals. Empty if *flips* are all patterns, which is exact. Columns with too few
    deviating differences for a resampled variance are skipped.
    """
    units = len(centred)
    usable = np.flatnonzero(deviating_units(centred, None) >= min(FEW, units / 2))
    if flips.complete or not len(usable):
        return {}
    found = resample_sums(centred[:, usable], draws=flips.sums.shape[1] // 2, seed=seed)
    found *= np.float32(flips.unit)
    return dict(zip(usable.tolist(), found, strict=True))


def resample_sums(centred: FloatArray, *, draws: int, seed: int) -> Float32Array:
    """Return ``[column, draw]``: the absolute sum of each resample over its own length.

    It orders resamples as their t does, and has the scale of the flipped sums, whose unit is 1.
    """
    width = centred.shape[1]
    rows = (centred / np.sqrt((centred * centred).sum(axis=0))).T
    first, first_unit = exact_integers(rows)
    second, second_unit = exact_integers(rows * rows)
    table = np.concatenate([first, second])
    found = np.empty((width, draws), dtype=np.float32)
    start = 0
    for counts in resample_counts(generator(seed), draws=draws, width=rows.shape[1]):
        sums = table @ counts.T
        total = np.abs(sums[:width]).astype(np.float32)
        total *= first_unit
        length = sums[width:].astype(np.float32)
        length *= second_unit
        # All differences of a resample may equal the mean: no length to divide by.
        np.maximum(length, np.finfo(np.float32).tiny, out=length)
        np.sqrt(length, out=length)
        np.divide(total, length, out=found[:, start : start + len(counts)])
        start += len(counts)
    return found


def step_down(
    flips: Flips, family: Sequence[int], resampled: Mapping[int, Float32Array] | None = None
) -> list[float]:
    """Return p values corrected for all columns of *family*, by Westfall and Young's maxT.

    The draws are *flips*; for columns in *resampled* the later ones are replaced. Step-down: the
    largest statistic is compared with the maximum over the family in each draw, the next one with
    the maximum over the rest, and so on; p values never decrease.
    """
    order = sorted(family, key=lambda column: flips.observed[column])
    running = np.zeros(flips.sums.shape[1])
    corrected: dict[int, float] = {}
    for column in order:
        later = resampled.get(column) if resampled else None
        flipped = len(running) - (0 if later is None else len(later))
        np.maximum(running[:flipped], flips.sums[column, :flipped], out=running[:flipped])
        if later is not None:
            np.maximum(running[flipped:], later, out=running[flipped:])
        reached = int(np.count_nonzero(running >= flips.observed[column] - flips.slack))
        corrected[column] = flips.p(reached)
    floor = 0.0
    for column in reversed(order):
        floor = corrected[column] = max(floor, corrected[column])
    return [corrected[column] for column in family]


def holm(ps: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm, which controls the probability of any false positive.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(ps)), key=lambda place: ps[place])
    corrected = [0.0] * len(ps)
    floor = 0.0
    for done, place in enumerate(order):
        floor = max(floor, min(1.0, (len(ps) - done) * ps[place]))
        corrected[place] = floor
    return corrected


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Return p values corrected by Benjamini and Hochberg, which control the false discovery rate.

    Weaker than Holm's: of twenty significant differences, one may be a false positive.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    order = sorted(range(len(ps)), key=lambda place: ps[place], reverse=True)
    corrected = [0.0] * len(ps)
    ceiling = 1.0
    for done, place in enumerate(order):
        ceiling = min(ceiling, len(ps) * ps[place] / (len(ps) - done))
        corrected[place] = ceiling
    return corrected
