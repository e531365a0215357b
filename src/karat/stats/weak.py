"""Whether a group of queries scores worse than as many queries drawn from all."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.stats.arrays import FloatArray, cluster_codes
from karat.stats.chance import check_draws, generator
from karat.stats.correction import holm
from karat.stats.threads import one_blas_thread

__all__ = ["weak_groups"]

# Draws that are shuffled together.
AT_ONCE = 256


@one_blas_thread()
def weak_groups(
    scores: Sequence[float],
    groups: Sequence[int],
    *,
    draws: int = 9_999,
    seed: int = 0,
    clusters: ArrayLike | None = None,
) -> dict[int, float]:
    """Return for each group how likely one of its size is to have as low a mean by chance.

    Scores are shuffled among the queries, those that are NaN left out; the p values are corrected
    by Holm over the groups. A group without any score has none. Groups must not come from scores.
    With *clusters*, one label per query, the scores of a whole cluster change places with those of
    another one of its size.

    >>> weak_groups([0, 0, 0, 0, 1, 1, 1, 1, 1, 1], [0] * 4 + [1] * 6, seed=1)[0] < 0.05
    True
    """
    check_draws(draws)
    values = np.asarray(scores, dtype=np.float64)
    known = ~np.isnan(values)
    values = values[known]
    names, codes = np.unique(np.asarray(groups)[known], return_inverse=True)
    member = np.eye(len(names))[codes]
    observed = values @ member
    # Sums that are equal on paper differ in their last digits.
    slack = 1e-9 * (np.abs(values).sum() + 1.0)
    units = by_size(None if clusters is None else np.asarray(clusters)[known], len(values))
    reached = np.zeros(len(names))
    rng = generator(seed)
    for start in range(0, draws, AT_ONCE):
        count = min(AT_ONCE, draws - start)
        shuffled = np.empty((count, len(values)))
        for rows in units:
            places = rng.permuted(np.tile(np.arange(len(rows)), (count, 1)), axis=1)
            shuffled[:, rows.ravel()] = values[rows[places]].reshape(count, -1)
        sums: FloatArray = shuffled @ member
        reached += (sums <= observed + slack).sum(axis=0)
    corrected = holm(((reached + 1) / (draws + 1)).tolist())
    return dict(zip(names.tolist(), corrected, strict=True))


def by_size(clusters: ArrayLike | None, queries: int) -> list[NDArray[np.intp]]:
    """Return ``rows[cluster, member]`` for the clusters of each size; a query alone is one of 1.

    >>> [rows.tolist() for rows in by_size(["a", "b", "a", "c"], 4)]
    [[[1], [3]], [[0, 2]]]
    """
    if clusters is None:
        return [np.arange(queries)[:, None]]
    codes = cluster_codes(clusters, queries)
    sizes = np.bincount(codes)
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
    return [np.array([rows for rows in members if len(rows) == size]) for size in np.unique(sizes)]
