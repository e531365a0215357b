"""Randomised Tukey HSD: all pairs of systems against the largest gap that chance can make."""

import numpy as np
from numpy.typing import ArrayLike

from karat.errors import InputError
from karat.stats.arrays import FloatArray, as_columns, cluster_codes, cluster_sums
from karat.stats.chance import block_rows, check_draws, generator
from karat.stats.exact import whole_unit

__all__ = ["randomised_tukey"]


def randomised_tukey(
    values: ArrayLike, *, draws: int = 9_999, seed: int = 0, clusters: ArrayLike | None = None
) -> FloatArray:
    """Return corrected p values ``[system, system]`` for ``values[query, system]``.

    Under the null hypothesis all systems are interchangeable, so each query's scores are shuffled
    among them; a pair's p value is the share of shuffles in which the best and the worst mean are
    at least as far apart as the pair. Equal gaps count, also when rounding separates them.
    Queries that any system lacks are left out; the diagonal is 1. With *clusters*, one label per
    query, the scores of a whole cluster are shuffled alike.

    >>> randomised_tukey([[0.9, 0.1], [0.8, 0.3], [0.7, 0.2], [0.9, 0.4]], draws=999).shape
    (2, 2)
    """
    check_draws(draws)
    table = as_columns(values)
    if table.shape[1] < 2:
        raise InputError(f"got {table.shape[1]} system; expected two or more to compare")
    complete = ~np.isnan(table).any(axis=1)
    if clusters is None:
        table = table[complete]
    else:
        # One shuffle of all queries of a cluster is a shuffle of their totals.
        codes = cluster_codes(clusters, len(table))
        table = cluster_sums(table[complete], codes[complete])
    units, systems = table.shape
    if not units:
        return np.ones((systems, systems))
    numbers, slack = whole_scores(table)
    sums = numbers.sum(axis=0)
    gaps = np.abs(sums[:, None] - sums[None, :])
    reached = np.zeros((systems, systems), dtype=np.int64)
    rng = generator(seed)
    rows = block_rows(units * systems)
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        shuffled = rng.permuted(np.broadcast_to(numbers, (count, units, systems)), axis=2)
        totals = shuffled.sum(axis=1)
        ranges = totals.max(axis=1) - totals.min(axis=1)
        reached += np.count_nonzero(ranges[:, None, None] >= gaps - slack, axis=0)
    p = (reached + 1) / (draws + 1)
    np.fill_diagonal(p, 1.0)
    return p


def whole_scores(table: FloatArray) -> tuple[FloatArray, float]:
    """Return the scores as whole numbers whose sums are exact, and the slack of a gap."""
    largest = float(np.abs(table).max())
    numbers = np.rint(table / (largest or 1.0) * whole_unit(len(table)))
    return numbers, 2.0 * len(table)
