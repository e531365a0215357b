"""Files and code that an agent located, as a run: the outputs of LocAgent and Agentless.

Rows have ``instance_id`` and ``found_files``. LocAgent adds ``found_modules`` and
``found_entities`` (``path:Class.method``), Agentless ``found_related_locs`` and
``found_edit_locs`` (texts such as ``line: 12`` or ``function: f``, for each file, perhaps for
several samples).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from karat.formats.base import Format, ReadOptions
from karat.formats.records import head_columns, read_table, text_of, texts_of
from karat.formats.source import Problems
from karat.model import Answer, Hit, Run

__all__ = ["FORMAT"]

# The most precise first.
ENTITIES = ("found_entities", "found_modules")
LOCATIONS = ("found_edit_locs", "found_related_locs")
PLACE = re.compile(r"\s*(?P<kind>line|function|method|class|variable)s?:\s*(?P<name>.+?)\s*")
LAST_LINE = 2**31 - 1


def detect(path: str, head: bytes) -> bool:
    """Return whether rows have an instance and the files found for it."""
    return {"instance_id", "found_files"} <= head_columns(path, head)


def read(path: Path, options: ReadOptions) -> Run:
    """Return one answer per instance: its files in order, each as the code located in it."""
    table = read_table(path, options)
    problems = Problems(path)
    answers: dict[str, Answer] = {}
    for row in table.rows:
        label = text_of(row.cells.get("instance_id")).strip()
        if not label:
            problems.add(row.line, "'instance_id' is missing or empty")
        elif label in answers:
            problems.add(row.line, f"instance {label!r} appears twice")
        answers[label] = Answer(label, tuple(_hits(row.cells)))
    problems.finish()
    return Run.of(answers.values(), name=path.name.removesuffix(".gz").partition(".")[0])


def _hits(cells: Mapping[str, object]) -> list[Hit]:
    """Return the located code in the order of its files, so that files keep the agent's ranks."""
    files = list(dict.fromkeys(_flat(cells.get("found_files"))))
    hits = list(dict.fromkeys((*_entities(cells), *_locations(cells, files))))
    rank = {file: number for number, file in enumerate(dict.fromkeys([*files, *_paths(hits)]))}
    located = set(_paths(hits))
    hits += [Hit(file) for file in files if file not in located]
    return sorted(hits, key=lambda hit: rank[hit.path])


def _paths(hits: Sequence[Hit]) -> Iterator[str]:
    return (hit.path for hit in hits)


def _entities(cells: Mapping[str, object]) -> Iterator[Hit]:
    for name in ENTITIES:
        for entity in _flat(cells.get(name)):
            path, _, symbol = entity.partition(":")
            if path.strip():
                yield Hit(path.strip(), symbol=symbol.strip())


def _locations(cells: Mapping[str, object], files: Sequence[str]) -> Iterator[Hit]:
    for name in LOCATIONS:
        for path, text in _placed(cells.get(name), files):
            for line in text.split("\n"):
                found = PLACE.fullmatch(line)
                if found and found["kind"] == "line":
                    number = int(found["name"]) if found["name"].isdecimal() else 0
                    if 0 < number <= LAST_LINE:
                        yield Hit(path, start_line=number, end_line=number)
                elif found:
                    yield Hit(path, symbol=found["name"])


def _placed(value: object, files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield path and text of each location: by file, in the order of *files*, or by sample."""
    if isinstance(value, Mapping):
        for path, texts in value.items():
            yield from ((str(path), text) for text in _flat(texts))
    elif isinstance(value, list | tuple):
        if any(isinstance(item, Mapping) or _is_nested(item) for item in value):
            for sample in value:
                yield from _placed(sample, files)
        else:
            for path, texts in zip(files, value, strict=False):
                yield from ((path, text) for text in _flat(texts))


def _is_nested(item: object) -> bool:
    return isinstance(item, list | tuple) and any(isinstance(each, list | tuple) for each in item)


def _flat(value: object) -> Iterator[str]:
    """Yield the texts of a list, however deep."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _flat(item)
    else:
        yield from texts_of(value)


FORMAT = Format(
    "localization",
    "run",
    "code that an agent located: found_files of LocAgent or Agentless (read as a run)",
    (),
    detect,
    read,
)
