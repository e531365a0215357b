"""Rows with named columns from any container: CSV, TSV, JSON, JSON lines and Parquet.

The formats of other tools are tables that people store in whichever container they have. A reader
asks for the rows here and looks only at the names of the columns.

In CSV, a text cell whose first character could start a formula (``= + - @``, tab, carriage return,
NUL) is written with an apostrophe before it, and so is one that already begins with apostrophes
before such a character. Reading takes one apostrophe away again, so nothing changes on a round
trip.
"""

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from karat.errors import FormatError, Problem
from karat.formats.base import ReadLimits, ReadOptions
from karat.formats.jsontext import TOKEN, parse_json, positions
from karat.formats.source import Problems, open_bytes, read_text
from karat.model.frozen import repeated
from karat.system.tables import PARQUET, polars, read_frame

RISKY = re.compile(r"'*[=+\-@\t\r\0]")
GUARDED = re.compile(r"'+[=+\-@\t\r\0]")
# In the order in which they are tried; the one that gives most columns wins.
DELIMITERS = (",", ";", "\t", "|")
SEP_LINE = re.compile(r"sep=(.)")
# Longer JSON is read without line numbers: finding them takes longer than all else.
MOST_LOCATED = 2_000_000
CSV_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


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
    path: str | os.PathLike[str],
    *,
    limit: int,
    setting: str = "csv_bytes",
    any_delimiter: bool = False,
) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and unguarded cells of each row that is not blank; header included.

    Cells are separated by commas; with *any_delimiter*, by the one of DELIMITERS in the header.
    """
    text = read_text(path, limit=limit, setting=setting)
    delimiter, text = _delimited(text) if any_delimiter else (",", text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
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


class TableRow(NamedTuple):
    """One row: its line in the file (0 in Parquet), its number from 1, and its cells by column."""

    line: int
    number: int
    cells: Mapping[str, object]


class SourceTable(NamedTuple):
    """The columns and rows of one file; *line* is that of the header, *delimiter* of CSV alone."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    line: int = 0
    delimiter: str = ""


def head_columns(path: str, head: bytes) -> frozenset[str]:
    """Return the names of the columns of a file that begins with *head*; empty if it has none.

    JSON gives the keys of its first object, of which only a part may be within *head*.
    """
    return frozenset(columns_of(path)) if head.startswith(PARQUET) else _text_columns(head)


# Several formats ask about the same file.
@lru_cache(maxsize=2)
def _text_columns(head: bytes) -> frozenset[str]:
    text = head.decode(errors="replace").lstrip()
    if text.startswith(("{", "[")):
        return frozenset(_first_keys(text))
    line = text.partition("\n")[0].rstrip("\r")
    delimiter = max(DELIMITERS, key=lambda mark: len(_cells(line, mark)))
    return frozenset(_cells(line, delimiter))


def read_table(path: Path, options: ReadOptions) -> SourceTable:
    """Return the rows of *path*; all malformed rows are reported at once."""
    with open_bytes(path) as stream:
        packed = stream.read(len(PARQUET)) == PARQUET
    if packed:
        return _from_parquet(path)
    limits = options.limits
    limit, setting = _limit(path, limits)
    text = read_text(path, limit=limit, setting=setting)
    start = text.lstrip()[:1]
    if start == "[" or (start == "{" and not _is_json_lines(text)):
        return _from_json(path, text)
    return _from_json_lines(path, text) if start == "{" else _from_csv(path, text)


def columns_of(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the columns of a Parquet file; none if it cannot be read or polars is missing."""
    try:
        return tuple(polars().read_parquet_schema(path))
    except Exception:  # noqa: BLE001 - detection never fails; the reader reports the problem
        return ()


def text_of(value: object) -> str:
    """Return a cell as text; a whole number has no point, nothing is an empty text.

    >>> text_of(3.0), text_of("a"), text_of(None)
    ('3', 'a', '')
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value)


def texts_of(value: object) -> list[str]:
    """Return the texts of a cell that is a list, or text that spells one in JSON or Python.

    >>> texts_of(["a", "b"]), texts_of('["a", "b"]'), texts_of("['a', 'b']"), texts_of("a")
    (['a', 'b'], ['a', 'b'], ['a', 'b'], ['a'])
    """
    if isinstance(value, str):
        spelled = value.strip()
        if spelled.startswith("[") and spelled.endswith("]"):
            value = _literal(spelled)
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        return [text_of(item) for item in value if text_of(item).strip()]
    return [text] if (text := text_of(value)).strip() else []


def _literal(text: str) -> object:
    """Return the list that *text* spells; the text itself if it spells none."""
    import ast

    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text
    return value if isinstance(value, list) else text


