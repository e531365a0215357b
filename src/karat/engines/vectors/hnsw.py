"""Approximate nearest rows by a graph (HNSW), for more vectors than an exact search likes."""

from typing import Any

import numpy as np

from karat.engines.vectors.exact import (
    ExactIndex,
    Mask,
    Nearest,
    Vectors,
    check_queries,
    check_rows,
    rescored,
)
from karat.errors import MissingExtra

__all__ = ["APPROXIMATE_ABOVE", "HnswIndex", "nearest_index", "recall"]

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
        _, found = self._index.search(vectors, min(k, len(self)), params=options)
        return [
            rescored(self._matrix, rows[rows >= 0], vector, k)
            for rows, vector in zip(found, vectors, strict=True)
        ]


def nearest_index(
    matrix: Vectors, *, approximate_above: int = APPROXIMATE_ABOVE
) -> ExactIndex | HnswIndex:
    """Return an exact index up to *approximate_above* rows, a graph beyond."""
    return ExactIndex(matrix) if len(matrix) <= approximate_above else HnswIndex(matrix)


def recall(found: list[Nearest], truth: list[Nearest]) -> float:
    """Return the share of the rows of *truth* that *found* holds, over all queries; 1 for none."""
    wanted = sum(len(exact.rows) for exact in truth)
    kept = sum(
        len(np.intersect1d(near.rows, exact.rows)) for near, exact in zip(found, truth, strict=True)
    )
    return kept / wanted if wanted else 1.0
