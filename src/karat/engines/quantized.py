"""Vectors in a file, found by small codes in memory and scored again exactly."""

import tempfile
from functools import cached_property
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from karat.engines.fusion import Scores
from karat.engines.nearest import ExactIndex, Mask, Nearest, products, recall, rescore
from karat.errors import InputError

__all__ = ["VECTORS", "FileVectors", "check_vectors"]

Vectors = NDArray[np.float32]
Codes = NDArray[np.int8] | NDArray[np.uint8]

# How vectors are held: all in memory; in a file; in a file with codes of a quarter or of a 32nd.
VECTORS = ("float32", "mapped", "int8", "binary")
# Rows that are scored again with their exact vectors, and all that are as near as the last of them;
# the others count as not found.
CANDIDATES = 1_000
# Rows whose codes are unpacked, or whose vectors are read, at a time.
BLOCK = 1 << 14
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


class FileVectors:
    """Rows of one *dimension* in a temporary file, which is mapped into memory.

    With the *kind* ``mapped`` every row is compared, as exactly as in memory. With ``int8`` and
    ``binary`` codes in memory find candidates, which are then compared exactly; other rows count 0.

    >>> table = FileVectors(2, kind="int8")
    >>> table.extend(np.array([[1, 0], [0.6, 0.8]], np.float32))
    >>> table.prepare()
    >>> table.products(np.array([0, 1], np.float32)).tolist()
    [0.0, 0.800000011920929]
    """

    def __init__(self, dimension: int, *, kind: str, candidates: int = CANDIDATES) -> None:
        """Start with no rows."""
        self._kind = kind
        self._candidates = candidates
        self._dimension = dimension
        self._length = 0
        self._file = tempfile.TemporaryFile(prefix="karat-vectors-")  # noqa: SIM115 - kept open
        finalize(self, self._file.close)
        self._new: list[Codes] = []
        self._codes: Codes = _codes(np.empty((0, dimension), np.float32), kind)
        self.rows: Vectors = np.empty((0, dimension), np.float32)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._length

    @property
    def nbytes(self) -> int:
        """Return the bytes of the codes, and of the file."""
        return self._codes.nbytes + self.rows.nbytes

    def reserve(self, count: int) -> None:
        """Do nothing: a file grows by itself."""

    def extend(self, rows: Vectors) -> None:
        """Append *rows*; they are found after ``prepare``."""
        rows = np.ascontiguousarray(rows, np.float32)
        self._file.seek(0, 2)
        self._file.write(rows.tobytes())
        self._length += len(rows)
        if self._kind != "mapped":
            self._new.append(_codes(rows, self._kind))

    def prepare(self) -> None:
        """Map what was added."""
        if len(self.rows) == self._length:
            return
        self._file.flush()
        self.rows = np.memmap(
            self._file, np.float32, mode="r", shape=(self._length, self._dimension)
        )
        if self._new:
            self._codes = np.concatenate([self._codes, *self._new])
            self._new = []
        self.__dict__.pop("recall", None)

    def products(self, vector: Vectors, live: Mask | None = None) -> Scores:
        """Return the product of every row with *vector*; below 0, or not found, is 0."""
        if self._kind == "mapped":
            exact: Scores = products(self.rows, vector)
            return np.maximum(exact, np.float32(0), out=exact)
        near = self._near(vector, live)
        scores: Scores = np.zeros(self._length, np.float32)
        for start in range(0, len(near), BLOCK):
            block = near[start : start + BLOCK]
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
                _closeness(self._codes[rows[start : start + BLOCK]], asked)
                for start in range(0, len(rows), BLOCK)
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
