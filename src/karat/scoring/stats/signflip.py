"""Sign-flip randomisation test of paired differences, many columns over the same flips.

Under the null hypothesis, system and baseline are interchangeable on each query, so each difference
is equally likely with the other sign. Sums are exact integers and ties count as reached: p values
do not depend on threads or the order of summation, and are never 0.

A signed or resampled sum of differences is the difference of two sums of scores. Fifty systems have
1,225 pairs, and so the sums of pairs are made from those of scores.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.model.comparison import ONE_SIZE
from karat.scoring.stats.arrays import (
    FloatArray,
    IntArray,
    as_columns,
    check_draws,
    cluster_codes,
    cluster_sums,
    every_flip,
    generator,
    one_blas_thread,
    random_flips,
    resample_counts,
)
from karat.scoring.stats.bootstrap import deviating_units, exact_integers
from karat.scoring.stats.moments import sign_test

# Fewer pairs than this per column of scores do not pay for the subtraction.
PAIRS_PER_SCORE = 4
# A column must differ by this share of the scores at least, in the sum of squares.
LEAST_LENGTH = 2.0**-10
# Differences below this share of the scores count as ties, and are 0.
TIE = 1e-11
# The longest total, in grid steps, for which the distribution of sums is computed: takes well below
# a millisecond. Scores such as precision@5 or recall of few targets are below, nDCG is not.
GRID_STEPS = 1_000
GRID_ERROR = 1e-9
# Decimals of a sum over its length that are the same by every way to it.
SUM_DIGITS = 5
# Fewer deviating differences have too many resamples without a variance.
LEAST_DEVIATING = 20


class PairedScores(NamedTuple):
    """Scores ``[unit, score]``, and the two scores of each column of differences.

    Column = first - second. *largest* is a bound for each score, the same for both of a pair.
    """

    scores: FloatArray
    first: IntArray
    second: IntArray
    largest: FloatArray

    def subset(self, columns: NDArray[np.intp]) -> "PairedScores":
        """Return the pairs of some *columns*."""
        return self._replace(first=self.first[columns], second=self.second[columns])


class PairRows(NamedTuple):
    """Integers ``[row, unit]``; a column is (first row - second row) * *unit*."""

    numbers: FloatArray
    first: IntArray
    second: IntArray
    unit: FloatArray

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return ``[column, draw]``: sums of each column over ``weights[draw, unit]``.

        In integers, exact for weights whose absolute values sum to the number of units.
        """
        part = self.numbers @ weights.T
        return part[self.first] - part[self.second]


def pair_rows(columns: FloatArray, paired: PairedScores | None) -> PairRows | None:
    """Return the rows of *columns*, or None if there are too few pairs for a gain.

    A column that is not the difference of its two scores, because queries are missing, has a row
    of its own.
    """
    units, width = columns.shape
    if paired is None or width < PAIRS_PER_SCORE * paired.scores.shape[1]:
        return None
    scores, first, second, largest = paired
    bound = largest[first]
    gaps = np.abs(columns - (scores[:, first] - scores[:, second]))
    off = gaps.max(axis=0, initial=0.0) > TIE * bound
    own = np.flatnonzero(off | (np.sqrt((columns * columns).sum(axis=0)) < LEAST_LENGTH * bound))
    alone = columns[:, own]
    size = np.abs(alone).max(axis=0, initial=0.0)
    bound[own] = np.where(size > 0, size, 1.0)
    # The difference of two sums of integers up to 2**51 is exact in doubles.
    whole = 2.0 ** (51 - math.ceil(math.log2(max(units, 2))))
    rows = np.concatenate([scores / largest, alone / bound[own], np.zeros((units, 1))], axis=1)
    start = scores.shape[1]
    first, second = first.copy(), second.copy()
    first[own], second[own] = np.arange(start, start + len(own)), start + len(own)
    return PairRows(np.ascontiguousarray(np.rint(rows * whole).T), first, second, bound / whole)


class FlipTest(NamedTuple):
    """A two-sided p value, its method, and the number of non-zero differences."""

    p: float
    method: str
    nonzero: int


