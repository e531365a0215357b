"""TREC relevance judgments: ``query iteration document grade`` per line.

Grades may be negative: -1 and -2 mean pooled but not judged.
"""

import os
from typing import TYPE_CHECKING

from karat.errors import InputError
from karat.formats.base import Format, Options, as_dataset
from karat.formats.numerals import shown
from karat.formats.source import Problems
from karat.formats.trec_lines import blocks, decoded, first_row, numbers, split_rows, writable_id
from karat.model import Dataset, Query, Run, Target

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FORMAT", "read_judgments"]

WIDTH = 4


def sniff(_path: str, head: bytes) -> bool:
    """Say whether the first row has four fields of which the last is a number."""
    return len(first_row(head)) == WIDTH


def read_judgments(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Return ``{query: {document: grade}}`` in the order of the file; all problems at once.

    The plain dictionaries are what :func:`karat.formats.scan_trec_run` takes as *judged*.
    """
    problems = Problems(path)
    judged: dict[str, dict[str, float]] = {}
    total = 0
    for line, block in blocks(path):
        lines, (queries, documents, grades) = split_rows(
            block, line, width=WIDTH, want=(0, 2, 3), problems=problems, longer=False
        )
        total += len(lines)
        rows = zip(
            decoded(queries, lines, problems),
            decoded(documents, lines, problems),
            numbers(grades, lines, "grade", problems),
            lines,
            strict=True,
        )
        for query, document, grade, number in rows:
            of_query = judged.setdefault(query, {})
            if document in of_query:
                problems.add(number, f"{document!r} is judged twice for query {query!r}")
            of_query[document] = grade
    if not total and not problems:
        problems.add(0, "no judgment in the file; expected query iteration document grade")
    problems.finish()
    return judged


def read(path: "Path", _options: Options) -> Dataset:
    """Return one query per id, without text; the document ids are kept as they are."""
    queries = [
        Query(query, "", tuple(Target(name, grade) for name, grade in documents.items()))
        for query, documents in read_judgments(path).items()
    ]
    return Dataset.of(queries, name=path.name.removesuffix(".gz"), match="document")


def write(data: Dataset | Run, path: "Path") -> None:
    """Write one line per judged document; of two targets in one document the higher grade."""
    data = as_dataset(data)
    from karat.formats.atomic import replacing

    with replacing(path) as stream:
        for index, query in enumerate(data.query_ids):
            for document, grade in data.judgments(index).items():
                for name in (query, document):
                    if not writable_id(name):
                        raise InputError(f"{data.name}: TREC files cannot hold the id {name!r}")
                stream.write(f"{query} 0 {document} {shown(grade)}\n".encode())


FORMAT = Format(
    "trec-qrels",
    "dataset",
    "TREC judgments: query iteration document grade",
    (".qrels", ".qrel", ".txt"),
    sniff,
    read,
    write,
    frozenset({"grades", "levels", "high", "zeros", "fractions", "negatives", "files", "textless"}),
    frozenset({"pathless"}),
)
