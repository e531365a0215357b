"""Products of rows with one vector, by several processors where the rows are many."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from karat.engines.processors import processors

__all__ = ["products"]

Vectors = NDArray[np.float32]

# Fewer rows are done before a thread has begun.
WORTH_A_THREAD = 10_000


def products(rows: Vectors, vector: Vectors, *, threads: int | None = None) -> Vectors:
    """Return the product of each of *rows* with *vector*.

    It does not depend on the rows beside it, nor on *threads*: a matrix product would sum a row in
    another order where the matrix is longer.

    >>> products(np.array([[1, 0], [0.5, 2]], np.float32), np.array([2, 1], np.float32)).tolist()
    [2.0, 3.0]
    """
    if threads is None:
        threads = min(processors(), len(rows) // WORTH_A_THREAD)
    if threads < 2:
        return _summed(rows, vector)
    with ThreadPoolExecutor(threads) as pool:
        parts = pool.map(lambda part: _summed(part, vector), np.array_split(rows, threads))
        return np.concatenate(list(parts))


def _summed(rows: Vectors, vector: Vectors) -> Vectors:
    summed: Vectors = np.einsum("ij,j->i", rows, vector)
    return summed
