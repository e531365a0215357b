"""Fuse several rankings into one: by reciprocal ranks, or by normalised scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from karat.engines.chunk_table import ChunkTable
from karat.errors import InputError, UnknownName

Scores = NDArray[np.float32]
# Of one ranking: for all chunks alike, or one for each.
Weight = float | Scores
Floating = TypeVar("Floating", bound=np.floating)

RRF, DEFAULT_FUSION = "rrf", "min-max"
RRF_K = 60.0
# Deeper ranks of one search would not change what a user sees first.
DEPTH = 100


def reciprocal_ranks(
    scores: NDArray[Floating], *, k: float = RRF_K, depth: int = DEPTH
) -> NDArray[Floating]:
    """Return 1 / (k + rank) for the best *depth* of *scores* above 0, and 0 for the others.

    Equal scores are ranked by position, so that two machines give one ranking.

    >>> [f"{score:.2f}" for score in reciprocal_ranks(np.array([0.5, 0.0, 0.9], np.float32), k=1)]
    ['0.33', '0.00', '0.50']
    """
    result = np.zeros_like(scores)
    best = top(scores, depth)
    result[best] = 1.0 / (k + 1.0 + np.arange(len(best)))
    return result


def min_max(scores: Scores, *, depth: int = DEPTH) -> Scores:
    """Return the best *depth* of *scores* spread over 0 to 1; the others are 0.

    The lowest of them stays a little above 0, so that a retrieved chunk scores more than others.

    >>> [f"{score:.2f}" for score in min_max(np.array([2.0, 0.0, 4.0, 3.5], np.float32))]
    ['0.01', '0.00', '1.00', '0.75']
    """
    result = np.zeros(len(scores), np.float32)
    best = top(scores, depth)
    result[best] = 0.01 + 0.99 * spread(scores[best])
    return result


def spread(scores: NDArray[Floating]) -> NDArray[Floating]:
    """Return *scores* moved and stretched to reach from 0 to 1; equal ones are all 1.

    >>> spread(np.array([-3.0, 1.0, 0.0])).tolist()
    [0.0, 1.0, 0.75]
    """
    if not len(scores) or scores.min() == scores.max():
        return np.ones_like(scores)
    low = scores.min()
    stretch: NDArray[Floating] = (scores - low) / (scores.max() - low)
    return stretch


def stretch(scores: Scores, *, depth: int = DEPTH) -> Scores:
    """Return *scores* in the same order, with the best *depth* of them spread over 0.01 to 1.

    Lower scores keep their ratios, below 0.01. Cosines and reciprocal ranks lie close together:
    without this, a share of one score added to another outweighs the difference between them.

    >>> scores = np.array([0.8, 0.7, 0.6, 0.3, 0.0], np.float32)
    >>> [f"{score:.3f}" for score in stretch(scores, depth=3)]
    ['1.000', '0.505', '0.010', '0.005', '0.000']
    """
    best = top(scores, depth)
    if not len(best) or scores[best[0]] == scores[best[-1]]:
        return scores
    low, high = scores[best[-1]], scores[best[0]]
    within = 0.01 + 0.99 * ((scores - low) / (high - low))
    longer: Scores = np.where(scores >= low, within, 0.01 * scores / low).astype(np.float32)
    return longer


def top(scores: NDArray[Floating], k: int) -> NDArray[np.intp]:
    """Return the positions of the *k* best scores above 0, best first, equal ones by position.

    >>> top(np.array([0.5, 0.9, 0.0, 0.9], np.float32), 3).tolist()
    [1, 3, 0]
    """
    k = min(k, len(scores))
    if k == 0:
        return np.empty(0, np.intp)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    candidates = np.flatnonzero(scores >= max(threshold, np.nextafter(scores.dtype.type(0), 1)))
    order = np.argsort(-scores[candidates], kind="stable")
    return candidates[order[:k]]


FUSIONS: dict[str, Callable[..., Scores]] = {RRF: reciprocal_ranks, DEFAULT_FUSION: min_max}


def check_fusion(method: str) -> None:
    """Raise UnknownName if there is no *method*."""
    if method not in FUSIONS:
        raise UnknownName(f"no fusion named {method!r}; known: {', '.join(FUSIONS)}")


def fuse(
    parts: Sequence[Scores],
    weights: Sequence[Weight],
    *,
    method: str = DEFAULT_FUSION,
    rrf_k: float = RRF_K,
    depth: int = DEPTH,
) -> Scores:
    """Return the weighted sum of *parts*, each brought to one scale by *method*.

    >>> lexical, dense = np.array([3.0, 0.0], np.float32), np.array([0.2, 0.8], np.float32)
    >>> [f"{score:.2f}" for score in fuse([lexical, dense], [0.5, 0.5], method="rrf", rrf_k=1)]
    ['0.42', '0.25']
    """
    if len(parts) != len(weights):
        raise InputError(f"{len(parts)} rankings and {len(weights)} weights; expected one each")
    check_fusion(method)
    options = {"k": rrf_k} if method == RRF else {}
    scaled = FUSIONS[method]
    total = np.zeros(len(parts[0]) if parts else 0, np.float32)
    for part, weight in zip(parts, weights, strict=True):
        total += np.asarray(weight, np.float32) * scaled(part, depth=depth, **options)
    return total


def rest(joined: Scores, parts: Sequence[Scores], weights: Sequence[Weight]) -> Scores:
    """Return scores for what *parts* found too deep to be in *joined*, and 0 for all else.

    Each part counts by its share of its best score; all are below the lowest of *joined*.

    >>> joined, deep = np.array([0.5, 0.1, 0, 0], np.float32), np.array([8, 4, 2, 0], np.float32)
    >>> [f"{score:.3f}" for score in rest(joined, [deep], [1.0])]
    ['0.000', '0.000', '0.025', '0.000']
    """
    fused = joined > 0
    lowest = joined[fused].min(initial=1.0)
    total = np.zeros(len(joined), np.float32)
    for part, weight in zip(parts, weights, strict=True):
        share = np.maximum(part, 0) / max(part.max(initial=0), 1e-9)
        total += np.asarray(weight, np.float32) * share
    total[fused] = 0
    scaled: Scores = total * (lowest / sum(weights))
    return scaled


@dataclass(frozen=True, slots=True)
class Weights:
    """One number a stage: those of *code* for pieces of code, those of *other* for all else."""

    code: tuple[float, ...]
    other: tuple[float, ...]

    @classmethod
    def alike(cls, stages: int) -> "Weights":
        """Return equal weights for all *stages*.

        >>> Weights.alike(2)
        Weights(code=(0.5, 0.5), other=(0.5, 0.5))
        """
        same = (1.0 / stages,) * stages
        return cls(same, same)

    @classmethod
    def of_dense(cls, code: float, other: float) -> "Weights":
        """Return those of words and embeddings, the share of the embeddings given.

        >>> Weights.of_dense(code=0.5, other=0.75)
        Weights(code=(0.5, 0.5), other=(0.25, 0.75))
        """
        for share in (code, other):
            if not 0.0 <= share <= 1.0:
                raise InputError(f"dense_weight={share}; expected 0 to 1")
        return cls((1.0 - code, code), (1.0 - other, other))

    def of(self, chunks: ChunkTable) -> Sequence[Weight]:
        """Return the weight of each stage: one number, or one for each of *chunks*."""
        if self.code == self.other:
            return self.other
        return [
            np.where(chunks.code, np.float32(code), np.float32(other))
            for code, other in zip(self.code, self.other, strict=True)
        ]
