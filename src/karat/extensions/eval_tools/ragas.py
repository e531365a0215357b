"""Results of Ragas, as CSV or JSON lines: a row for each question, a column for each metric.

NaN, or an empty cell, means that the judge failed: there is no score.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

from karat.extensions.eval_tools.documents import Record, no_scores, read_lines, short
from karat.extensions.scores.readers import ScoreFile, ScoreOptions, ScoreReader
from karat.extensions.scores.record import ScoreRow
from karat.formats.base import ReadOptions
from karat.formats.records import head_columns, read_table, text_of
from karat.system.words import counted

QUESTION = "user_input"
# Of a test set there are the question and the reference alone; results have what was answered.
ANSWERS = ("response", "retrieved_contexts")
NUMBERING = ("", "id", "index", "Unnamed: 0")
SYSTEMS = ("system", "model", "experiment", "experiment_name", "name")


def detect(path: str, head: bytes) -> bool:
    """Return whether rows have a question and what a system answered."""
    columns = head_columns(path, head)
    return QUESTION in columns and bool(columns & {*ANSWERS})


def read(path: Path, options: ScoreOptions) -> ScoreFile:
    """Return the metrics of each question; a file is one system, unless a column names several."""
    rows = _cells(path, options)
    names = list(dict.fromkeys(name for row in rows for name in row))
    metrics = [name for name in names if name not in NUMBERING and _is_metric(name, rows)]
    if not metrics:
        raise no_scores(path, "a column of numbers for each metric of Ragas")
    column = next((name for name in SYSTEMS if name in names and name not in metrics), "")
    stem = path.name.partition(".")[0]
    scored = [
        ScoreRow(
            short(text_of(row.get(QUESTION)), 200),
            (text_of(row.get(column)).strip() if column else "") or stem,
            {name: _value(row.get(name)) for name in metrics},
            text=text_of(row.get(QUESTION)),
        )
        for row in rows
    ]
    gone = Counter(name for row in scored for name, score in row.scores.items() if score is None)
    remarks = tuple(
        f"{path.name}: the judge of {name} failed on {counted(count, 'question')}"
        for name, count in gone.items()
    )
    fields = {"system": column or "file", "query": QUESTION}
    return ScoreFile(scored, fields, remarks=remarks)


def _cells(path: Path, options: ScoreOptions) -> Sequence[Record]:
    if ".jsonl" in path.suffixes:
        return list(read_lines(path, options.limits))
    return [row.cells for row in read_table(path, ReadOptions(options.limits)).rows]


def _is_metric(name: str, rows: Sequence[Record]) -> bool:
    """Return whether a column has numbers, and nothing else but empty cells."""
    cells = [text_of(row.get(name)).strip() for row in rows]
    values = [_value(cell) for cell in cells]
    is_empty = [cell.lower() in ("", "nan", "none") for cell in cells]
    return any(value is not None for value in values) and all(
        value is not None or empty for value, empty in zip(values, is_empty, strict=True)
    )


def _value(cell: object) -> float | None:
    """Return the number in a cell; None for NaN, and where there is none.

    >>> _value("0.5"), _value(True), _value("nan"), _value("")
    (0.5, 1.0, None, None)
    """
    words: Mapping[str, float] = {"true": 1.0, "false": 0.0}
    text = text_of(cell).strip().lower()
    try:
        value = words[text] if text in words else float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


READER = ScoreReader(
    "ragas",
    "results of Ragas (CSV, JSONL): metrics by question; each file is one system",
    detect,
    read,
)
