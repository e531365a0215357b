"""Arrays of scores, random draws with a seed, and the number of threads for linear algebra."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.errors import InputError

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Scores that agree in twelve digits differ only by rounding.
TIE = 1e-12


def as_columns(values: ArrayLike) -> FloatArray:
    """Return *values* as ``[query, column]``; a flat list is one column.

    Raise InputError for other shapes and for infinite numbers.

    >>> as_columns([0.5, 1.0]).shape
    (2, 1)
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(f"scores have {array.ndim} axes; expected [query] or [query, column]")
    if np.isinf(array).any():
        raise InputError("scores contain an infinite number; expected finite numbers, or NaN")
    return array


def drop_missing(values: ArrayLike) -> FloatArray:
    """Return the numbers of one column that are not NaN.

    >>> drop_missing([0.5, float("nan")]).tolist()
    [0.5]
    """
    column = as_columns(values)
    if column.shape[1] != 1:
        raise InputError(f"got {column.shape[1]} columns of scores; expected one")
    flat = column[:, 0]
    return flat[~np.isnan(flat)]


def paired_differences(system: FloatArray, baseline: FloatArray) -> FloatArray:
    """Return system - baseline; 0 if they agree to twelve digits, NaN if either is missing.

    >>> paired_differences(np.array([0.1 + 0.2, 1.0]), np.array([0.3, 0.5])).tolist()
    [0.0, 0.5]
    """
    difference = system - baseline
    noise = TIE * np.maximum(np.abs(system), np.abs(baseline))
    return np.where(np.abs(difference) <= noise, 0.0, difference)


def cluster_codes(clusters: ArrayLike, queries: int) -> IntArray:
    """Return the cluster of each query as numbers from 0, without gaps.

    >>> cluster_codes(["flask", "click", "flask"], 3).tolist()
    [1, 0, 1]
    """
    labels = np.asarray(clusters)
    if labels.shape != (queries,):
        raise InputError(f"clusters have shape {labels.shape}; expected one per query, {queries}")
    _, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64)


def cluster_sums(columns: FloatArray, codes: IntArray) -> FloatArray:
    """Return ``[cluster, column]``: the sum of each column over the queries of each cluster.

    Added one by one and not as a matrix product, whose last digit may depend on the threads.

    >>> cluster_sums(np.array([[1.0], [2.0], [4.0]]), np.array([1, 0, 1])).tolist()
    [[2.0], [5.0]]
    """
    clusters = int(codes.max(initial=-1)) + 1
    sums = np.zeros((clusters, columns.shape[1]))
    np.add.at(sums, codes, columns)
    return sums


@cache
def _blas() -> "ThreadpoolController":
    """Return the controller of the libraries behind numpy's matrix products."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


# Held by the call that set the limit.
_LIMIT = Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit matrix products to one thread, and restore the previous number.

    Use it as a context manager or as a decorator. The limit applies to the process, and only the
    thread that set it can restore it: of overlapping calls in several threads the first does both,
    and the others do nothing. A BLAS without such a setting is not changed.
    """
    if not _LIMIT.acquire(blocking=False):
        yield
        return
    try:
        with _blas().limit(limits=1):
            yield
    finally:
        _LIMIT.release()


# Numbers per block: 32 Ki doubles are 256 KB, which fit a second-level cache. With many queries a
# block still has enough rows for the matrix product, but is never beyond 32 MB.
BLOCK = 2**15
BLOCK_ROWS = 128
LARGEST_BLOCK = 2**22


def generator(seed: int) -> np.random.Generator:
    """Return the generator of all statistics: Philox, the same stream on every machine."""
    return np.random.Generator(np.random.Philox(seed))


def check_draws(draws: int) -> None:
    """Raise InputError unless *draws* suffice for a 95 % interval."""
    if draws < 99:
        raise InputError(
            f"draws is {draws}, too few for an interval or a test; expected 99 or more"
        )


def block_rows(width: int) -> int:
    """Return how many draws of *width* numbers fit in a block."""
    width = max(width, 1)
    return max(BLOCK // width, min(BLOCK_ROWS, LARGEST_BLOCK // width), 1)


def random_flips(rng: np.random.Generator, *, draws: int, width: int) -> Iterator[FloatArray]:
    """Yield blocks ``[draw, query]`` of fair coins, 0.0 or 1.0, *draws* rows in total."""
    words = -(-width // 64)
    rows = block_rows(width)
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        raw = rng.bit_generator.random_raw(count * words).astype("<u8")
        bits = np.unpackbits(raw.view(np.uint8).reshape(count, words * 8), axis=1, count=width)
        yield bits.astype(np.float64)


def every_flip(width: int) -> FloatArray:
    """Return all sign patterns of *width* queries as ``[pattern, query]``, up to a global sign.

    The sign of the last query is fixed: the mirrored half gives the same absolute sums.

    >>> every_flip(2).tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    patterns = np.arange(2 ** (width - 1))[:, None]
    bits = (patterns >> np.arange(width)) & 1
    bits[:, -1] = 1
    return bits.astype(np.float64)


def resample_counts(rng: np.random.Generator, *, draws: int, width: int) -> Iterator[FloatArray]:
    """Yield blocks ``[draw, query]``: how often each query is in a resample of *width* queries."""
    rows = block_rows(width)
    # The smallest type for a query number: half the random bits, twice the speed.
    kind = np.uint16 if width <= 2**16 else np.uint32
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        picks = rng.integers(0, width, size=(count, width), dtype=kind)
        cells = picks + np.arange(0, count * width, width)[:, None]
        counts = np.bincount(cells.ravel(), minlength=count * width)
        yield counts.reshape(count, width).astype(np.float64)
