"""Exact search in memory: one matrix product a query."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
        """Insert or replace rows."""
        with self._lock:
            space = self._space(namespace, vectors.shape[1])
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

    def count(self, namespace: str) -> int:
        """Return the number of rows."""
        return len(self._spaces[namespace].rows)

    def nearest(self, namespace: str, vector: NDArray[np.float32], k: int) -> list[Neighbour]:
        """Return the nearest rows."""
        return _nearest(*self._matrix(namespace), vector, k)

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

    def marked(self, namespace: str, snapshot: str) -> int:
        """Return the number of rows in *snapshot*."""
        return len(self._spaces[namespace].snapshots.get(snapshot, ()))

    def nearest_in(
        self,
        namespace: str,
        snapshot: str,
        vector: NDArray[np.float32],
        k: int,
        *,
        exact: bool | None = None,  # noqa: ARG002 - always
    ) -> list[Neighbour]:
        """Return the nearest rows of *snapshot*; the search is always exact."""
        keys, matrix = self._matrix(namespace)
        members = self._spaces[namespace].snapshots.get(snapshot, set())
        rows = [row for row, key in enumerate(keys) if key in members]
        return _nearest([keys[row] for row in rows], matrix[rows], vector, k)

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


def unit_vector(embedding: ArrayLike, where: str) -> NDArray[np.float32]:
    """Return *embedding* scaled to length 1, as cosine similarity needs it.

    >>> unit_vector([3.0, 4.0], "the query").tolist()
    [0.6000000238418579, 0.800000011920929]
    >>> unit_vector([0.0, 0.0], "the query")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: the query: the embedding is all zeros, which has no direction
    """
    try:
        numbers = np.asarray(embedding)
        if numbers.dtype.kind not in "fiu":
            raise TypeError
        row = numbers.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: the embedding is not a list of numbers") from None
    if row.ndim != 1 or not row.size:
        raise InputError(
            f"{where}: the embedding has shape {row.shape}; expected one row of numbers"
        )
    if not np.isfinite(row).all():
        index = int(np.flatnonzero(~np.isfinite(row))[0])
        raise InputError(
            f"{where}: component {index} of the embedding is {row[index]}; expected finite numbers"
        )
    largest = np.abs(row).max()
    if not largest:
        raise InputError(f"{where}: the embedding is all zeros, which has no direction")
    # Scaled by the largest first: squares of 1e300 would overflow, those of 1e-300 vanish.
    row = row / largest
    unit: NDArray[np.float32] = (row / np.linalg.norm(row)).astype(np.float32)
    return unit


def unit_rows(keys: Sequence[str], embeddings: Sequence[ArrayLike]) -> NDArray[np.float32]:
    """Return the embeddings of *keys* as unit rows; raise InputError unless all are as long."""
    try:
        numbers = np.array(embeddings)
    except (ValueError, OverflowError):
        numbers = np.empty(0)
    if numbers.ndim == 2 and numbers.size and numbers.dtype.kind in "fiu":
        rows = numbers.astype(np.float64)
        largest = np.abs(rows).max(axis=1, keepdims=True)
        # NaN fails both comparisons.
        if ((largest > 0) & (largest < np.inf)).all():
            rows /= largest
            unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(
                np.float32
            )
            return unit
    raise InputError(first_problem(keys, embeddings))


def first_problem(keys: Sequence[str], embeddings: Sequence[ArrayLike]) -> str:
    """Return the problem of the first embedding that does not fit the others."""
    expected = 0
    for key, embedding in zip(keys, embeddings, strict=True):
        try:
            dimensions = len(unit_vector(embedding, f"item {key!r}"))
        except InputError as error:
            return str(error)
        expected = expected or dimensions
        if dimensions != expected:
            return (
                f"item {key!r}: the embedding has {dimensions} dimensions; "
                f"expected {expected}, as in item {keys[0]!r}"
            )
    return "the embeddings cannot be combined; expected numbers of one type"
