"""Nearest neighbours among unit vectors: exact, by a graph (HNSW), or by small codes."""

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from karat.engines.fusion import Scores
from karat.errors import InputError, MissingExtra

Vectors = NDArray[np.float32]
Mask = NDArray[np.bool_]

# Single precision sums of unit vectors stray less than this, up to some ten thousand dimensions.
STRAY = 1e-5

BLOCK = 256
QUERIES_AT_ONCE = 32

Codes = NDArray[np.int8] | NDArray[np.uint8]

# How vectors are held: all in memory; in a file; in a file with codes of a quarter or of a 32nd.
VECTORS = ("float32", "mapped", "int8", "binary")
# Rows that are scored again with their exact vectors, and all that are as near as the last of them;
# the others count as not found.
CANDIDATES = 1_000
# Rows whose codes are unpacked, or whose vectors are read, at a time.
CODE_BLOCK = 1 << 14
PROBES = 50
PROBE_DEPTH = 10
LARGEST = 127
# Numbers of a unit vector beyond this many standard deviations are cut to the largest code.
SPREAD = 4.0
# Sums of whole numbers up to here are exact in single precision, in whatever order.
LARGEST_SUM = 1 << 23


class VectorRows(ABC):
    """Rows of vectors that a dense stage compares with queries: the rows of each text added."""

    # Texts that are embedded and added in one step; progress is reported after each.
    texts_at_once: int = 64

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Return the bytes of all rows, in memory or in a file."""

    @property
    @abstractmethod
    def recall(self) -> float | None:
        """Return the share of the nearest rows that are found; None if all are compared."""

    @abstractmethod
    def add(
        self, texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors], *, left: int
    ) -> int:
        """Add the vectors of *texts*, of *left* texts to come; return how many *embed* was given.

        All rows have the length of the first ones: a remote embedder knows it only then.
        """

    @abstractmethod
    def prepare(self, live: Mask) -> None:
        """Make what was added ready for a search of the rows *live*."""

    @abstractmethod
    def products(self, vector: Vectors, live: Mask | None = None) -> Scores:
        """Return the product of every row with *vector*; below 0, or not found, is 0."""

    def close(self) -> None:
        """Release connections; calling it twice is allowed."""
        return


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


def check_vectors(vectors: str) -> str:
    """Return *vectors* if it is one of :data:`VECTORS`."""
    if vectors not in VECTORS:
        raise InputError(f"vectors {vectors!r} is not valid; expected one of: {', '.join(VECTORS)}")
    return vectors


class FileVectors(VectorRows):
    """Rows in a temporary file, which is mapped into memory.

    With the *kind* ``mapped`` every row is compared, as exactly as in memory. With ``int8`` and
    ``binary`` codes in memory find candidates, which are then compared exactly; other rows count 0.

    >>> table = FileVectors(kind="int8")
    >>> table.extend(np.array([[1, 0], [0.6, 0.8]], np.float32))
    >>> table.prepare()
    >>> table.products(np.array([0, 1], np.float32)).tolist()
    [0.0, 0.800000011920929]
    """

    def __init__(self, *, kind: str, candidates: int = CANDIDATES) -> None:
        """Start with no rows."""
        self._kind = kind
        self._candidates = candidates
        self._length = 0
        self._file = tempfile.TemporaryFile(prefix="karat-vectors-")  # noqa: SIM115 - kept open
        finalize(self, self._file.close)
        self._new: list[Codes] = []
        self._codes: Codes = np.empty((0, 0), np.uint8)
        self.rows: Vectors = np.empty((0, 0), np.float32)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._length

    @property
    def nbytes(self) -> int:
        """Return the bytes of the codes, and of the file."""
        return self._codes.nbytes + self.rows.nbytes

    def add(
        self,
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], Vectors],
        *,
        left: int,  # noqa: ARG002 - a file grows by itself
    ) -> int:
        """Embed *texts*, and append their rows."""
        self.extend(embed(texts))
        return len(texts)

    def extend(self, rows: Vectors) -> None:
        """Append *rows*; they are found after ``prepare``."""
        rows = np.ascontiguousarray(rows, np.float32)
        self._file.seek(0, 2)
        self._file.write(rows.tobytes())
        self._length += len(rows)
        self._dimension = rows.shape[1]
        if self._kind != "mapped":
            self._new.append(_codes(rows, self._kind))

    def prepare(self, live: Mask | None = None) -> None:  # noqa: ARG002 - all are ready
        """Map what was added."""
        if len(self.rows) == self._length:
            return
        self._file.flush()
        self.rows = np.memmap(
            self._file, np.float32, mode="r", shape=(self._length, self._dimension)
        )
        if self._new:
            known = [self._codes] if len(self._codes) else []
            self._codes = np.concatenate([*known, *self._new])
            self._new = []
        self.__dict__.pop("recall", None)

    def products(self, vector: Vectors, live: Mask | None = None) -> Scores:
        """Return the product of every row with *vector*; below 0, or not found, is 0."""
        if self._kind == "mapped":
            exact: Scores = products(self.rows, vector)
            return np.maximum(exact, np.float32(0), out=exact)
        near = self._near(vector, live)
        scores: Scores = np.zeros(self._length, np.float32)
        for start in range(0, len(near), CODE_BLOCK):
            block = near[start : start + CODE_BLOCK]
            # Row by row, so that a score is that of the exact search to the last bit.
            scores[block] = products(self.rows[block], vector)
        return np.maximum(scores, np.float32(0), out=scores)

    @cached_property
    def recall(self) -> float | None:
        """Return the share of the ten nearest rows that are candidates; None if all rows are.

        Measured on rows of the table as queries.
        """
        if self._kind == "mapped" or self._length <= self._candidates:
            return None
        probes = np.array(self.rows[:: max(1, self._length // PROBES)][:PROBES])
        exact = ExactIndex(self.rows).search_many(probes, PROBE_DEPTH)
        return recall([self._nearest(probe) for probe in probes], exact)

    def _nearest(self, vector: Vectors) -> Nearest:
        return rescore(self.rows, self._near(vector, None), vector, PROBE_DEPTH)

    def _near(self, vector: Vectors, live: Mask | None) -> NDArray[np.int64]:
        """Return the rows whose codes are nearest to *vector*, in ascending order.

        All rows that are as near as the last one are among them, so that the order in which rows
        were added decides nothing.
        """
        rows = np.arange(self._length) if live is None else np.flatnonzero(live)
        if len(rows) <= self._candidates:
            return rows
        asked = _asked(vector, self._kind)
        near = np.concatenate(
            [
                _closeness(self._codes[rows[start : start + CODE_BLOCK]], asked)
                for start in range(0, len(rows), CODE_BLOCK)
            ]
        )
        last = len(rows) - self._candidates
        best: NDArray[np.int64] = rows[near >= np.partition(near, last)[last]]
        return best


def _codes(rows: Vectors, kind: str) -> Codes:
    """Return *rows* in bytes: whole numbers up to 127, or the signs as bits."""
    if kind == "binary":
        return np.packbits(rows > 0, axis=1)
    whole = np.rint(rows * _scale(rows.shape[1]))
    codes: Codes = np.clip(whole, -LARGEST, LARGEST).astype(np.int8)
    return codes


def _scale(dimension: int) -> float:
    """Return the code of 1: by the largest number that a row is likely to have, others are cut."""
    scale: float = LARGEST / (SPREAD / max(dimension, SPREAD**2) ** 0.5)
    return scale


def _asked(vector: Vectors, kind: str) -> Codes | Vectors:
    """Return a query in bits, or in whole numbers whose products with codes have exact sums."""
    if kind == "binary":
        bits: Codes = _codes(vector[None], kind)[0]
        return bits
    whole: Vectors = np.rint(vector * np.float32(LARGEST_SUM / _scale(len(vector))))
    return whole


def _closeness(codes: Codes, asked: Codes | Vectors) -> NDArray[np.float32]:
    """Return how near each of *codes* is to a query; only their order means something."""
    if codes.dtype == np.uint8:
        apart = np.bitwise_count(codes ^ asked.astype(np.uint8)).sum(axis=1, dtype=np.int32)
        closeness: NDArray[np.float32] = -apart.astype(np.float32)
        return closeness
    near: NDArray[np.float32] = codes.astype(np.float32) @ asked.astype(np.float32)
    return near
