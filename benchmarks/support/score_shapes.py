"""Simulated scores of one run, or differences of two, with the shapes that measures have."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["SHAPES"]

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
