"""How often a run would come first on another set of queries like this one."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["resampled_means", "share_of_wins"]

Array = NDArray[np.float64]

# Means of the same scores may differ by the order in which they were summed.
SAME = 1e-12


def resampled_means(values: Array, *, draws: int, seed: int) -> Array:
    """Return ``means[draw, run]`` over queries drawn with replacement; NaN is left out.

    The same seed and number of queries draw the same queries, so that two measures can be paired.

    >>> resampled_means(np.array([[1.0, 1.0], [0.0, 0.0]]), draws=1, seed=0).tolist()
    [[1.0, 0.0]]
    """
    queries = values.shape[1]
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(queries, np.full(queries, 1.0 / queries), size=draws).astype(float)
    known = ~np.isnan(values)
    counts = weights @ known.T
    sums = weights @ np.where(known, values, 0.0).T
    means: Array = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return means


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
