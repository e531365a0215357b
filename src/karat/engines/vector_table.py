"""Vectors that only grow, and their products with a query: exact, or by a graph where many."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from karat.engines.fusion import Scores
from karat.engines.vectors.exact import ExactIndex, Mask
from karat.engines.vectors.hnsw import APPROXIMATE_ABOVE, HnswIndex, recall
from karat.engines.vectors.products import products
from karat.errors import MissingExtra

__all__ = ["VectorTable"]

Vectors = NDArray[np.float32]

# How many rows a graph is asked for: more than anyone reads, and still some milliseconds.
FOUND = 1_000
PROBES = 50
PROBE_DEPTH = 10


class VectorTable:
    """Rows of one *dimension*.

    Up to *approximate_above* rows each product is computed, and does not depend on the rows beside
    it. Beyond, where the extra ``hnsw`` is installed, a graph finds the nearest rows and the others
    count 0. Rows added since the graph was built are compared one by one, until they too are so
    many.

    >>> table = VectorTable(2)
    >>> table.extend(np.array([[1, 0], [0.6, 0.8]], np.float32))
    >>> table.products(np.array([0, 1], np.float32)).tolist()
    [0.0, 0.800000011920929]
    """

    def __init__(self, dimension: int, *, approximate_above: int = APPROXIMATE_ABOVE) -> None:
        """Begin without a row."""
        self._rows: Vectors = np.empty((0, dimension), np.float32)
        self._length = 0
        self._above = approximate_above
        self._graph: HnswIndex | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._length

    @property
    def rows(self) -> Vectors:
        """Return all rows, without a copy."""
        return self._rows[: self._length]

    @property
    def _covered(self) -> int:
        return 0 if self._graph is None else len(self._graph)

    def extend(self, rows: Vectors) -> None:
        """Append *rows*."""
        length = self._length + len(rows)
        if length > len(self._rows):
            # Twice as long each time: a row is copied once on average, however many steps.
            longer = np.empty((max(length, 2 * self._length), self._rows.shape[1]), np.float32)
            longer[: self._length] = self.rows
            self._rows = longer
        self._rows[self._length : length] = rows
        self._length = length

    def prepare(self) -> None:
        """Build the graph if there are too many rows without one."""
        if self._length - self._covered > self._above:
            try:
                self._graph = HnswIndex(self.rows)
            except MissingExtra:
                return
            self.__dict__.pop("recall", None)

    def products(self, vector: Vectors, live: Mask | None = None) -> Scores:
        """Return the product of every row with *vector*; below 0, or not found, is 0.

        Where a graph is asked, it looks only for rows of *live*.
        """
        covered = self._covered
        found: Scores = np.zeros(self._length, np.float32)
        if self._graph is not None:
            near = self._graph.search(vector, FOUND, live=None if live is None else live[:covered])
            found[near.rows] = near.scores
        found[covered:] = products(self.rows[covered:], vector)
        return np.maximum(found, np.float32(0), out=found)

    @cached_property
    def recall(self) -> float | None:
        """Return the share of the ten nearest rows that the graph finds; None without a graph.

        Measured on rows of the table as queries.
        """
        if self._graph is None:
            return None
        covered = self.rows[: len(self._graph)]
        probes = covered[:: max(1, len(covered) // PROBES)][:PROBES]
        exact = ExactIndex(covered).search_many(probes, PROBE_DEPTH)
        return recall(self._graph.search_many(probes, PROBE_DEPTH), exact)
