"""Judgments by several people: TREC's multi-judge and preference files.

* ``query judge document grade``: qrels whose second field names who judged
* ``query judge part document level``: preferences; within a part a higher level is preferred
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from karat.formats.source import Problems
from karat.formats.trec_lines import blocks, decoded, numbers, split_rows

__all__ = ["read_panel", "read_preferences"]


class Row(NamedTuple):
    """One line: its names, its number at the end, and where it stands."""

    names: tuple[str, ...]
    value: float
    line: int


def read_panel(path: str | os.PathLike[str]) -> dict[str, dict[str, dict[str, float]]]:
    """Return ``{query: {judge: {document: grade}}}``; all problems at once."""
    problems = Problems(path)
    panel: dict[str, dict[str, dict[str, float]]] = {}
    for (query, judge, document), grade, line in _rows(path, 3, "grade", problems):
        grades = panel.setdefault(query, {}).setdefault(judge, {})
        if document in grades:
            problems.add(line, f"{judge!r} judges {document!r} twice for query {query!r}")
        grades[document] = grade
    problems.finish()
    return panel


def read_preferences(
    path: str | os.PathLike[str],
) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Return ``{query: {judge: {part: {document: level}}}}``; all problems at once."""
    problems = Problems(path)
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for (query, judge, part, document), level, line in _rows(path, 4, "level", problems):
        levels = found.setdefault(query, {}).setdefault(judge, {}).setdefault(part, {})
        if document in levels:
            problems.add(line, f"{document!r} stands twice in part {part!r} of judge {judge!r}")
        if level < 0:
            problems.add(line, f"level {level:g} is below 0; 0 is not relevant, higher is better")
        levels[document] = level
    problems.finish()
    return found


def _rows(path: str | os.PathLike[str], names: int, what: str, problems: Problems) -> Iterator[Row]:
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
        texts = [decoded(column, lines, problems) for column in columns[:names]]
        values = numbers(columns[names], lines, what, problems)
        for text, value, line in zip(zip(*texts, strict=True), values, lines, strict=True):
            yield Row(text, value, line)
    if not total and not problems:
        problems.add(0, f"no judgment in the file; expected {names + 1} fields per line")
