"""Plain tables of results: a query, a document, and a score or a rank; CSV, TSV or semicolons.

Queries are named by a column of ids, or else by their text; they are then matched with the texts of
a gold set. Columns are recognised as in :mod:`karat.formats.table`.
"""

from collections.abc import Mapping
from math import inf, isfinite, nan
from pathlib import Path

from karat.errors import FormatError, Problem
from karat.formats.base import IDS_ARE_TEXTS, Format, ReadOptions
from karat.formats.records import SourceTable, TableRow, head_columns, read_table, text_of
from karat.formats.source import Problems
from karat.formats.table import recognise
from karat.model import Answer, Hit, Run

__all__ = ["FORMAT"]

SCORES = ("score", "similarity", "relevance_score", "bm25_score", "distance_score")
RANKS = ("rank", "position")


def detect(path: str, head: bytes) -> bool:
    """Return whether the header has a query, a document, and a score or a rank."""
    if head.lstrip()[:1] in (b"{", b"[") or head.startswith(b"PAR1"):
        return False
    columns = _columns(tuple(sorted(head_columns(path, head))))
    return {"document"} < columns.keys() and bool(columns.keys() & {"score", "rank"})


def read(path: Path, options: ReadOptions) -> Run:
    """Return one answer per query; hits by rank, else by descending score."""
    table = read_table(path, options)
    columns = _columns(table.columns)
    problems = Problems(path)
    _check(path, table, columns)
    key = columns.get("id") or columns["query"]
    hits: dict[str, list[tuple[float, Hit]]] = {}
    for row in table.rows:
        label = text_of(row.cells.get(key)).strip()
        document = text_of(row.cells.get(columns["document"])).strip()
        if not label or not document:
            problems.add(row.line, f"the {'document' if label else 'query'} is empty")
            continue
        score, rank = (_number(row, columns, name, problems) for name in ("score", "rank"))
        order = rank if "rank" in columns else -score
        hits.setdefault(label, []).append((order, Hit(document, score)))
    problems.finish()
    answers = []
    for label, ranked in hits.items():
        ranked.sort(key=lambda pair: pair[0] if isfinite(pair[0]) else inf)
        answers.append(Answer(label, tuple(hit for _, hit in ranked)))
    metadata = {} if "id" in columns else {IDS_ARE_TEXTS: True}
    name = path.name.removesuffix(".gz").partition(".")[0]
    return Run.of(answers, name=name, metadata=metadata)


def _columns(names: tuple[str, ...]) -> dict[str, str]:
    """Return the columns of a query, a document, a score and a rank among *names*."""
    spelled = {name.strip().lower(): name for name in names}
    found = {
        role: spelled[known[0]]
        for role, some in (("score", SCORES), ("rank", RANKS))
        if (known := [name for name in some if name in spelled])
    }
    rest = [name for name in names if name not in found.values()]
    roles = recognise(rest, {}).columns
    return found | {role: roles[role] for role in ("query", "id", "document") if role in roles}


def _check(path: Path, table: SourceTable, columns: Mapping[str, str]) -> None:
    missing = [] if columns.keys() & {"query", "id"} else ["query_id"]
    missing += [] if "document" in columns else ["document"]
    missing += [] if columns.keys() & {"score", "rank"} else ["score"]
    if missing:
        header = ", ".join(map(repr, table.columns))
        message = f"no column {' and '.join(missing)}; the header is {header}"
        raise FormatError([Problem(str(path), table.line, message)])


def _number(row: TableRow, columns: Mapping[str, str], role: str, problems: Problems) -> float:
    text = text_of(row.cells.get(columns.get(role, ""))).strip()
    if not text:
        return nan
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not isfinite(value) or "_" in text:
        problems.add(row.line, f"{role} {text!r} is not a number")
    return value


FORMAT = Format(
    "csv-run",
    "run",
    "plain table of results (CSV, TSV): a query, a document, and a score or a rank",
    (".csv", ".tsv"),
    detect,
    read,
    fallback=True,
)
