"""Exact search in memory: one matrix product a query."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from karat.engines.vectors.store import Neighbour
from karat.errors import InputError

# Single precision sums of unit vectors stray less than this, up to some ten thousand dimensions.
STRAY = 1e-5


@dataclass
class Namespace:
    """Rows by key; the matrix is stacked when a query first needs it after a change."""

    dimension: int
    rows: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    snapshots: dict[str, set[str]] = field(default_factory=dict)
    stacked: tuple[list[str], NDArray[np.float32]] | None = None


class InMemoryStore:
    """Stores all vectors in the memory of this process. Safe to use from several threads."""

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
        """Insert or replace rows; a replaced one is in no snapshot."""
        with self._lock:
            space = self._space(namespace, vectors.shape[1])
            for members in space.snapshots.values():
                members.difference_update(keys)
            space.rows.update(zip(keys, vectors, strict=True))
            space.stacked = None

    def delete(self, namespace: str, keys: Sequence[str]) -> int:
        """Remove rows and return how many there were."""
        with self._lock:
            space = self._spaces[namespace]
            removed = [key for key in keys if space.rows.pop(key, None) is not None]
            for members in space.snapshots.values():
                members.difference_update(removed)
            space.stacked = None
        return len(removed)

    def drop(self, namespace: str) -> None:
        """Remove the namespace."""
        with self._lock:
            self._spaces.pop(namespace, None)

    def count(self, namespace: str, snapshot: str = "") -> int:
        """Return the number of rows."""
        space = self._spaces[namespace]
        return len(space.snapshots.get(snapshot, ()) if snapshot else space.rows)

    def nearest(
        self,
        namespace: str,
        vector: NDArray[np.float32],
        k: int,
        *,
        snapshot: str = "",
        exact: bool | None = None,  # noqa: ARG002 - always
    ) -> list[Neighbour]:
        """Return the nearest rows; the search is always exact."""
        keys, matrix = self._matrix(namespace)
        if snapshot:
            members = self._spaces[namespace].snapshots.get(snapshot, set())
            rows = [row for row, key in enumerate(keys) if key in members]
            keys, matrix = [keys[row] for row in rows], matrix[rows]
        return _nearest(keys, matrix, vector, k)

    def held(self, namespace: str, keys: Sequence[str]) -> set[str]:
        """Return the keys that are stored."""
        space = self._spaces.get(namespace)
        return set() if space is None else space.rows.keys() & set(keys)

    def add(self, namespace: str, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Insert rows, without replacing any."""
        with self._lock:
            space = self._space(namespace, vectors.shape[1])
            for key, vector in zip(keys, vectors, strict=True):
                space.rows.setdefault(key, vector)
            space.stacked = None

    def mark(self, namespace: str, snapshot: str, keys: Sequence[str]) -> None:
        """Add rows to *snapshot*."""
        with self._lock:
            self._spaces[namespace].snapshots.setdefault(snapshot, set()).update(keys)

    def vectors(self, namespace: str, keys: Sequence[str]) -> NDArray[np.float32]:
        """Return the rows of *keys*."""
        rows = self._spaces[namespace].rows
        return np.stack([rows[key] for key in keys])

    def close(self) -> None:
        """Do nothing: there are no resources to release."""

    def _space(self, namespace: str, dimension: int) -> Namespace:
        space = self._spaces.setdefault(namespace, Namespace(dimension))
        if space.dimension != dimension:
            raise InputError(
                f"the embedding has {dimension} dimensions; "
                f"namespace {namespace!r} expects {space.dimension}"
            )
        return space

    def _matrix(self, namespace: str) -> tuple[list[str], NDArray[np.float32]]:
        with self._lock:
            space = self._spaces[namespace]
            if space.stacked is None:
                rows = list(space.rows.values())
                matrix = np.stack(rows) if rows else np.empty((0, space.dimension), np.float32)
                space.stacked = list(space.rows), matrix
            return space.stacked


def _nearest(
    keys: Sequence[str], matrix: NDArray[np.float32], vector: NDArray[np.float32], k: int
) -> list[Neighbour]:
    """Return the nearest rows: a quick pass over all, then exact sums for those near the cut.

    A matrix product may sum equal rows in different orders, and so tell them apart; the second pass
    sums each row alike, so that equal vectors have equal scores and their keys decide.
    """
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
