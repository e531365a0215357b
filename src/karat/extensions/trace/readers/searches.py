"""A run with several searches for each query: a table of query, call, rank and document.

Further columns are start_line, end_line and text of the hit, its tokens, and of the call: seconds
since the first, the tokens of the model and the cost up to then. A trial tells runs apart.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import isnan
from pathlib import Path

from karat.errors import FormatError, Problem
from karat.extensions.trace import reading
from karat.extensions.trace.reading import TranscriptReader
from karat.extensions.trace.record import Call, Transcript, amount
from karat.formats.base import ReadOptions
from karat.formats.records import TableRow, head_columns, read_table, text_of
from karat.formats.table import column_word

ROLES: Mapping[str, tuple[str, ...]] = {
    "query": ("query_id", "qid", "query", "question_id", "instance_id"),
    "call": ("call", "call_id", "step", "turn", "search"),
    "rank": ("rank", "position"),
    "document": ("document", "doc", "docid", "doc_id", "document_id", "path", "file"),
    "trial": ("trial", "repetition", "seed"),
    "start_line": ("start_line", "start"),
    "end_line": ("end_line", "end"),
    "text": ("text", "snippet", "content"),
    "tokens": ("tokens",),
    "seconds": ("seconds",),
    "model_tokens": ("model_tokens",),
    "cost": ("cost",),
}
NEEDED = ("query", "call", "rank", "document")
ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".jsonl", ".json")


def detect(path: Path, head: bytes) -> bool:
    """Return whether the table has the four columns."""
    if not path.name.endswith(ENDINGS):
        return False
    return set(NEEDED) <= set(_roles(list(head_columns(str(path), head))))


def _roles(columns: Sequence[str]) -> dict[str, str]:
    words = {column_word(column): column for column in columns}
    return {
        role: words[name]
        for role, names in ROLES.items()
        for name in (next((name for name in names if name in words), None),)
        if name
    }


def read(path: Path) -> list[Transcript]:
    """Return a transcript for each query and trial; its calls are the searches in their order."""
    table = read_table(path, ReadOptions())
    roles = _roles(table.columns)
    rows = [(_cells(row, roles), row.line) for row in table.rows]
    if bad := [line for cells, line in rows if not cells["query"] or not cells["document"]]:
        problem = "the query or the document is empty"
        raise FormatError([Problem(str(path), line, problem) for line in bad])
    runs: dict[tuple[str, str], list[dict[str, str]]] = {}
    for cells, _ in rows:
        runs.setdefault((cells["query"], cells.get("trial", "")), []).append(cells)
    return [_transcript(path, query, hits) for (query, _), hits in runs.items()]


def _cells(row: TableRow, roles: Mapping[str, str]) -> dict[str, str]:
    return {role: text_of(row.cells.get(column)).strip() for role, column in roles.items()}


def _order(cells: Mapping[str, str]) -> tuple[float, str, float]:
    call = cells["call"]
    return (amount(call) if call.isdigit() else 0.0, call, amount(cells["rank"] or "0"))


def _transcript(path: Path, query: str, hits: list[dict[str, str]]) -> Transcript:
    calls = []
    for _, group in groupby(sorted(hits, key=_order), key=lambda cells: cells["call"]):
        calls.append(_call(list(group)))
    last = calls[-1]
    return Transcript(
        path, (query,), tuple(calls), "", "searches", "", last.at_s, last.tokens, last.cost
    )


def _call(hits: Sequence[Mapping[str, str]]) -> Call:
    documents = [
        {
            "path": hit["document"],
            "text": hit.get("text", ""),
            **{
                key: int(hit[key])
                for key in ("start_line", "end_line")
                if hit.get(key, "").isdigit()
            },
        }
        for hit in hits
    ]
    read = [amount(hit.get("tokens")) for hit in hits]
    known = [each for each in read if not isnan(each)]
    first = hits[0]
    call = reading.retrieved("search", "", documents)
    return call._replace(
        read=int(sum(known)) if known else call.read,
        at_s=amount(first.get("seconds")),
        tokens=amount(first.get("model_tokens")),
        cost=amount(first.get("cost")),
    )


READER = TranscriptReader(
    "searches",
    "table of several searches for each query: query, call, rank, document",
    detect,
    read,
)
