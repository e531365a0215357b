"""Simulated scores of one run, or differences of two, with the shapes that measures have."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Shape = Callable[[np.random.Generator, int], Values]


def ranks(rng: np.random.Generator, n: int, ease: float = 0.0) -> Values:
    """Return ranks of one target: easy and hard queries, and noise of the engine."""
    latent = rng.normal(ease, 1.0, n) + rng.normal(0.0, 0.8, n)
    return np.ceil(np.exp(1.2 - 1.3 * latent))


def gain(rank: Values) -> Values:
    """Return nDCG@10 of queries with one target."""
    found: Values = np.where(rank <= 10, 1 / np.log2(rank + 1), 0.0)
    return found


def inverse(rank: Values) -> Values:
    """Return the reciprocal rank up to rank 10."""
    found: Values = np.where(rank <= 10, 1 / rank, 0.0)
    return found


def two_targets(rng: np.random.Generator, n: int) -> Values:
    """Return nDCG@10 of queries with two targets."""
    return (gain(ranks(rng, n)) + gain(ranks(rng, n, -0.5))) / (1 + 1 / np.log2(3))


def close_runs(rng: np.random.Generator, n: int) -> Values:
    """Return differences of nDCG@10 between runs that agree on most queries."""
    shared = rng.normal(0.0, 1.0, (n, 1)) + rng.normal(0.0, 0.15, (n, 2))
    return gain(np.ceil(np.exp(1.2 - 1.3 * shared[:, 0]))) - gain(
        np.ceil(np.exp(1.2 - 1.3 * shared[:, 1]))
    )


def changed(share: float) -> Shape:
    """Return differences of nDCG@10 between runs of which a *share* of the lists differs."""

    def make(rng: np.random.Generator, n: int) -> Values:
        latent = rng.normal(0.0, 1.0, (n, 1)) + rng.normal(0.0, 0.5, (n, 2))
        scores = gain(np.ceil(np.exp(1.2 - 1.3 * latent)))
        return np.where(rng.random(n) < share, scores[:, 1] - scores[:, 0], 0.0)

    return make


def hard_recall(rng: np.random.Generator, n: int) -> Values:
    """Return recall@10 of two targets that are rarely found."""
    found: Values = np.mean([ranks(rng, n, ease) <= 10 for ease in (-1.7, -2.2)], axis=0)
    return found


def nearly_equal(rng: np.random.Generator, n: int) -> Values:
    """Return scores that are 1 but for about one query in eight."""
    losses = rng.choice([0.07, 0.2, 0.37, 0.5], size=n)
    return np.where(rng.random(n) < 0.12, 1.0 - losses, 1.0)


def one_sided(rng: np.random.Generator, n: int) -> Values:
    """Return differences of which about one in eight is a gain and none a loss."""
    return np.where(rng.random(n) < 0.12, rng.uniform(0.0, 0.3, n), 0.0)


def clustered_hits(
    rng: np.random.Generator, clusters: int, samples: int, *, rate: float, alike: float
) -> tuple[Values, NDArray[np.int64]]:
    """Return ``[query, sample]`` hits in clusters of one to five queries, and the clusters.

    *alike* is the correlation of two queries of a cluster.
    """
    codes = np.repeat(np.arange(clusters), rng.integers(1, 6, clusters))
    shared = (rng.random((clusters, samples)) < rate)[codes]
    own = rng.random(shared.shape) < rate
    hits = np.where(rng.random(shared.shape) < alike**0.5, shared, own)
    return hits.astype(np.float64), codes


SHAPES: dict[str, Shape] = {
    "nDCG@10, one target": lambda rng, n: gain(ranks(rng, n)),
    "nDCG@10, two targets": two_targets,
    "nDCG@10, hard queries": lambda rng, n: gain(ranks(rng, n, -1.5)),
    "nDCG@10, easy queries": lambda rng, n: gain(ranks(rng, n, 1.5)),
    "RR@10": lambda rng, n: inverse(ranks(rng, n)),
    "RR@10, very hard queries": lambda rng, n: inverse(ranks(rng, n, -2.0)),
    "hit@5": lambda rng, n: (ranks(rng, n) <= 5).astype(np.float64),
    "hit@5, easy queries": lambda rng, n: (ranks(rng, n, 1.5) <= 5).astype(np.float64),
    "recall@10, two targets": lambda rng, n: np.mean(
        [ranks(rng, n) <= 10, ranks(rng, n, -0.5) <= 10], axis=0
    ),
    "precision@5": lambda rng, n: rng.binomial(5, rng.beta(0.5, 2.0, n)) / 5,
    "lines returned": lambda rng, n: 10 * np.rint(np.exp(rng.normal(3.0, 0.8, n)) / 10),
    "difference of nDCG@10": lambda rng, n: gain(ranks(rng, n)) - gain(ranks(rng, n, 0.2)),
    "the same, close runs": close_runs,
    "difference of hit@5": lambda rng, n: rng.choice(
        [-1.0, 0.0, 1.0], p=[0.05, 0.87, 0.08], size=n
    ),
    "difference, rare failures": lambda rng, n: np.where(rng.random(n) < 0.1, -0.27, 0.03),
}

# Kinds of scores whose intervals failed before they were measured, with numbers of queries.
SMALL: dict[str, tuple[Shape, tuple[int, ...]]] = {
    "difference, 5 % changed": (changed(0.05), (500, 1_000, 2_000)),
    "difference, 12 % changed": (changed(0.12), (127, 299, 300, 500, 1_000)),
    "difference, 30 % changed": (changed(0.3), (60, 127, 300, 500)),
    "difference, close runs": (close_runs, (30, 60, 127, 300)),
    "difference, one-sided gains": (one_sided, (15, 30, 60, 127)),
    "recall@10, hard queries": (hard_recall, (15, 30, 60)),
    "nDCG@10, hard queries": (SHAPES["nDCG@10, hard queries"], (15, 30, 60, 127)),
    "RR@10, very hard queries": (SHAPES["RR@10, very hard queries"], (15, 30, 60, 127)),
    "nearly all equal": (nearly_equal, (15, 20, 30, 60)),
}
