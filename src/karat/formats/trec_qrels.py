"""TREC relevance judgments: ``query iteration document grade`` per line.

Grades may be negative: -1 and -2 mean pooled but not judged.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from karat.errors import InputError
from karat.formats.base import Format, ReadOptions, as_dataset
from karat.formats.source import Problems, number_text
from karat.formats.trec_run import blocks, decode_ids, first_row, numbers, split_rows, writable_id
from karat.model import Dataset, Query, Run, Target

if TYPE_CHECKING:
    from pathlib import Path


WIDTH = 4
SUBTOPIC = "; if the second column is a subtopic, the format is trec-diversity"


def detect(_path: str, head: bytes) -> bool:
    """Return whether the first row has four fields of which the last is a number."""
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
            decode_ids(queries, lines, problems),
            decode_ids(documents, lines, problems),
            numbers(grades, lines, "grade", problems),
            lines,
            strict=True,
        )
        for query, document, grade, number in rows:
            of_query = judged.setdefault(query, {})
            if document in of_query:
                problems.add(number, f"{document!r} is judged twice for query {query!r}{SUBTOPIC}")
            of_query[document] = grade
    if not total and not problems:
        problems.add(0, "no judgment in the file; expected query iteration document grade")
    problems.finish()
    return judged


def read(path: "Path", _options: ReadOptions) -> Dataset:
    """Return one query per id, without text; the document ids are kept as they are."""
    queries = [
        Query(query, "", tuple(Target(name, grade) for name, grade in documents.items()))
        for query, documents in read_judgments(path).items()
    ]
    return Dataset.of(queries, name=path.name.removesuffix(".gz"), match="document")


def write(data: Dataset | Run, path: "Path") -> None:
    """Write one line per judged document; of two targets in one document the higher grade."""
    data = as_dataset(data)
    from karat.system.files import replacing

    with replacing(path) as stream:
        for index, query in enumerate(data.query_ids):
            for document, grade in data.judgments(index).items():
                for name in (query, document):
                    if not writable_id(name):
                        raise InputError(f"{data.name}: TREC files cannot hold the id {name!r}")
                stream.write(f"{query} 0 {document} {number_text(grade)}\n".encode())


FORMAT = Format(
    "trec-qrels",
    "dataset",
    "TREC judgments: query iteration document grade",
    (".qrels", ".qrel", ".txt"),
    detect,
    read,
    write,
    frozenset({"grades", "levels", "high", "zeros", "fractions", "negatives", "files", "textless"}),
    frozenset({"pathless"}),
    decisive=True,
)


def detect_diversity(_path: str, head: bytes) -> bool:
    """Return whether the second field of the first rows numbers the subtopics of a query.

    In other judgments it is a constant, mostly 0, or the round of judging, such as 0.5.
    """
    if len(first_row(head)) != WIDTH:
        return False
    # The last row may be cut off.
    rows = [line.split() for line in head.split(b"\n")[:-1] if not line.startswith(b"#")]
    pairs = {(row[0], row[1]) for row in rows if len(row) == WIDTH}
    numbered = all(subtopic.isdigit() and int(subtopic) for _, subtopic in pairs)
    return numbered and len(pairs) > len({query for query, _ in pairs})


def read_diversity(path: "Path", _options: ReadOptions) -> Dataset:
    """Return one query per id, without text; a document has the subtopics that it is relevant to.

    Its grade is the highest of its judgments; the subtopic 0 is none.
    """
    queries = []
    for query, by_subtopic in read_panel(path).items():
        grades: dict[str, float] = {}
        subtopics: dict[str, list[str]] = {}
        for subtopic, documents in by_subtopic.items():
            for document, grade in documents.items():
                grades[document] = max(grade, grades.get(document, grade))
                if grade > 0 and subtopic != "0":
                    subtopics.setdefault(document, []).append(subtopic)
        targets = [
            Target(document, grade, subtopics=tuple(subtopics.get(document, ())))
            for document, grade in grades.items()
        ]
        queries.append(Query(query, "", tuple(targets)))
    return Dataset.of(queries, name=path.name.removesuffix(".gz"), match="document")


DIVERSITY = Format(
    "trec-diversity",
    "dataset",
    "TREC diversity judgments: query subtopic document grade",
    (),
    detect_diversity,
    read_diversity,
    decisive=True,
)


class Row(NamedTuple):
    """One line: its names, its number at the end, and where it stands."""

    names: tuple[str, ...]
    value: float
    line: int


def read_panel(path: str | os.PathLike[str]) -> dict[str, dict[str, dict[str, float]]]:
    """Return ``{query: {judge: {document: grade}}}``; all problems at once."""
    problems = Problems(path)
    panel: dict[str, dict[str, dict[str, float]]] = {}
    for (query, judge, document), grade, line in judgment_rows(path, 3, "grade", problems):
        grades = panel.setdefault(query, {}).setdefault(judge, {})
        if document in grades:
            problems.add(line, f"{judge!r} judges {document!r} twice for query {query!r}")
        grades[document] = grade
    problems.finish()
    return panel


def judgment_rows(
    path: str | os.PathLike[str], names: int, what: str, problems: Problems
) -> Iterator[Row]:
    """Yield the rows of *names* and a number, called *what*; problems are added to *problems*."""
    total = 0
    for first, block in blocks(path):
        lines, columns = split_rows(
            block,
            first,
            width=names + 1,
            want=range(names + 1),
            problems=problems,
            longer=False,
        )
        total += len(lines)
        texts = [decode_ids(column, lines, problems) for column in columns[:names]]
        values = numbers(columns[names], lines, what, problems)
        for text, value, line in zip(zip(*texts, strict=True), values, lines, strict=True):
            yield Row(text, value, line)
    if not total and not problems:
        problems.add(0, f"no judgment in the file; expected {names + 1} fields per line")
