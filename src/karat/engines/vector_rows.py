"""Tables of vectors that a dense stage searches: in memory, or in a file with small codes."""

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from karat.engines.fusion import Scores
from karat.engines.nearest import (
    APPROXIMATE_ABOVE,
    ExactIndex,
    HnswIndex,
    Mask,
    Nearest,
    Vectors,
    products,
    recall,
    rescore,
)
from karat.errors import InputError, MissingExtra

Codes = NDArray[np.int8] | NDArray[np.uint8]

# How vectors are held: all in memory; in a file; in a file with codes of a quarter or of a 32nd.
VECTORS = ("float32", "mapped", "int8", "binary")
# Rows that are scored again with their exact vectors, and all that are as near as the last of them;
# the others count as not found.
CANDIDATES = 1_000
# Rows whose codes are unpacked, or whose vectors are read, at a time.
CODE_BLOCK = 1 << 14
# Rows to request from a graph or a store: more than any user reads, and still some milliseconds.
MOST_NEAREST = 1_000
# The recall is measured by so many rows as queries, each for so many nearest rows.
PROBES = 50
PROBE_DEPTH = 10
LARGEST = 127
# Numbers of a unit vector beyond this many standard deviations are cut to the largest code.
SPREAD = 4.0
# Sums of whole numbers up to here are exact in single precision, in whatever order.
LARGEST_SUM = 1 << 23


def check_vectors(vectors: str) -> str:
    """Return *vectors* if it is one of :data:`VECTORS`."""
    if vectors not in VECTORS:
        raise InputError(f"vectors {vectors!r} is not valid; expected one of: {', '.join(VECTORS)}")
    return vectors


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


class VectorTable(VectorRows):
    """Rows in memory.

    Up to *approximate_above* rows each product is computed, and does not depend on the rows beside
    it. Beyond, where the extra ``hnsw`` is installed, a graph finds the nearest rows and the others
    count 0. Rows added since the graph was built are compared one by one, until they too are so
    many.

    >>> table = VectorTable()
    >>> table.extend(np.array([[1, 0], [0.6, 0.8]], np.float32))
    >>> table.products(np.array([0, 1], np.float32)).tolist()
    [0.0, 0.800000011920929]
    """

    def __init__(self, *, approximate_above: int = APPROXIMATE_ABOVE) -> None:
        """Start with no rows."""
        self._buffer: Vectors = np.empty((0, 0), np.float32)
        self._length = 0
        self._above = approximate_above
        self._graph: HnswIndex | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._length

    @property
    def rows(self) -> Vectors:
        """Return all rows, without a copy."""
        return self._buffer[: self._length]

    @property
    def nbytes(self) -> int:
        """Return the bytes of all rows."""
        return self.rows.nbytes

    @property
    def _covered(self) -> int:
        return 0 if self._graph is None else len(self._graph)

    def add(
        self, texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors], *, left: int
    ) -> int:
        """Embed *texts*, and append their rows; memory for *left* rows is taken at once."""
        rows = embed(texts)
        self._reserve(left, rows.shape[1])
        self.extend(rows)
        return len(texts)

    def _reserve(self, count: int, dimension: int) -> None:
        """Make room for *count* more rows, and no more."""
        if self._length + count > len(self._buffer):
            longer = np.empty((self._length + count, dimension), np.float32)
            if self._length:
                longer[: self._length] = self.rows
            self._buffer = longer

    def extend(self, rows: Vectors) -> None:
        """Append *rows*."""
        length = self._length + len(rows)
        if length > len(self._buffer):
            # Twice as long each time: a row is copied once on average, however many steps.
            self._reserve(max(len(rows), self._length), rows.shape[1])
        self._buffer[self._length : length] = rows
        self._length = length

    def prepare(self, live: Mask | None = None) -> None:  # noqa: ARG002 - all are ready
        """Build the graph if there are too many rows without one."""
        if self._length - self._covered > self._above:
            try:
                self._graph = HnswIndex(self.rows)
            except MissingExtra:
                return
            self.__dict__.pop("recall", None)

    def products(self, vector: Vectors, live: Mask | None = None) -> Scores:
        """Return the product of every row with *vector*; below 0, or not found, is 0.

        A graph returns rows of *live* only.
        """
        covered = self._covered
        scores: Scores = np.zeros(self._length, np.float32)
        if self._graph is not None:
            near = self._graph.search(
                vector, MOST_NEAREST, live=None if live is None else live[:covered]
            )
            scores[near.rows] = near.scores
        scores[covered:] = products(self.rows[covered:], vector)
        return np.maximum(scores, np.float32(0), out=scores)

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
