"""Columns of numbers and words, in files that all processes of a machine map into memory."""

import json
import mmap
import os
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import BinaryIO, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from karat.system.files import replacing
from karat.system.sqlite import DAY_S

# Arrays of one dimension by name.
Columns: TypeAlias = Mapping[str, NDArray[np.generic]]

MAGIC = b"karatcol"
# The magic bytes and the length of the description.
PREFIX_BYTES = 16
ALIGNMENT = 64
BLOCK_BYTES = 1 << 20
SUFFIX = ".columns"


class ColumnFolder:
    """Sets of columns by name, one file each, in *folder*.

    A file appears whole or not at all. A file that is damaged is removed. Above *max_bytes* the
    files that were used least recently are removed, but none that was used since the time
    *needed_since*. A process that has mapped a removed file can still read it.
    """

    def __init__(self, folder: Path, *, max_bytes: float, needed_since: float = inf) -> None:
        """Store the *folder*; nothing is created yet."""
        self._folder = folder
        self._max_bytes = max_bytes
        self._needed_since = needed_since

    def read(self, name: str) -> Columns | None:
        """Return the columns *name*, mapped and read-only; None if there are none."""
        path = self._path(name)
        try:
            with path.open("rb") as stream:
                columns = _mapped(stream)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError):
            with suppress(OSError):
                path.unlink()
            return None
        # The time of the last use.
        with suppress(OSError):
            os.utime(path)
        return columns

    def write(self, name: str, columns: Columns) -> None:
        """Store *columns* as *name*, and remove others if the folder is too large.

        Raises InputError or OSError if the folder cannot be written.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with replacing(self._path(name)) as stream:
            _write(stream, columns)
        self._evict()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{SUFFIX}"

    def _evict(self) -> None:
        files: list[tuple[float, int, Path]] = []
        for path in self._folder.iterdir():
            # Another process may remove it.
            with suppress(OSError):
                state = path.stat()
                if path.suffix == SUFFIX:
                    files.append((state.st_mtime, state.st_size, path))
                elif state.st_mtime < time.time() - DAY_S:
                    # The file of a process that was killed while writing.
                    path.unlink()
        excess = sum(size for _, size, _ in files) - self._max_bytes
        for used, size, path in sorted(files):
            if excess <= 0 or used >= self._needed_since:
                break
            with suppress(OSError):
                path.unlink()
                excess -= size


def _write(stream: BinaryIO, columns: Columns) -> None:
    described: dict[str, tuple[str, int, int, int]] = {}
    start = 0
    for name, column in columns.items():
        whole = np.ascontiguousarray(column)
        described[name] = (whole.dtype.str, len(whole), start, crc32(whole.data))
        start += _aligned(whole.nbytes)
    text = json.dumps(described).encode()
    text = text.ljust(_aligned(PREFIX_BYTES + len(text)) - PREFIX_BYTES)
    stream.write(MAGIC + len(text).to_bytes(8, "little") + text)
    for column in columns.values():
        stream.write(np.ascontiguousarray(column).data)
        stream.write(bytes(_aligned(column.nbytes) - column.nbytes))


def _mapped(stream: BinaryIO) -> Columns:
    """Return the columns of a file; ValueError or TypeError if it is damaged."""
    prefix = stream.read(PREFIX_BYTES)
    if prefix[: len(MAGIC)] != MAGIC:
        raise ValueError("not a column file")
    length = int.from_bytes(prefix[len(MAGIC) :], "little")
    if length > os.fstat(stream.fileno()).st_size:
        raise ValueError("the file is truncated")
    described = json.loads(stream.read(length))
    whole = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    columns: dict[str, NDArray[np.generic]] = {}
    for name, (kind, count, start, checksum) in described.items():
        offset = PREFIX_BYTES + length + start
        column = np.frombuffer(whole, np.dtype(kind), count, offset)
        if _checksum(stream, offset, column.nbytes) != checksum:
            raise ValueError(f"column {name} is damaged")
        columns[name] = column
    return columns


def _checksum(stream: BinaryIO, start: int, length: int) -> int:
    """Return the checksum of bytes of a file; reading leaves the mapped pages untouched."""
    stream.seek(start)
    checksum = 0
    while length > 0:
        block = stream.read(min(length, BLOCK_BYTES))
        if not block:
            raise ValueError("the file is truncated")
        checksum = crc32(block, checksum)
        length -= len(block)
    return checksum


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def prefixed(prefix: str, columns: Columns) -> Columns:
    """Return *columns* under longer names."""
    return {f"{prefix}.{name}": column for name, column in columns.items()}


def without_prefix(columns: Columns, prefix: str) -> Columns:
    """Return those of *columns* that :func:`prefixed` named, under their own names."""
    start = f"{prefix}."
    return {
        name.removeprefix(start): column
        for name, column in columns.items()
        if name.startswith(start)
    }


def word_columns(words: Iterable[str]) -> Columns:
    """Return the columns of a :class:`WordNumbers` of distinct *words*, numbered from 0."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    ends = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=ends[1:])
    order = sorted(range(len(encoded)), key=encoded.__getitem__)
    return {
        "text": np.frombuffer(b"".join(encoded), np.uint8),
        "ends": ends,
        "order": np.array(order, np.int32),
    }


class WordNumbers(Mapping[str, int]):
    """The numbers of words, found by binary search; it iterates in the order of the numbers.

    >>> table = WordNumbers(word_columns(["user", "name", "été"]))
    >>> table["name"], table.word(2), table.get("users"), list(table)
    (1, 'été', None, ['user', 'name', 'été'])
    """

    def __init__(self, columns: Columns) -> None:
        """Look at *columns*, which may be mapped."""
        # Memory views return plain numbers and bytes, faster than arrays do.
        self._text, self._ends, self._order = (
            columns[name].data for name in ("text", "ends", "order")
        )

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, word: str) -> int:
        encoded = word.encode("utf-8", "surrogatepass")
        position = bisect_left(self._order, encoded, key=self._bytes)
        if position < len(self) and self._bytes(number := self._order[position]) == encoded:
            return number
        raise KeyError(word)

    def __iter__(self) -> Iterator[str]:
        return map(self.word, range(len(self)))

    def word(self, number: int) -> str:
        """Return the word with this number."""
        return self._bytes(number).decode("utf-8", "surrogatepass")

    def _bytes(self, number: int) -> bytes:
        return bytes(self._text[self._ends[number] : self._ends[number + 1]])
