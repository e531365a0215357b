"""Nearest neighbours among unit vectors: exact, or by a graph (HNSW)."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, MissingExtra

Vectors = NDArray[np.float32]
Mask = NDArray[np.bool_]

# Single precision sums of unit vectors stray less than this, up to some ten thousand dimensions.
STRAY = 1e-5

BLOCK = 256
QUERIES_AT_ONCE = 32


class Nearest(NamedTuple):
    """Row numbers, best first, equal scores by number; and their inner products with the query."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]


class ExactIndex:
    """Searches *matrix*, one float32 row per item.

    >>> index = ExactIndex(np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32))
    >>> index.search(np.array([0, 1], np.float32), 2).rows.tolist()
    [1, 2]
    """

    def __init__(self, matrix: Vectors) -> None:
        """Store *matrix*, without a copy where it is float32 in row order already."""
        self._matrix = check_rows(matrix)

    def __len__(self) -> int:
        return len(self._matrix)

    def search(self, query: Vectors, k: int, *, live: Mask | None = None) -> Nearest:
        """Return the *k* rows with the largest products; only rows of *live* where it is given."""
        (vector,) = check_queries(np.asarray(query)[None], self._matrix.shape[1])
        return self._best(self._matrix @ vector, vector, k, live)

    def search_many(self, queries: Vectors, k: int, *, live: Mask | None = None) -> list[Nearest]:
        """Return what ``search`` returns for each query, sooner."""
        vectors = check_queries(queries, self._matrix.shape[1])
        results: list[Nearest] = []
        for start in range(0, len(vectors), QUERIES_AT_ONCE):
            some = vectors[start : start + QUERIES_AT_ONCE]
            quick = some @ self._matrix.T
            results += [
                self._best(row, vector, k, live) for row, vector in zip(quick, some, strict=True)
            ]
        return results

    def _best(self, quick: Vectors, vector: Vectors, k: int, live: Mask | None) -> Nearest:
        if live is not None:
            quick = np.where(live, quick, np.float32(-np.inf))
        near = np.flatnonzero(quick >= _floor(quick, k) - 2 * STRAY)
        if live is not None:
            near = near[live[near]]
        return rescore(self._matrix, near, vector, k)


def _floor(scores: Vectors, k: int) -> float:
    """Return a score that at least *k* of *scores* reach, and few more than those.

    The k-th largest of the maxima of blocks is such a score, and much sooner found than the k-th
    largest of all.
    """
    if k >= len(scores):
        return -np.inf
    whole = len(scores) // BLOCK * BLOCK
    if whole // BLOCK < 2 * k:
        return float(np.partition(scores, len(scores) - k)[len(scores) - k])
    maxima = scores[:whole].reshape(-1, BLOCK).max(axis=1)
    return float(np.partition(maxima, len(maxima) - k)[len(maxima) - k])


def rescore(matrix: Vectors, rows: NDArray[np.int64], vector: Vectors, k: int) -> Nearest:
    """Return the best *k* of *rows* by exact products.

    A matrix product may sum equal rows in different orders and so tell them apart; this pass sums
    each row alike, so that equal rows have equal scores and their numbers decide.
    """
    scores = (matrix[rows].astype(np.float64) * vector).sum(axis=1)
    order = np.lexsort((rows, -scores))[:k]
    return Nearest(rows[order].astype(np.int64), scores[order])


def check_rows(matrix: Vectors) -> Vectors:
    """Return *matrix* as float32 in row order; raise InputError unless it is finite rows."""
    rows = np.ascontiguousarray(matrix, np.float32)
    if rows.ndim != 2:
        raise InputError(f"the vectors have shape {rows.shape}; expected one row per item")
    if not np.isfinite(rows).all():
        raise InputError("the vectors contain a number that is not finite")
    return rows


def check_queries(queries: Vectors, dimension: int) -> Vectors:
    """Return *queries* as finite float32 rows of the index's dimension, or raise InputError."""
    rows = check_rows(queries)
    if rows.shape[1] != dimension:
        raise InputError(f"the query has {rows.shape[1]} dimensions; the index has {dimension}")
    return rows


def processors() -> int:
    """Return how many processors this process may use."""
    # The processors that this process may use, if the system reports them, not all of the machine.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


Rows = NDArray[np.float32]

# With fewer rows, starting a thread takes longer than the work.
WORTH_A_THREAD = 10_000


def products(rows: Rows, vector: Rows, *, threads: int | None = None) -> Rows:
    """Return the product of each of *rows* with *vector*.

    It does not depend on the rows beside it, nor on *threads*: a matrix product would sum a row in
    another order where the matrix is longer.

    >>> products(np.array([[1, 0], [0.5, 2]], np.float32), np.array([2, 1], np.float32)).tolist()
    [2.0, 3.0]
    """
    if not len(rows):
        # Without rows their length is unknown.
        return np.empty(0, np.float32)
    if threads is None:
        threads = min(processors(), len(rows) // WORTH_A_THREAD)
    if threads < 2:
        return _summed(rows, vector)
    with ThreadPoolExecutor(threads) as pool:
        parts = pool.map(lambda part: _summed(part, vector), np.array_split(rows, threads))
        return np.concatenate(list(parts))


def _summed(rows: Rows, vector: Rows) -> Rows:
    summed: Rows = np.einsum("ij,j->i", rows, vector)
    return summed


# Up to here an exact search takes some ten milliseconds; a graph takes minutes to build beyond.
APPROXIMATE_ABOVE = 200_000


class HnswIndex:
    """Searches *matrix* through a graph; it may miss rows, and :func:`recall` says how many."""

    def __init__(
        self, matrix: Vectors, *, links: int = 32, build_width: int = 128, width: int = 256
    ) -> None:
        """Build the graph: *links* a row, *build_width* and *width* candidates at a time."""
        try:
            import faiss
        except ImportError:
            raise MissingExtra("faiss-cpu", extra="hnsw", purpose="approximate search") from None
        # Its stubs lack half of what it can do.
        self._faiss: Any = faiss
        self._matrix = check_rows(matrix)
        self._width = width
        self._index = faiss.IndexHNSWFlat(self._matrix.shape[1], links, faiss.METRIC_INNER_PRODUCT)
        self._index.hnsw.efConstruction = build_width
        self._index.add(self._matrix)

    def __len__(self) -> int:
        return len(self._matrix)

    def search(self, query: Vectors, k: int, *, live: Mask | None = None) -> Nearest:
        """Return about the best *k* rows, with exact scores."""
        return self.search_many(np.asarray(query)[None], k, live=live)[0]

    def search_many(self, queries: Vectors, k: int, *, live: Mask | None = None) -> list[Nearest]:
        """Return what ``search`` returns for each query."""
        vectors = check_queries(queries, self._matrix.shape[1])
        options = self._faiss.SearchParametersHNSW(efSearch=max(self._width, k))
        if live is not None:
            bits = np.packbits(live, bitorder="little")
            options.sel = self._faiss.IDSelectorBitmap(bits)
        _, numbers = self._index.search(vectors, min(k, len(self)), params=options)
        return [
            rescore(self._matrix, rows[rows >= 0], vector, k)
            for rows, vector in zip(numbers, vectors, strict=True)
        ]


def recall(approximate: list[Nearest], truth: list[Nearest]) -> float:
    """Return the share of the rows of *truth* in *approximate*, over all queries; 1 for none."""
    true_rows = sum(len(exact.rows) for exact in truth)
    common_rows = sum(
        len(np.intersect1d(near.rows, exact.rows))
        for near, exact in zip(approximate, truth, strict=True)
    )
    return common_rows / true_rows if true_rows else 1.0
