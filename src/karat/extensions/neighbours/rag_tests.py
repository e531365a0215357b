"""Test sets of RAG evaluations: Ragas and DeepEval. Their contexts are quotes as targets."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from karat.formats.base import Format, ReadOptions
from karat.formats.records import TableRow, head_columns, read_table, text_of, texts_of
from karat.formats.source import Problems
from karat.model import Dataset, Query, Target

# Ragas marks the contexts of a question over several documents.
HOP = re.compile(r"^<\d+-hop>\s*")
# Columns in the order in which they are looked for; DeepEval had other spellings before.
QUESTIONS = ("user_input", "input")
CONTEXTS = ("reference_contexts", "context")
FILES = ("source_file", "sourceFile")
ANSWERS = ("reference", "expected_output", "expectedOutput")
IDS = ("id", "qid", "case_id")
KEPT = ("persona_name", "query_style", "query_length", "synthesizer_name")


def is_ragas(path: str, head: bytes) -> bool:
    """Return whether rows have a question and its reference contexts."""
    return {"user_input", "reference_contexts"} <= head_columns(path, head)


def is_deepeval(path: str, head: bytes) -> bool:
    """Return whether rows are goldens: an input, a context, and an expected output or a file."""
    columns = head_columns(path, head)
    return {"input", "context"} <= columns and bool(columns & {*ANSWERS, *FILES})


def read(path: Path, options: ReadOptions, *, split: Callable[[object], list[str]]) -> Dataset:
    """Return one query per row; *split* returns the contexts of a cell."""
    table = read_table(path, options)
    problems = Problems(path)
    queries = []
    for row in table.rows:
        query = _query(row, split)
        if not query.text.strip():
            where = "" if row.line else f"row {row.number}: "
            problems.add(row.line, f"{where}the question is missing or empty")
        queries.append(query)
    problems.finish()
    return Dataset.of(queries, name=path.name.removesuffix(".gz"), match="lines")


def _query(row: TableRow, split: Callable[[object], list[str]]) -> Query:
    cells = row.cells
    document = text_of(_first(cells, FILES)).strip()
    quotes = [HOP.sub("", text).strip() for text in split(_first(cells, CONTEXTS))]
    targets = [Target(document, symbol=quote, ref="quote") for quote in quotes if quote]
    if not targets and document:
        targets = [Target(document, ref="uri")]
    extra = {name: cells[name] for name in KEPT if cells.get(name) not in (None, "")}
    if answer := text_of(_first(cells, ANSWERS)):
        extra["reference"] = answer
    text = text_of(_first(cells, QUESTIONS))
    label = text_of(_first(cells, IDS)).strip() or str(row.number)
    return Query(label, text, tuple(dict.fromkeys(targets)), extra=extra)


def _first(cells: Mapping[str, object], names: tuple[str, ...]) -> object:
    return next((cells[name] for name in names if cells.get(name) not in (None, "")), None)


def _joined(value: object) -> list[str]:
    """Return the contexts of a cell; in the CSV of DeepEval they are joined by ``|``."""
    texts = texts_of(value)
    if isinstance(value, str) and texts == [value]:
        return value.split("|")
    return texts


RAGAS = Format(
    "ragas",
    "dataset",
    "Ragas test set: user_input, and reference_contexts as quotes",
    (),
    is_ragas,
    partial(read, split=texts_of),
)
DEEPEVAL = Format(
    "deepeval",
    "dataset",
    "DeepEval goldens: input, and context as quotes of source_file",
    (),
    is_deepeval,
    partial(read, split=_joined),
)
