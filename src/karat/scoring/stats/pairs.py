"""Sums of the differences of many pairs from sums of scores: fifty systems have 1,225 pairs.

A signed or resampled sum of differences is the difference of two sums of scores. Scores are
integers here, so that both ways give the same sum.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.scoring.stats.arrays import FloatArray, IntArray

__all__ = ["PairRows", "PairedScores", "pair_rows"]

# Fewer pairs than this per column of scores do not pay for the subtraction.
PAIRS_PER_SCORE = 4
# A column must differ by this share of the scores at least, in the sum of squares.
LEAST_LENGTH = 2.0**-10
# Differences below this share of the scores count as ties, and are 0.
TIE = 1e-11


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