def _limit(path: Path, limits: ReadLimits) -> tuple[int, str]:
    if path.name.lower().endswith(CSV_SUFFIXES):
        return limits.csv_bytes, "csv_bytes"
    return limits.json_bytes, "json_bytes"


def _first_keys(text: str) -> Iterator[str]:
    """Yield the keys of the first object in *text*, which may be cut off."""
    depth = 0
    lists = 0
    words = iter(TOKEN.finditer(text))
    last = ""
    for match in words:
        word = match.group()
        if word in "{[":
            depth += 1
            lists += word == "[" and depth == 1
        elif word in "}]":
            depth -= 1
            if word == "}" and depth == lists:
                return
        elif word == ":" and depth == lists + 1 and last.startswith('"'):
            try:
                yield json.loads(last)
            except ValueError:
                return
        last = word


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def _delimited(text: str) -> tuple[str, str]:
    """Return the delimiter of CSV *text*, and the text without a line that declares it."""
    header_line = next(line for line in text.split("\n") if line.strip()).rstrip("\r")
    if declared := SEP_LINE.fullmatch(header_line):
        # Excel writes the delimiter into the first line.
        return declared[1], text.replace(header_line, "", 1)
    return max(DELIMITERS, key=lambda mark: len(_cells(header_line, mark))), text


def _is_json_lines(text: str) -> bool:
    """Return whether the first line that is not blank is an object, and another one follows."""
    first, _, rest = text.strip().partition("\n")
    try:
        return isinstance(json.loads(first), dict) and rest.lstrip().startswith("{")
    except (ValueError, RecursionError):
        return False


def _from_json(path: Path, text: str) -> SourceTable:
    value = parse_json(text, os.fspath(path))
    lines = positions(text) if len(text) < MOST_LOCATED else {}
    location: tuple[str | int, ...] = ()
    if isinstance(value, dict):
        lists = [key for key, item in value.items() if _is_rows(item)]
        location, value = ((lists[0],), value[lists[0]]) if len(lists) == 1 else ((), [value])
    problems = Problems(path)
    rows = []
    for number, item in enumerate(value if isinstance(value, list) else [], 1):
        line = lines.get((*location, number - 1), lines.get((), 0))
        if isinstance(item, dict):
            rows.append(TableRow(line, number, item))
        else:
            problems.add(line, f"row {number} is not an object")
    return _checked(problems, rows)


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _from_json_lines(path: Path, text: str) -> SourceTable:
    problems = Problems(path)
    rows: list[TableRow] = []
    for line, content in enumerate(text.split("\n"), 1):
        if not content.strip():
            continue
        try:
            item = parse_json(content, problems.source, line=line)
        except FormatError as error:
            problems.extend(error.problems)
            continue
        if isinstance(item, dict):
            rows.append(TableRow(line, len(rows) + 1, item))
        else:
            problems.add(line, "expected an object on each line")
    return _checked(problems, rows)


def _checked(problems: Problems, rows: Sequence[TableRow]) -> SourceTable:
    if not rows and not problems:
        problems.add(0, "no row in the file")
    problems.finish()
    names = dict.fromkeys(name for row in rows for name in row.cells)
    return SourceTable(tuple(names), tuple(rows))


def _from_parquet(path: Path) -> SourceTable:
    frame = read_frame(path)
    rows = tuple(
        TableRow(0, number, cells) for number, cells in enumerate(frame.iter_rows(named=True), 1)
    )
    if not rows:
        raise FormatError([Problem(str(path), 0, "no row in the file")])
    return SourceTable(tuple(frame.columns), rows)


def _from_csv(path: Path, text: str) -> SourceTable:
    problems = Problems(path)
    delimiter, text = _delimited(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: list[str] = []
    rows: list[TableRow] = []
    line = header = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            problems.add(line, f"not CSV: {error}")
            break
        if not any(cell.strip() for cell in cells):
            pass
        elif not columns:
            columns, header = [cell.strip() for cell in cells], line
        elif len(cells) > len(columns) and any(cell.strip() for cell in cells[len(columns) :]):
            problems.add(
                line,
                f"{len(cells)} cells; expected {len(columns)}, as in the header; put quotation "
                f"marks around a text that contains {delimiter!r}",
            )
        else:
            # Spreadsheets leave out empty cells at the end of a row.
            padded = [*map(unguard, cells), *[""] * (len(columns) - len(cells))]
            named = dict(zip(columns, padded, strict=False))
            rows.append(TableRow(line, len(rows) + 1, named))
        line = reader.line_num + 1
    for name in repeated(name for name in columns if name):
        problems.add(header, f"column {name!r} appears twice")
    if not rows and not problems:
        problems.add(header, "no row after the header")
    problems.finish()
    return SourceTable(tuple(name for name in columns if name), tuple(rows), header, delimiter)
