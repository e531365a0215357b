"""Exact search in memory: one matrix product a query."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.ndcg.vectors.store import Neighbour

__all__ = ["InMemoryStore"]

# Single precision sums of unit vectors stray less than this, up to some ten thousand dimensions.
STRAY = 1e-5


@dataclass
class Namespace:
    """Rows by key; the matrix is stacked when a query first needs it after a change."""

    dimension: int
    rows: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    stacked: tuple[list[str], NDArray[np.float32]] | None = None


class InMemoryStore:
    """Keeps everything in this process; nothing outlives it. Safe to use from several threads."""

    def __init__(self) -> None:
        """Begin without namespaces."""
        self._spaces: dict[str, Namespace] = {}
        self._lock = Lock()

    def dimension(self, namespace: str) -> int | None:
        """Return the length of the namespace's vectors, None where it does not exist."""
        space = self._spaces.get(namespace)
        return None if space is None else space.dimension

    def namespaces(self) -> list[str]:
        """Return the existing namespaces."""
        return list(self._spaces)

    def upsert(self, namespace: str, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Insert or replace rows."""
        with self._lock:
            space = self._spaces.setdefault(namespace, Namespace(vectors.shape[1]))
            if space.dimension != vectors.shape[1]:
                raise InputError(
                    f"the embedding has {vectors.shape[1]} dimensions; "
                    f"namespace {namespace!r} expects {space.dimension}"
                )
            space.rows.update(zip(keys, vectors, strict=True))
            space.stacked = None

    def delete(self, namespace: str, keys: Sequence[str]) -> int:
        """Remove rows and return how many there were."""
        with self._lock:
            space = self._spaces[namespace]
            removed = [key for key in keys if space.rows.pop(key, None) is not None]
            space.stacked = None
        return len(removed)

    def drop(self, namespace: str) -> None:
        """Remove the namespace."""
        with self._lock:
            self._spaces.pop(namespace, None)

    def count(self, namespace: str) -> int:
        """Return the number of rows."""
        return len(self._spaces[namespace].rows)

    def nearest(self, namespace: str, vector: NDArray[np.float32], k: int) -> list[Neighbour]:
        """Return the nearest rows: a quick pass over all, then exact sums for those near the cut.

        A matrix product may sum equal rows in different orders, and so tell them apart; the second
        pass sums each row alike, so that equal vectors have equal scores and their keys decide.
        """
        keys, matrix = self._matrix(namespace)
        if not keys:
            return []
        quick = matrix @ vector
        if k < len(keys):
            cut = np.partition(quick, len(keys) - k)[len(keys) - k]
            near = np.flatnonzero(quick >= cut - 2 * STRAY)
        else:
            near = np.arange(len(keys))
        exact = (matrix[near].astype(np.float64) * vector).sum(axis=1).clip(-1.0, 1.0)
        neighbours = [
            Neighbour(keys[row], score)
            for row, score in zip(near.tolist(), exact.tolist(), strict=True)
        ]
        neighbours.sort(key=lambda neighbour: (-neighbour.score, neighbour.key))
        return neighbours[:k]

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def _matrix(self, namespace: str) -> tuple[list[str], NDArray[np.float32]]:
        with self._lock:
            space = self._spaces[namespace]
            if space.stacked is None:
                rows = list(space.rows.values())
                matrix = np.stack(rows) if rows else np.empty((0, space.dimension), np.float32)
                space.stacked = list(space.rows), matrix
            return space.stacked
