"""Corrections for many comparisons: step-down maxT, and those that need only the p values."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from karat.scoring.stats.arrays import FloatArray
from karat.scoring.stats.bootstrap import FEW, deviating_units, exact_integers
from karat.scoring.stats.chance import generator, resample_counts
from karat.scoring.stats.signflip import Flips

__all__ = ["benjamini_hochberg", "holm", "resampled_halves", "step_down"]

Float32Array = NDArray[np.float32]


def resampled_halves(flips: Flips, centred: FloatArray, *, seed: int) -> dict[int, Float32Array]:
    """Return for each column what takes the place of the later half of its flips: resamples.

    ``centred[unit, column]`` are the differences less their mean, 0 where missing; clusters enter
    by their totals. No column where *flips* are all patterns, which is exact, and none of which too
    few differences differ from the rest for its resamples to have a variance.
    """
    units = len(centred)
    usable = np.flatnonzero(deviating_units(centred, None) >= min(FEW, units / 2))
    if flips.complete or not len(usable):
        return {}
    found = resampled(centred[:, usable], draws=flips.sums.shape[1] // 2, seed=seed)
    found *= np.float32(flips.unit)
    return dict(zip(usable.tolist(), found, strict=True))


def resampled(centred: FloatArray, *, draws: int, seed: int) -> Float32Array:
    """Return ``[column, draw]``: the absolute sum of each resample over its own length.

    It orders resamples as their t does, and is on the scale of the flipped sums, whose unit is 1.
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
        # All differences of a resample may be the mean itself, with nothing to divide by.
        np.maximum(length, np.finfo(np.float32).tiny, out=length)
        np.sqrt(length, out=length)
        np.divide(total, length, out=found[:, start : start + len(counts)])
        start += len(counts)
    return found


def step_down(
    flips: Flips, family: Sequence[int], resampled: Mapping[int, Float32Array] | None = None
) -> list[float]:
    """Return p values corrected for all columns of *family*, by Westfall and Young's maxT.

    Draws are *flips*, the later ones replaced for each column that *resampled* has. Step-down: the
    largest statistic is held against the maximum over the family under each draw, the next against
    the maximum over the rest, and so on; no p value is below an earlier one.
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
    """Return p values corrected by Holm: the chance of any false alarm stays below the level.

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
    """Return p values corrected by Benjamini and Hochberg: the expected share of false alarms.

    Weaker than Holm's: among twenty differences called real, one may well not be.

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
