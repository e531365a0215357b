"""Click logs: queries and the results that users opened, as CSV or JSON lines."""

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import NamedTuple

from karat.errors import InputError
from karat.formats.base import DEFAULT
from karat.formats.csvtext import read_rows
from karat.formats.jsontext import parse
from karat.formats.source import Problems, read_text

__all__ = ["COLUMNS", "Click", "Log", "read_clicks"]

# Names of each column; the first one is Karat's.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "query": ("query", "q", "search_term", "query_text"),
    "path": ("path", "doc", "document", "clicked", "clicked_path", "doc_id", "url", "uri"),
    "rank": ("rank", "position"),
    "time": ("time", "timestamp"),
    "session": ("session", "session_id", "user", "user_id"),
    "dwell": ("dwell", "dwell_s", "dwell_seconds"),
}
REQUIRED = ("query", "path")


class Click(NamedTuple):
    """One line of a log; an empty path is a search without a click.

    *rank* is where the result stood (0: unknown), *time* in seconds since 1970, *dwell_s* how long
    the reader stayed; None where the log does not say.
    """

    query: str
    path: str
    session: str = ""
    rank: int = 0
    time: float | None = None
    dwell_s: float | None = None


class Log(NamedTuple):
    """The lines of a log, and which of the COLUMNS it has."""

    clicks: tuple[Click, ...]
    columns: frozenset[str]


def read_clicks(path: str | os.PathLike[str], *, columns: Mapping[str, str] | None = None) -> Log:
    """Return the clicks in *path*; *columns* names those that are called otherwise.

    Every line that cannot be read is a problem, and all are reported at once.
    """
    named = dict(columns or {})
    unknown = sorted(named.keys() - COLUMNS.keys())
    if unknown:
        raise InputError(f"no column {unknown[0]!r}; expected one of {', '.join(COLUMNS)}")
    problems = Problems(path)
    rows = list(_rows(path, problems))
    problems.finish()
    present = dict.fromkeys(key for _, row in rows for key in row)
    columns_by_name = {
        column: name
        for column, names in COLUMNS.items()
        if (name := _called(column, named, names, present))
    }
    for column in dict.fromkeys((*REQUIRED, *named)):
        if column not in columns_by_name:
            wanted = named.get(column) or f"{' or '.join(COLUMNS[column])}, or name it"
            there = ", ".join(present) or "none"
            problems.add(0, f"no column for the {column}; expected {wanted}; the log has {there}")
    problems.finish()
    clicks = [_click(row, columns_by_name, line, problems) for line, row in rows]
    problems.finish()
    return Log(tuple(clicks), frozenset(columns_by_name))


def _called(
    column: str, named: Mapping[str, str], names: tuple[str, ...], present: Mapping[str, None]
) -> str | None:
    wanted = (named[column],) if column in named else names
    return next((name for name in wanted if name in present), None)


def _rows(
    path: str | os.PathLike[str], problems: Problems
) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield the line number and the fields of each line."""
    text = read_text(path, limit=DEFAULT.csv_bytes, setting="csv_bytes")
    if text.lstrip().startswith("{"):
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            value = parse(line, os.fspath(path), line=number)
            if isinstance(value, Mapping):
                yield number, value
            else:
                problems.add(number, "expected an object")
        return
    rows = read_rows(path, limit=DEFAULT.csv_bytes)
    _, header = next(rows)
    for number, row in rows:
        if len(row) != len(header):
            problems.add(number, f"{len(row)} cells; expected {len(header)}, as in the header")
        else:
            yield number, dict(zip(header, row, strict=True))


def _click(
    row: Mapping[str, object], names: Mapping[str, str], line: int, problems: Problems
) -> Click:
    values = {column: _text(row.get(name)) for column, name in names.items()}
    if not values["query"]:
        problems.add(line, "the query is empty")
    rank = _number(values.get("rank", ""), "rank", line, problems)
    if rank is not None and (rank < 1 or rank != int(rank)):
        problems.add(line, f"rank {values['rank']!r} is not a whole number from 1")
    dwell = _number(values.get("dwell", ""), "dwell", line, problems)
    return Click(
        values["query"],
        values["path"],
        values.get("session", ""),
        int(rank or 0),
        _time(values.get("time", ""), line, problems),
        dwell,
    )


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _number(text: str, column: str, line: int, problems: Problems) -> float | None:
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number) or number < 0:
        problems.add(line, f"{column} {text!r} is not a number of 0 or more")
        return None
    return number


def _time(text: str, line: int, problems: Problems) -> float | None:
    """Return seconds since 1970, from such a number or an ISO date; without a zone it is UTC."""
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        problems.add(line, f"time {text!r} is not a number or a time such as 2026-05-01T12:00:00Z")
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
