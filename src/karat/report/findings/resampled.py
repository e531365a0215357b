"""How often a run would come first on another set of queries like this one."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from karat.scoring.stats.arrays import cluster_codes, cluster_sums
from karat.scoring.stats.threads import one_blas_thread

__all__ = ["resampled_means", "resampled_medians", "share_of_wins"]

Array = NDArray[np.float64]

# Means of the same scores may differ by the order in which they were summed.
SAME = 1e-12


@one_blas_thread()
def resampled_means(
    values: Array, *, draws: int, seed: int, clusters: Sequence[str] | None = None
) -> Array:
    """Return ``means[draw, run]`` over queries drawn with replacement; NaN is left out.

    Queries that share a label in *clusters* are drawn together. The same seed, queries and clusters
    draw the same, so that two measures can be paired.

    >>> resampled_means(np.array([[1.0, 1.0], [0.0, 0.0]]), draws=1, seed=0).tolist()
    [[1.0, 0.0]]
    """
    known = ~np.isnan(values.T)
    sizes, totals = known.astype(float), np.where(known, values.T, 0.0)
    if clusters is not None:
        codes = cluster_codes(clusters, len(known))
        sizes, totals = cluster_sums(sizes, codes), cluster_sums(totals, codes)
    weights = _weights(len(sizes), draws=draws, seed=seed)
    counts, sums = weights @ sizes, weights @ totals
    means: Array = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return means


def resampled_medians(
    values: Array, *, draws: int, seed: int, clusters: Sequence[str] | None = None
) -> Array:
    """Return ``medians[draw, run]`` over the queries that :func:`resampled_means` draws.

    The median is the lower one of two; NaN is left out, and is the median of nothing.

    >>> resampled_medians(np.array([[1.0, 1.0], [2.0, 2.0]]), draws=1, seed=0).tolist()
    [[1.0, 2.0]]
    """
    queries = values.shape[1]
    codes = np.arange(queries) if clusters is None else cluster_codes(clusters, queries)
    weights = _weights(int(codes.max(initial=-1)) + 1, draws=draws, seed=seed)[:, codes]
    medians = np.full((draws, len(values)), np.nan)
    for run, row in enumerate(values):
        order = np.argsort(row)[: int((~np.isnan(row)).sum())]
        reached = weights[:, order].cumsum(axis=1)
        if not order.size:
            continue
        totals = reached[:, -1]
        middle = (reached >= totals[:, None] / 2).argmax(axis=1)
        medians[:, run] = np.where(totals > 0, row[order][middle], np.nan)
    return medians


def _weights(units: int, *, draws: int, seed: int) -> Array:
    """Return how often each unit is drawn in each draw."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(units, np.full(units, 1.0 / units), size=draws).astype(float)


def share_of_wins(scores: Array, run: int) -> float:
    """Return in which share of the draws *run* has the highest score, NaN being the lowest.

    Runs that have it together share the draw: of two that are the same, each is first in half. A
    draw in which no run has a score is left out.

    >>> share_of_wins(np.array([[1.0, 2.0], [3.0, 2.0], [1.0, 1.0], [0.0, 2.0]]), 1)
    0.625
    """
    known = np.where(np.isnan(scores), -np.inf, scores)
    best = known.max(axis=1, keepdims=True)
    first = (known >= best - SAME)[np.isfinite(best[:, 0])]
    return float((first[:, run] / first.sum(axis=1)).mean())
