"""Sign-flip randomisation test of paired differences, many columns over the same flips.

Under the null hypothesis system and baseline are interchangeable on each query, so each difference
is as likely with the other sign. Sums are exact integers and ties count as reached: p values do
not depend on threads or on the order of summation, and are never 0.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karat.stats.arrays import FloatArray, as_columns, cluster_codes, cluster_sums
from karat.stats.chance import check_draws, every_flip, generator, random_flips
from karat.stats.exact import FlipTest, exact_flip_test, whole_numbers, whole_unit
from karat.stats.threads import one_blas_thread

__all__ = ["FlipTest", "Flips", "flip_sums", "flip_tests", "flip_units", "sign_flip"]


class Flips(NamedTuple):
    """Absolute flipped sums ``[column, draw]`` beside the observed ones; *complete*: all patterns.

    Sums of different columns are comparable: each is over the length of its differences, in whole
    numbers of which *unit* make 1.
    """

    observed: FloatArray
    sums: FloatArray
    slack: float
    complete: bool
    unit: float

    def p(self, reached: int) -> float:
        """Return the p value when *reached* draws came up to the observed sum."""
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
    """Return one test for each column of ``differences[query, column]``; NaN is left out.

    Exact where that is cheap: all differences of one size (``exact binomial``, which for hits is
    McNemar's test), on a coarse grid (``exact grid``), few not 0 (``exact enumeration``); otherwise
    ``monte carlo`` with the observed pattern counted among the draws. With *clusters* the
    signs of a whole cluster flip together.

    >>> sign_flip([0.2, 0.1, 0.4, 0.3])
    (FlipTest(p=0.125, method='exact grid', nonzero=4),)
    """
    check_draws(draws)
    columns = flip_units(as_columns(differences), clusters)
    return flip_tests(columns, flip_sums(columns, draws=draws, seed=seed), draws=draws)


def flip_units(differences: FloatArray, clusters: ArrayLike | None) -> FloatArray:
    """Return what flips together, one row each: queries, or the totals of clusters; NaN is 0."""
    columns = np.where(np.isnan(differences), 0.0, differences)
    if clusters is None:
        return columns
    codes = cluster_codes(clusters, len(columns))
    totals, sizes = cluster_sums(columns, codes), cluster_sums(np.abs(columns), codes)
    # A total that cancels out is a tie, though floating point may leave a crumb.
    return np.where(np.abs(totals) <= 1e-12 * sizes, 0.0, totals)


def flip_sums(columns: FloatArray, *, draws: int, seed: int) -> Flips:
    """Return the flipped sums of all *columns*: every pattern if they are no more than *draws*."""
    moved = columns[(columns != 0.0).any(axis=1)]
    numbers, slack = whole_numbers(moved)
    observed = numbers.sum(axis=0)
    rows = len(moved)
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
        part = doubled @ block.T
        part -= observed[:, None]
        np.abs(part, out=sums[:, start : start + len(block)])
        start += len(block)
    return Flips(np.abs(observed), sums, slack, complete, whole_unit(rows))


def flip_tests(columns: FloatArray, flips: Flips, *, draws: int) -> tuple[FlipTest, ...]:
    """Return the test of each column, exact where possible, otherwise from *flips*."""
    tests = []
    for column, observed, sums in zip(columns.T, flips.observed, flips.sums, strict=True):
        test = exact_flip_test(column, draws=draws)
        if test is None:
            reached = int(np.count_nonzero(sums >= observed - flips.slack))
            test = FlipTest(flips.p(reached), "monte carlo", int(np.count_nonzero(column)))
        tests.append(test)
    return tuple(tests)
