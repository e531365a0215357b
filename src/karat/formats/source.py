"""Bytes and text of a file: plain or gzip, within a limit, UTF-8 or UTF-16 with a mark."""

import os
from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from typing import BinaryIO, cast

from karat.errors import FormatError, InputError, LimitExceeded, Problem

GZIP = b"\x1f\x8b"
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
HEAD_BYTES = 65_536
# Bytes needed to distinguish UTF-16 from text with a stray NUL.
UTF16_BYTES = 8
PROBLEMS_KEPT = 10_000


class Problems:
    """The problems found in one source so far; a reader adds, then calls :meth:`finish`."""

    def __init__(
        self,
        source: str | os.PathLike[str],
        on_empty: Callable[[Problem], None] | None = None,
    ) -> None:
        """Start with none; *source* is named in each message. *on_empty*: see ReadOptions."""
        self.source = os.fspath(source)
        self._on_empty = on_empty
        self._problems: list[Problem] = []

    def __len__(self) -> int:
        """Return how many were found."""
        return len(self._problems)

    def add(self, line: int, message: str) -> None:
        """Record *message* at *line*; problems past ten thousand are dropped."""
        if len(self._problems) < PROBLEMS_KEPT:
            self._problems.append(Problem(self.source, line, message))

    def add_empty(self, line: int, message: str) -> None:
        """Record that a row has no query, or tell who lets it be left out."""
        if self._on_empty:
            self._on_empty(Problem(self.source, line, message))
        else:
            self.add(line, message)

    def extend(self, problems: Iterable[Problem]) -> None:
        """Record problems that another reader reported."""
        self._problems.extend(problems)

    def finish(self) -> None:
        """Raise FormatError, by line, if anything was found."""
        if self._problems:
            raise FormatError(sorted(self._problems, key=lambda problem: problem.line))


def open_bytes(path: str | os.PathLike[str]) -> BinaryIO:
    """Open *path* for reading bytes, decompressed when it starts with gzip's magic number."""
    try:
        stream = open(path, "rb")  # noqa: PTH123, SIM115 - without pathlib; the caller closes it
    except IsADirectoryError:
        raise InputError(f"{os.fspath(path)}: is a folder; expected a file") from None
    except FileNotFoundError:
        raise InputError(f"{os.fspath(path)}: no such file") from None
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
    if not stream.seekable():
        stream.close()
        message = "is a pipe, which can be read only once; write it to a file first"
        raise InputError(f"{os.fspath(path)}: {message}")
    if not stream.read(2).startswith(GZIP):
        stream.seek(0)
        return stream
    stream.close()
    from gzip import GzipFile

    return cast("BinaryIO", GzipFile(path, "rb"))


def head_of(path: str | os.PathLike[str]) -> bytes:
    """Return the first bytes of a file as UTF-8 without a mark, or nothing for a folder."""
    if os.path.isdir(path):  # noqa: PTH112 - without pathlib
        return b""
    head = b"".join(_guarded(path, HEAD_BYTES))
    if head.startswith(UTF16_MARKS):
        return head.decode("utf-16", errors="ignore").encode()
    refuse_utf16(head, os.fspath(path))
    return head.removeprefix(UTF8_MARK)


def read_text(path: str | os.PathLike[str], *, limit: int, setting: str) -> str:
    """Return the text of *path*; above *limit* bytes raise LimitExceeded with the *setting*."""
    source = os.fspath(path)
    # Check the size on disk first, so that a file that is too large is not read.
    packed = os.stat(path).st_size if os.path.isfile(path) else 0  # noqa: PTH113, PTH116
    data = b"" if packed > limit else b"".join(_guarded(path, limit + 1))
    if packed > limit or len(data) > limit:
        raise LimitExceeded(f"{source}: larger than {limit:,} bytes (setting {setting})")
    if not data.removeprefix(UTF8_MARK).strip():
        raise FormatError([Problem(source, 0, "the file is empty")])
    return decode(data, source)


def refuse_utf16(head: bytes, source: str) -> None:
    """Raise one FormatError if a file that starts with *head* is UTF-16.

    Without a byte-order mark, every second byte of English text is NUL.
    """
    halves = head[:UTF16_BYTES:2], head[1:UTF16_BYTES:2]
    unmarked = any(half and not half.strip(b"\0") for half in halves)
    if head.startswith(UTF16_MARKS) or (unmarked and halves[0] != halves[1]):
        message = "the file is UTF-16; expected UTF-8: convert it with iconv -f UTF-16 -t UTF-8"
        raise FormatError([Problem(source, 0, message)])


def decode(data: bytes, source: str, *, line: int = 1) -> str:
    """Return UTF-8 *data* as text; a bad byte is named with its offset and its line.

    UTF-16 with a byte-order mark, as spreadsheets export it, is decoded too. *line* is the number
    of the first line in *data*.
    """
    if data.startswith(UTF16_MARKS):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as error:
            message = f"the file has a UTF-16 mark, but byte {error.start + 1} is not UTF-16"
            raise FormatError([Problem(source, 0, message)]) from None
    refuse_utf16(data, source)
    try:
        return data.removeprefix(UTF8_MARK).decode()
    except UnicodeDecodeError:
        body = data.removeprefix(UTF8_MARK)
        problems = Problems(source)
        for number, row in enumerate(body.split(b"\n"), line):
            try:
                row.decode()
            except UnicodeDecodeError as error:
                byte = row[error.start]
                column = error.start + 1
                problems.add(number, f"byte 0x{byte:02x} at column {column} is not UTF-8")
        problems.finish()
        raise


def _guarded(path: str | os.PathLike[str], size: int) -> Iterator[bytes]:
    """Yield up to *size* bytes; a broken gzip file becomes a FormatError."""
    with open_bytes(path) as stream:
        try:
            yield stream.read(size)
        except (EOFError, OSError) as error:
            message = f"cannot be decompressed: {error}"
            raise FormatError([Problem(os.fspath(path), 0, message)]) from error


def parse_amount(text: str) -> float | None:
    """Return *text* as a finite number of 0 or more; None for any other text.

    >>> [parse_amount(text) for text in ("2", " 0.5 ", "-1", "nan", "1_0", "x")]
    [2.0, 0.5, None, None, None, None]
    """
    try:
        value = float(text)
    except ValueError:
        return None
    # Python alone would read 1_0 as 10.
    return value if isfinite(value) and value >= 0 and "_" not in text else None


def number_text(value: float) -> str:
    """Return *value* so that it reads back exactly, a whole number without a point.

    >>> number_text(2.0), number_text(0.1)
    ('2', '0.1')
    """
    return str(int(value)) if value.is_integer() else repr(value)
