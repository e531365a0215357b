"""Parquet runs, for results by the million: one row per hit.

Columns ``query_id``, ``path``, ``score``, ``rank``, ``start_line``, ``end_line``, ``symbol``,
``tokens``; the first two must be there. Hits are ordered by rank, else by descending score, else
as stored. The columns ``q_id`` and ``doc_id`` of ranx are read too.
"""

from math import inf, isfinite, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.errors import FormatError, Problem
from karat.formats.base import Format, ReadOptions, as_run
from karat.formats.records import columns_of
from karat.formats.source import Problems
from karat.model import Answer, Dataset, Hit, Run
from karat.system.files import replacing
from karat.system.tables import PARQUET, polars, read_frame

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FORMAT"]

COLUMNS = ("query_id", "path", "score", "rank", "start_line", "end_line", "symbol", "tokens")
# The names of ranx.
OTHER_NAMES = {"q_id": "query_id", "doc_id": "path"}
LAST = inf


def detect(path: str, head: bytes) -> bool:
    """Return whether this is Parquet with the columns of a run, or with unreadable columns."""
    if not head.startswith(PARQUET):
        return False
    columns = {OTHER_NAMES.get(name, name) for name in columns_of(path)}
    return not columns or set(COLUMNS[:2]) <= columns


def read(path: Path, _options: ReadOptions) -> Run:
    """Return one answer per query, in the order the queries first appear."""
    frame = _frame(path)
    problems = Problems(path)
    for name in ("query_id", "path"):
        for row in frame[name].is_null().arg_true().head(100).to_list():
            problems.add(0, f"row {row + 1}: no {name}")
    problems.finish()
    ranked = "rank" in frame.columns
    hits: dict[str, list[tuple[float, Hit]]] = {}
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        fault = _fault(row)
        if fault:
            problems.add(0, f"row {number}: {fault}")
            continue
        hit = _hit(row)
        rank = row["rank"] if ranked else -hit.score
        hits.setdefault(row["query_id"], []).append((LAST if rank is None else rank, hit))
    problems.finish()
    answers = []
    for query, found in hits.items():
        if ranked or "score" in frame.columns:
            found.sort(key=lambda item: LAST if isnan(item[0]) else item[0])
        answers.append(Answer(query, tuple(hit for _, hit in found)))
    return Run.of(answers, name=path.name)


def write(data: Dataset | Run, path: Path) -> None:
    """Write all hits as one table; an unknown score, line, symbol or token count is null."""
    library = polars()
    run = as_run(data)
    columns: dict[str, list[object]] = {name: [] for name in COLUMNS}
    for answer in run.answers():
        for rank, hit in enumerate(answer.hits, 1):
            row = {
                "query_id": answer.query_id,
                "path": hit.path,
                "score": None if isnan(hit.score) else hit.score,
                "rank": rank,
                "start_line": hit.start_line or None,
                "end_line": hit.end_line or None,
                "symbol": hit.symbol or None,
                "tokens": hit.tokens if hit.tokens >= 0 else None,
            }
            for name, value in row.items():
                columns[name].append(value)
    text, whole = library.String, library.Int64
    kinds = (text, text, library.Float64, whole, whole, whole, text, whole)
    frame = library.DataFrame(columns, schema=dict(zip(COLUMNS, kinds, strict=True)))
    with replacing(path) as stream:
        frame.write_parquet(stream)


def _frame(path: Path) -> "pl.DataFrame":
    frame: pl.DataFrame = read_frame(path)
    frame = frame.rename(
        {old: new for old, new in OTHER_NAMES.items() if new not in frame.columns}, strict=False
    )
    missing = [name for name in COLUMNS[:2] if name not in frame.columns]
    if missing:
        message = f"no column {' and '.join(missing)}; expected {', '.join(COLUMNS)}"
        raise FormatError([Problem(str(path), 0, message)])
    wanted = [name for name in COLUMNS if name in frame.columns]
    library = polars()
    return frame.select(wanted).with_columns(library.col("query_id", "path").cast(library.String))


def _hit(row: dict[str, Any]) -> Hit:
    score, tokens = row.get("score"), row.get("tokens")
    return Hit(
        row["path"],
        nan if score is None else float(score),
        row.get("start_line") or 0,
        row.get("end_line") or 0,
        row.get("symbol") or "",
        -1 if tokens is None else int(tokens),
    )


def _fault(row: dict[str, Any]) -> str:
    """Return the problem of a row, or an empty text."""
    score = row.get("score")
    start, end = row.get("start_line"), row.get("end_line")
    if not row["path"].strip():
        return "the path is empty"
    if score is not None and not isfinite(score):
        return f"score {score} is not finite"
    if not all(0 <= line < 2**31 for line in (start or 0, end or 0)):
        return f"lines {start} to {end} are out of range"
    # A range that makes no sense is kept: judging counts it as an invalid hit.
    return ""


FORMAT = Format(
    "parquet",
    "run",
    "Parquet run: one row per hit (needs the extra 'big')",
    (".parquet",),
    detect,
    read,
    write,
    frozenset({"scores", "lines", "files", "symbols", "tokens", "unordered", "repeats"}),
)