def exact_flip_test(differences: FloatArray, *, draws: int) -> FlipTest | None:
    """Return the exact test of the non-zero *differences*, or None if it would cost too much.

    Enumeration is used if it needs at most *draws* patterns.

    >>> exact_flip_test(np.array([0.5, 0.5, 0.5, 0.0]), draws=99)
    FlipTest(p=0.25, method='exact binomial', nonzero=3)
    """
    nonzero = differences[differences != 0.0]
    count = len(nonzero)
    if count == 0:
        return FlipTest(1.0, "exact, no difference", 0)
    steps = on_grid(np.abs(nonzero))
    if steps is not None and steps.max() == 1:
        wins = int(np.count_nonzero(nonzero > 0))
        return FlipTest(sign_test(wins, count - wins), ONE_SIZE, count)
    if steps is not None:
        return FlipTest(grid_p(steps, nonzero > 0), "exact grid", count)
    if count <= 60 and 2 ** (count - 1) <= draws:
        return FlipTest(enumerated_p(nonzero), "exact enumeration", count)
    return None


def on_grid(magnitudes: FloatArray) -> IntArray | None:
    """Return positive *magnitudes* as multiples of their common step; None if it is too fine.

    >>> on_grid(np.array([0.3, 0.1, 0.2])).tolist()
    [3, 1, 2]
    """
    shares = magnitudes / magnitudes.max()
    rounded = np.round(shares, 12)
    # 1 + 2 + ... + 45 steps already exceed the longest total.
    if len(np.unique(rounded)) > 44:
        return None
    # Values equal up to rounding count once, but unrounded: the divisor below multiplies any error.
    distinct = dict(zip(rounded.tolist(), shares.tolist(), strict=True))
    if len(distinct) == 1:
        return np.ones(len(magnitudes), dtype=np.int64)
    total, step = float(shares.sum()), 1.0
    for share in distinct.values():
        step = common_step(step, share, GRID_ERROR)
        if total > GRID_STEPS * step:
            return None
    steps = np.rint(shares / step)
    if np.abs(shares - steps * step).max() > 10 * GRID_ERROR:
        return None
    whole: IntArray = steps.astype(np.int64)
    return whole


def common_step(a: float, b: float, error: float) -> float:
    """Return the greatest common divisor of two positive numbers, up to *error*."""
    while b > error:
        # The nearest multiple, not the one below: 0.3 is three times 0.1 without a rest.
        a, b = b, abs(a - round(a / b) * b)
    return a


@lru_cache(maxsize=256)
def fair_coins(count: int) -> tuple[float, ...]:
    """Return the probability of each number of heads among *count* fair coins."""
    return tuple(math.comb(count, heads) / 2**count for heads in range(count + 1))


