"""Strict CSV with line numbers, and the guard that keeps a spreadsheet from running a cell.

A text cell whose first character could start a formula (``= + - @``, tab, carriage return, NUL)
is written with an apostrophe before it, and so is one that already begins with apostrophes before
such a character. Reading takes one apostrophe away again, so nothing changes on a round trip.
"""

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence

from karat.errors import FormatError, Problem
from karat.formats.source import read_text

__all__ = ["guard", "read_rows", "render_rows", "unguard"]

RISKY = re.compile(r"'*[=+\-@\t\r\0]")
GUARDED = re.compile(r"'+[=+\-@\t\r\0]")


def guard(cell: str) -> str:
    """Return *cell* so that no spreadsheet takes it for a formula.

    >>> guard("=1+2"), guard("auth.py"), unguard(guard("=1+2"))
    ("'=1+2", 'auth.py', '=1+2')
    """
    return f"'{cell}" if RISKY.match(cell) else cell


def unguard(cell: str) -> str:
    """Undo :func:`guard`."""
    return cell[1:] if GUARDED.match(cell) else cell


def read_rows(
    path: str | os.PathLike[str], *, limit: int, setting: str = "csv_bytes"
) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and unguarded cells of each row that is not blank; header included."""
    text = read_text(path, limit=limit, setting=setting)
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise FormatError([Problem(os.fspath(path), line, f"not CSV: {error}")]) from None
        if row:
            yield line, [unguard(cell) for cell in row]
        line = rows.line_num + 1


def render_rows(rows: Iterable[Sequence[str | float | None]]) -> str:
    """Return *rows* as RFC 4180 text; text is guarded, numbers are not, None is empty."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    for row in rows:
        writer.writerow([guard(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()
