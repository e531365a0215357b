"""Read rows of blank-separated fields in blocks, for runs and judgments of TREC.

A block is split once as a whole; only where its lines do not all have the expected number of
fields (comments, blank lines, junk after the last field) is it split line by line.
"""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.errors import FormatError
from karat.formats.source import UTF8_MARK, Problems, decode, open_bytes, refuse_utf16

__all__ = [
    "NO_TAG",
    "WITHOUT_TAG",
    "TrecColumns",
    "blocks",
    "decode_ids",
    "first_row",
    "numbers",
    "split_rows",
    "writable_id",
]

BLOCK_BYTES = 1 << 20
END = b"\0"
COMMENTS = 1_000
# A line of a run without its last field, which other tools leave out and trec_eval refuses.
WITHOUT_TAG = 5
NO_TAG = (
    "no run tag; expected query Q0 document rank score tag; to add one: "
    """awk '{print $0, "mine"}' a.run > b.run"""
)


class TrecColumns(NamedTuple):
    """The wanted columns of some lines, and the number of each line."""

    lines: Sequence[int]
    columns: list[list[bytes]]


def blocks(path: str | os.PathLike[str], size: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
    """Yield the number of the first line and the bytes of successive whole-line blocks."""
    line = 1
    rest = b""
    with open_bytes(path) as stream:
        start = True
        while data := stream.read(size):
            if start:
                refuse_utf16(data, os.fspath(path))
                data = data.removeprefix(UTF8_MARK)
                start = False
            cut = data.rfind(b"\n") + 1
            if not cut:
                rest += data
                continue
            block = rest + data[:cut]
            yield line, block
            line += block.count(b"\n")
            rest = data[cut:]
    if rest:
        yield line, rest + b"\n"


def split_rows(
    block: bytes, line: int, *, width: int, want: Sequence[int], problems: Problems, longer: bool
) -> TrecColumns:
    r"""Return the columns *want* of a block whose lines have *width* fields.

    Blanks, tabs and carriage returns separate, as for C's ``isspace``; a line that starts with
    ``#`` is a comment. With *longer* further fields are junk to ignore, as trec_eval does.

    >>> split_rows(b"q1 0 d1 1\nq1\t0  d2 0\r\n", 1, width=4, want=(0, 2), problems=Problems("x"),
    ...            longer=False).columns
    [[b'q1', b'q1'], [b'd1', b'd2']]
    """
    if END not in block and not block.startswith(b"#") and b"\n#" not in block:
        count = block.count(b"\n")
        # A mark for each line end survives the split and proves that every line has its fields.
        fields = block.replace(b"\n", b" \0 ").split()
        step = width + 1
        if len(fields) == count * step and fields[width::step] == [END] * count:
            return TrecColumns(range(line, line + count), [fields[index::step] for index in want])
    return _split_lines(block, line, width=width, want=want, problems=problems, longer=longer)


def decode_ids(ids: list[bytes], lines: Sequence[int], problems: Problems) -> list[str]:
    """Return *ids* as text; bytes that are not UTF-8 are noted with their lines."""
    if not ids:
        return []
    try:
        return b"\n".join(ids).decode().split("\n")
    except UnicodeDecodeError:
        for name, line in zip(ids, lines, strict=True):
            try:
                decode(name, problems.source, line=line)
            except FormatError as error:
                problems.found.extend(error.problems)
        return [name.decode(errors="replace") for name in ids]


def numbers(words: list[bytes], lines: Sequence[int], what: str, problems: Problems) -> list[float]:
    """Return *words* as finite numbers; any other word is a problem with its line."""
    try:
        values = list(map(float, words))
    except ValueError:
        values = []
    # One sum finds any NaN or infinity; Python alone would read 1_0 as 10.
    if len(values) == len(words) and abs(sum(values)) < 1e308 and b"_" not in b"".join(words):
        return values
    checked = []
    for word, line in zip(words, lines, strict=True):
        value = _finite(word)
        if value is None:
            problems.add(line, f"{what} {word.decode(errors='replace')!r} is not a finite number")
        checked.append(value or 0.0)
    return checked


def first_row(head: bytes) -> list[bytes]:
    """Return the fields of the first row if it looks like TREC's, else nothing.

    Both formats have a number as fourth field: a grade, perhaps with a fraction, or a rank. JSON
    and Parquet files have no rows.
    """
    if head.lstrip().startswith((b"{", b"[", b"PAR1")):
        return []
    for line in head.split(b"\n", COMMENTS)[:COMMENTS]:
        if line.strip() and not line.startswith(b"#"):
            fields = line.split()
            return fields if fields[3:] and _finite(fields[3]) is not None else []
    return []


def writable_id(name: str) -> bool:
    """Return whether *name* can stand in a blank-separated file."""
    encoded = name.encode()
    return encoded.split() == [encoded] and END not in encoded and not name.startswith("#")


def _split_lines(
    block: bytes, line: int, *, width: int, want: Sequence[int], problems: Problems, longer: bool
) -> TrecColumns:
    lines: list[int] = []
    columns: list[list[bytes]] = [[] for _ in want]
    for number, row in enumerate(block.split(b"\n"), line):
        if row.startswith(b"#"):
            continue
        fields = row.split()
        if not fields:
            continue
        if END in row:
            problems.add(number, "a NUL byte; expected text")
        elif len(fields) == WITHOUT_TAG and width == WITHOUT_TAG + 1:
            problems.add(number, NO_TAG)
        elif len(fields) < width or (len(fields) > width and not longer):
            problems.add(number, f"{len(fields)} fields; expected {width}")
        else:
            lines.append(number)
            for column, index in zip(columns, want, strict=True):
                column.append(fields[index])
    return TrecColumns(lines, columns)


def _finite(word: bytes) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    # NaN and infinity leave a remainder that is not 0.
    return value if value - value == 0 and b"_" not in word else None