def grid_p(steps: IntArray, positive: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    """Return P(|flipped sum| >= |observed sum|) for integer *steps*, of which some are positive.

    The sum of the steps flipped to plus is distributed as a sum of scaled binomials, one for each
    distinct size.
    """
    sizes, counts = np.unique(steps, return_counts=True)
    chances = np.ones(1)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        spread = np.zeros(size * count + 1)
        spread[::size] = fair_coins(count)
        chances = np.convolve(chances, spread)
    total = int(steps.sum())
    observed = abs(2 * int(steps[positive].sum()) - total)
    reached = np.abs(2 * np.arange(total + 1) - total) >= observed
    return float(min(max(chances[reached].sum(), sys.float_info.min), 1.0))


def enumerated_p(differences: FloatArray) -> float:
    """Return P(|flipped sum| >= |observed sum|) over all sign patterns."""
    numbers, slack = whole_numbers(differences[:, None])
    sums = np.abs(2 * (every_flip(len(differences)) @ numbers[:, 0]) - numbers.sum())
    return float(np.mean(sums >= abs(numbers.sum()) - slack))


def whole_numbers(columns: FloatArray) -> tuple[FloatArray, float]:
    """Return *columns* scaled to length 1 and rounded to integers, and the slack of a sum.

    Their sums are exact in doubles in any order. Scaling by the length makes columns comparable: it
    orders flips as Student's t does. Two sums that were equal before rounding differ by at most
    the slack after it.
    """
    numbers = np.rint(columns / column_lengths(columns) * whole_unit(len(columns)))
    return numbers, float(len(columns))


def column_lengths(columns: FloatArray) -> FloatArray:
    """Return the root of the sum of squares of each column; 1 for a column of zeros."""
    length = np.sqrt((columns * columns).sum(axis=0))
    return np.where(length > 0, length, 1.0)


def whole_unit(rows: int) -> float:
    """Return the integer that represents 1, small enough that sums of *rows* are exact."""
    return 2.0 ** min(30, 51 - math.ceil(math.log2(max(rows, 2))))


class Flips(NamedTuple):
    """Absolute flipped sums ``[column, draw]`` and the observed sums; *complete*: all patterns.

    Sums of different columns are comparable: each is relative to the length of its differences, in
    integers of which *unit* make 1.
    """

    observed: FloatArray
    sums: FloatArray
    slack: float
    complete: bool
    unit: float

    def p(self, reached: int) -> float:
        """Return the p value if *reached* draws are at or above the observed sum."""
        draws = int(self.sums.shape[1])
        return reached / draws if self.complete else (reached + 1) / (draws + 1)


@one_blas_thread()
def sign_flip(
    differences: ArrayLike,
    *,
    draws: int = 9_999,
    seed: int = 0,
    clusters: ArrayLike | None = None,
) -> tuple[FlipTest, ...]:
    """Return one test for each column of ``differences[query, column]``; NaN is skipped.

    The test is exact if that is cheap: all differences of one size (``exact binomial``, McNemar's
    test for binary metrics), on a coarse grid (``exact grid``), few not 0 (``exact enumeration``);
    otherwise ``monte carlo`` with the observed pattern counted among the draws. With *clusters* the
    signs of a whole cluster flip together.

    >>> sign_flip([0.2, 0.1, 0.4, 0.3])
    (FlipTest(p=0.125, method='exact grid', nonzero=4),)
    """
    check_draws(draws)
    columns = flip_units(as_columns(differences), clusters)
    return flip_tests(columns, flip_sums(columns, draws=draws, seed=seed), draws=draws)


def flip_units(differences: FloatArray, clusters: ArrayLike | None) -> FloatArray:
    """Return the units that flip together, one row each: queries, or cluster totals; NaN is 0."""
    columns = np.where(np.isnan(differences), 0.0, differences)
    if clusters is None:
        return columns
    codes = cluster_codes(clusters, len(columns))
    totals, sizes = cluster_sums(columns, codes), cluster_sums(np.abs(columns), codes)
    # A total that cancels out is a tie, although floating point may leave a rounding error.
    return np.where(np.abs(totals) <= 1e-12 * sizes, 0.0, totals)


def flip_sums(
    columns: FloatArray, *, draws: int, seed: int, paired: PairedScores | None = None
) -> Flips:
    """Return the flipped sums of all *columns*: every pattern if there are at most *draws*.

    With the *paired* scores behind them, the columns of many systems cost less.
    """
    nonzero = (columns != 0.0).any(axis=1)
    moved = columns[nonzero]
    rows = len(moved)
    shared = pair_rows(moved, paired and paired._replace(scores=paired.scores[nonzero]))
    numbers, slack = whole_numbers(moved)
    observed = numbers.sum(axis=0)
    if shared:
        scale = (shared.unit / column_lengths(moved) * whole_unit(rows))[:, None]
        observed = (shared.sums(np.ones((1, rows))) * scale)[:, 0]
    complete = rows <= 60 and 2 ** max(rows - 1, 0) <= draws
    if complete:
        patterns = [every_flip(rows)] if rows else [np.zeros((1, 0))]
        total = len(patterns[0])
        blocks = iter(patterns)
    else:
        total = draws
        blocks = random_flips(generator(seed), draws=draws, width=rows)
    sums = np.empty((columns.shape[1], total))
    doubled = np.ascontiguousarray(2 * numbers.T)
    start = 0
    for block in blocks:
        if shared:
            part = shared.sums(2 * block - 1)
            part *= scale
        else:
            part = doubled @ block.T
            part -= observed[:, None]
        np.abs(part, out=sums[:, start : start + len(block)])
        start += len(block)
    return Flips(np.abs(observed), sums, slack, complete, whole_unit(rows))


def flip_tests(columns: FloatArray, flips: Flips, *, draws: int) -> tuple[FlipTest, ...]:
    """Return the test of each column, exact if possible, otherwise from *flips*."""
    tests = []
    for column, observed, sums in zip(columns.T, flips.observed, flips.sums, strict=True):
        test = exact_flip_test(column, draws=draws)
        if test is None:
            reached = int(np.count_nonzero(sums >= observed - flips.slack))
            test = FlipTest(flips.p(reached), "monte carlo", int(np.count_nonzero(column)))
        tests.append(test)
    return tuple(tests)


Float32Array = NDArray[np.float32]


def resample_halves(
    flips: Flips, centred: FloatArray, *, seed: int, paired: PairedScores | None = None
) -> dict[int, Float32Array]:
    """Return the resamples that replace the later half of the flips of each column.

    ``centred[unit, column]`` are the differences minus their mean, 0 for missing ones; clusters are
    given by their totals. Empty if *flips* are all patterns, which is exact. Columns with too few
    deviating differences for a resampled variance are skipped. The *paired* scores behind the
    columns are minus their means, too.
    """
    if flips.complete:
        return {}
    usable = np.flatnonzero(
        deviating_units(centred, None) >= min(LEAST_DEVIATING, len(centred) / 2)
    )
    if not len(usable):
        return {}
    resampled = resample_sums(
        centred[:, usable],
        draws=flips.sums.shape[1] // 2,
        seed=seed,
        paired=paired and paired.subset(usable),
    )
    resampled *= np.float32(flips.unit)
    return dict(zip(usable.tolist(), resampled, strict=True))


def resample_sums(
    centred: FloatArray, *, draws: int, seed: int, paired: PairedScores | None = None
) -> Float32Array:
    """Return ``[column, draw]``: the absolute sum of each resample over its own length.

    It orders resamples as their t does, and has the scale of the flipped sums, whose unit is 1.
    """
    units, width = centred.shape
    lengths = column_lengths(centred)
    rows = (centred / lengths).T
    squares, square_unit = exact_integers(rows * rows)
    shared = pair_rows(centred, paired)
    if shared:
        unit = (shared.unit / lengths).astype(np.float32)[:, None]
    else:
        numbers, unit = exact_integers(rows)
    ratios = np.empty((width, draws), dtype=np.float32)
    start = 0
    for counts in resample_counts(generator(seed), draws=draws, width=units):
        sums = shared.sums(counts) if shared else numbers @ counts.T
        total = np.abs(sums).astype(np.float32)
        total *= unit
        length = (squares @ counts.T).astype(np.float32)
        length *= square_unit
        # All differences of a resample may equal the mean: no length to divide by.
        np.maximum(length, np.finfo(np.float32).tiny, out=length)
        np.sqrt(length, out=length)
        np.divide(total, length, out=ratios[:, start : start + len(counts)])
        start += len(counts)
    return ratios


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
        raise_maximum(running, flips, column, resampled)
        reached = int(np.count_nonzero(running >= flips.observed[column] - flips.slack))
        corrected[column] = flips.p(reached)
    floor = 0.0
    for column in reversed(order):
        floor = corrected[column] = max(floor, corrected[column])
    return [corrected[column] for column in family]


def raise_maximum(
    running: FloatArray, flips: Flips, column: int, resampled: Mapping[int, Float32Array] | None
) -> None:
    """Raise the maximum of each draw in *running* to the sum of *column*, in place."""
    later = resampled.get(column) if resampled else None
    flipped = len(running) - (0 if later is None else len(later))
    np.maximum(running[:flipped], flips.sums[column, :flipped], out=running[:flipped])
    if later is not None:
        np.maximum(running[flipped:], later, out=running[flipped:])


def least_sum(
    flips: Flips,
    family: Sequence[int],
    resampled: Mapping[int, Float32Array] | None,
    *,
    level: float,
) -> float:
    """Return the sum, over its length, that a column must exceed to be significant at *level*.

    It is the one of the first step of :func:`step_down`, whose maximum is over the whole *family*.
    """
    running = np.zeros(flips.sums.shape[1])
    for column in family:
        raise_maximum(running, flips, column, resampled)
    running.sort()
    # So many draws may reach the sum of a column that is significant.
    reached = (
        round(level * len(running)) if flips.complete else round(level * (len(running) + 1)) - 1
    )
    # Rounded, because sums by two ways differ in their last digits.
    return round(float(running[len(running) - 1 - reached]) / flips.unit, SUM_DIGITS)


def holm(ps: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm, which controls the probability of any false positive.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(ps)), key=lambda index: ps[index])
    corrected = [0.0] * len(ps)
    floor = 0.0
    for done, index in enumerate(order):
        floor = max(floor, min(1.0, (len(ps) - done) * ps[index]))
        corrected[index] = floor
    return corrected


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Return p values corrected by Benjamini and Hochberg, which control the false discovery rate.

    Weaker than Holm's: of twenty significant differences, one may be a false positive.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    order = sorted(range(len(ps)), key=lambda index: ps[index], reverse=True)
    corrected = [0.0] * len(ps)
    ceiling = 1.0
    for done, index in enumerate(order):
        ceiling = min(ceiling, len(ps) * ps[index] / (len(ps) - done))
        corrected[index] = ceiling
    return corrected
