"""Octocode's ground truth: CSV rows of a query and its graded line ranges.

The header is ``query,result1,result2,...``; a cell is ``path:first-last:grade`` (lines from 1,
both inclusive) and the path may contain colons. A path alone is the whole file. An ``id`` column
gives ids, else queries are numbered by row. Every further column is a tag.
"""

import re
from pathlib import Path

from karat.errors import InputError
from karat.formats.base import Format, ReadOptions, as_dataset
from karat.formats.records import read_rows, render_rows
from karat.formats.source import Problems, number_text, parse_amount
from karat.model import Dataset, Query, Run, Target
from karat.model.frozen import repeated
from karat.system.files import write_text

RESULT = re.compile(r"result\d+")
CELL = re.compile(r"(?P<path>.*):(?P<first>\d+)-(?P<last>\d+):(?P<grade>[^:]*)", re.DOTALL)
# A cell with a piece of this form was meant to have lines or a grade.
DAMAGED = re.compile(r":\s*-?\d")
EXPECTED = "expected path:first-last:grade, or a path alone"


def detect(_path: str, head: bytes) -> bool:
    """Return whether the first line is octocode's header."""
    names = head.partition(b"\n")[0].decode(errors="replace").strip().split(",")
    return "query" in names and "result1" in names


def read(path: Path, options: ReadOptions) -> Dataset:
    """Return one query per row."""
    problems = Problems(path, options.on_empty)
    rows = read_rows(path, limit=options.limits.csv_bytes)
    line, header = next(rows)
    for name in repeated(header):
        problems.add(line, f"column {name!r} appears twice")
    if "query" not in header or not any(RESULT.fullmatch(name) for name in header):
        problems.add(line, "expected the header query,result1,result2,...")
    if "" in header:
        problems.add(line, "a column has no name")
    problems.finish()
    queries: list[Query] = []
    seen: dict[str, int] = {}
    number = 0
    for number, (line, row) in enumerate(rows, 1):
        if len(row) != len(header):
            problems.add(line, f"{len(row)} cells; expected {len(header)}, as in the header")
            continue
        cells = dict(zip(header, row, strict=True))
        if not cells["query"].strip():
            problems.add_empty(line, "the query is empty")
            continue
        query = _query(problems, line, number, cells)
        if query.id in seen:
            problems.add(line, f"id {query.id!r} appears first on line {seen[query.id]}")
        seen.setdefault(query.id, line)
        queries.append(query)
    if not queries and not problems:
        problems.add(
            1, "no row after the header has a query" if number else "no row after the header"
        )
    problems.finish()
    return Dataset.of(queries, name=path.name.removesuffix(".gz"), match="lines")


def write(data: Dataset | Run, path: Path) -> None:
    """Write one row per query, with as many result columns as the longest needs (at least 3)."""
    data = as_dataset(data)
    queries = list(data.queries())
    _refuse_unwritable(data)
    width = max(3, *(len(query.targets) for query in queries), 3)
    numbered = list(data.query_ids) == [str(number) for number in range(1, len(data) + 1)]
    first = ["query"] if numbered else ["id", "query"]
    header = [*first, *(f"result{number}" for number in range(1, width + 1)), *data.tags]
    rows: list[list[str]] = [header]
    for query in queries:
        cells = [
            f"{t.path}:{t.start_line}-{t.end_line}:{number_text(t.grade)}" for t in query.targets
        ]
        cells += [""] * (width - len(cells))
        start = [query.text] if numbered else [query.id, query.text]
        rows.append([*start, *cells, *(query.tags.get(tag, "") for tag in data.tags)])
    write_text(path, render_rows(rows))


def _refuse_unwritable(data: Dataset) -> None:
    """Raise InputError for data that would be read back changed."""
    for path in data.paths.names:
        if path != path.lstrip():
            raise InputError(f"{data.name}: octocode's CSV cannot hold the path {path!r}")
    for tag in data.tags:
        if tag in {"id", "query"} or RESULT.fullmatch(tag):
            raise InputError(f"{data.name}: octocode's CSV reserves the column {tag!r}")


def _query(problems: Problems, line: int, number: int, row: dict[str, str]) -> Query:
    text = row.pop("query")
    label = row.pop("id", str(number))
    if not label.strip():
        problems.add(line, "the id is empty")
    cells = [row.pop(name) for name in list(row) if RESULT.fullmatch(name)]
    targets = [_target(problems, line, cell.strip()) for cell in cells if cell.strip()]
    tags = {name: value for name, value in row.items() if value}
    return Query(label, text, tuple(targets), tags)


def _target(problems: Problems, line: int, cell: str) -> Target:
    match = CELL.fullmatch(cell)
    if not match:
        if DAMAGED.search(cell):
            problems.add(line, f"{cell!r} is not a result; {EXPECTED}")
        return Target(cell)
    first, last = int(match["first"]), int(match["last"])
    grade = parse_amount(match["grade"])
    if not match["path"].strip():
        problems.add(line, f"{cell!r} has no path; {EXPECTED}")
    if grade is None:
        problems.add(line, f"grade {match['grade']!r} is not a number of 0 or more; {EXPECTED}")
    if first < 1:
        problems.add(line, f"{cell!r} starts at line 0; lines count from 1")
    elif last < first:
        problems.add(line, f"{cell!r} ends before it starts")
    elif last >= 2**31:
        problems.add(line, f"{cell!r} ends beyond line {2**31 - 1}")
    else:
        return Target(match["path"], grade or 0.0, first, last)
    return Target(match["path"])


FORMAT = Format(
    "octocode",
    "dataset",
    "octocode CSV: query, then cells path:first-last:grade; further columns are tags",
    (".csv",),
    detect,
    read,
    write,
    frozenset(
        {
            "text",
            "grades",
            "levels",
            "high",
            "zeros",
            "fractions",
            "lines",
            "bare",
            "category",
            "tags",
        }
    ),
    frozenset({"textless", "files", "pathless"}),
)
