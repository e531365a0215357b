"""Cluster queries by spherical k-means, and test whether a cluster scores worse."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.scoring.stats.arrays import (
    FloatArray,
    IntArray,
    check_draws,
    cluster_codes,
    generator,
    one_blas_thread,
)
from karat.scoring.stats.signflip import holm

# Smaller groups are not meaningful.
FEWEST = 5
MOST_GROUPS = 20
ROUNDS = 50
# A single start may end with two clusters in one group and a third one split in two.
STARTS = 8


@one_blas_thread()
def group_directions(rows: FloatArray, *, groups: int | None = None, seed: int = 0) -> IntArray:
    """Return the group of each row by cosine, from 0 for the largest; rows of zeros are group -1.

    Without *groups*, the number with the highest silhouette is used, from half the square root of
    the number of rows up to 20 groups or five rows per group; too few rows are one group. The lower
    limit is needed because evenly spread rows would otherwise always become two groups.

    >>> group_directions(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), groups=2).tolist()
    [0, 0, 1]
    """
    lengths = np.linalg.norm(rows, axis=1)
    nonzero = np.flatnonzero(lengths > 0)
    units = rows[nonzero] / lengths[nonzero, None]
    labels = np.full(len(rows), -1, dtype=np.int64)
    if not len(units):
        return labels
    if groups is None:
        most = min(MOST_GROUPS, len(units) // FEWEST)
        fewest = max(2, min(most, round(len(units) ** 0.5 / 2)))
        counts = range(fewest, most + 1)
        tried = [spherical_means(units, count, seed=seed) for count in counts]
        best = max(tried, key=lambda each: silhouette(units, each), default=np.zeros(len(units)))
    else:
        best = spherical_means(units, min(groups, len(units)), seed=seed)
    _, codes, sizes = np.unique(best, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    labels[nonzero] = np.argsort(order, kind="stable")[codes]
    return labels


def spherical_means(units: FloatArray, groups: int, *, seed: int) -> IntArray:
    """Return the group of each of *units*, which have length 1: the best of several starts."""
    rng = generator(seed)
    tried = [closest_means(units, initial_centres(units, groups, rng)) for _ in range(STARTS)]
    return max(tried, key=lambda labels: closeness(units, labels))


def closeness(units: FloatArray, labels: IntArray) -> float:
    """Return the sum of the cosines of *units* with the means of their groups."""
    sums = np.zeros((int(labels.max()) + 1, units.shape[1]))
    np.add.at(sums, labels, units)
    return float(np.linalg.norm(sums, axis=1).sum())


def closest_means(units: FloatArray, centres: FloatArray) -> IntArray:
    """Return the group of each row, starting from *centres*; a group may end up empty."""
    labels = np.full(len(units), -1, dtype=np.int64)
    for _ in range(ROUNDS):
        nearest = (units @ centres.T).argmax(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
        sums = np.zeros_like(centres)
        np.add.at(sums, labels, units)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.divide(sums, lengths, out=centres, where=lengths > 0)
    return labels


def initial_centres(units: FloatArray, groups: int, rng: np.random.Generator) -> FloatArray:
    """Return *groups* initial rows, each drawn by its squared distance to the previous ones."""
    chosen = [int(rng.integers(len(units)))]
    distance = np.full(len(units), np.inf)
    while len(chosen) < groups:
        distance = np.minimum(distance, np.maximum(1.0 - units @ units[chosen[-1]], 0.0))
        total = float(distance.sum())
        share = distance / total if total else np.full(len(units), 1.0 / len(units))
        chosen.append(int(rng.choice(len(units), p=share)))
    return units[chosen].copy()


def silhouette(units: FloatArray, labels: NDArray[np.int64]) -> float:
    """Return how much nearer rows are to their own group than to the next one, from -1 to 1.

    The distance is 1 - cosine; a row that is alone in its group counts 0, and the result is 0 if
    there is only one group.
    """
    _, codes = np.unique(labels, return_inverse=True)
    groups = int(codes.max()) + 1
    if groups < 2:
        return 0.0
    member = np.eye(groups)[codes]
    sizes = member.sum(axis=0)
    totals = (1.0 - units @ units.T) @ member
    rows = np.arange(len(units))
    alone = sizes[codes] == 1
    own = totals[rows, codes] / np.maximum(sizes[codes] - 1, 1)
    means = totals / sizes
    means[rows, codes] = np.inf
    other = means.min(axis=1)
    widest = np.maximum(own, other)
    values = np.divide(other - own, widest, out=np.zeros(len(units)), where=widest > 0)
    return float(np.where(alone, 0.0, values).mean())


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
    """Return for each group how likely a group of its size has as low a mean by chance.

    Scores are shuffled among the queries, without NaN; the p values are corrected by Holm over the
    groups. A group without any score has none. Groups must not be derived from scores. With
    *clusters*, one label per query, the scores of a whole cluster are swapped with those of another
    of its size.

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
    # Sums that are mathematically equal may differ in their last digits.
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
    """Return ``rows[cluster, member]`` for the clusters of each size; a single query is one of 1.

    >>> [rows.tolist() for rows in by_size(["a", "b", "a", "c"], 4)]
    [[[1], [3]], [[0, 2]]]
    """
    if clusters is None:
        return [np.arange(queries)[:, None]]
    codes = cluster_codes(clusters, queries)
    sizes = np.bincount(codes)
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
    return [np.array([rows for rows in members if len(rows) == size]) for size in np.unique(sizes)]
