"""Seeded random numbers: sign flips and bootstrap counts, in blocks that fit the CPU cache."""

from collections.abc import Iterator

import numpy as np

from karat.errors import InputError
from karat.scoring.stats.arrays import FloatArray

__all__ = ["check_draws", "every_flip", "generator", "random_flips", "resample_counts"]

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
            f"{draws} draws are too few for an interval or a test; expected 99 or more"
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
        places = picks + np.arange(0, count * width, width)[:, None]
        counts = np.bincount(places.ravel(), minlength=count * width)
        yield counts.reshape(count, width).astype(np.float64)
