"""SWE-bench instances as a gold set, and the files and code that agents located as a run.

Instances have ``instance_id``, ``repo``, ``base_commit``, ``problem_statement`` and ``patch``, as
JSON lines, JSON or Parquet. Targets are the lines that the patch changes, in the files before it;
files that it adds are not targets and are counted. The test patch is ignored.

The outputs of agents have ``instance_id`` and ``found_files``. LocAgent adds ``found_modules`` and
``found_entities`` (``path:Class.method``), Agentless ``found_related_locs`` and
``found_edit_locs`` (texts such as ``line: 12`` or ``function: f``, for each file, perhaps for
several samples).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.formats.base import Format, ReadOptions
from karat.formats.records import TableRow, head_columns, read_table, text_of, texts_of
from karat.formats.source import Problems
from karat.model import Answer, Dataset, Hit, Query, Run, Target

NEEDED = ("instance_id", "repo", "base_commit", "problem_statement", "patch")
# Further columns that are worth a breakdown.
KEPT = ("version", "created_at", "difficulty", "category", "language")
HUNK = re.compile(r"@@ -(?P<start>\d+)(?:,(?P<count>\d+))? \+\d+(?:,\d+)? @@")
NOWHERE = "/dev/null"

# The most precise first.
ENTITIES = ("found_entities", "found_modules")
LOCATIONS = ("found_edit_locs", "found_related_locs")
LOCATION_LINE = re.compile(
    r"\s*(?P<kind>line|function|method|class|variable)s?:\s*(?P<name>.+?)\s*"
)
LAST_LINE = 2**31 - 1


class ChangedFile(NamedTuple):
    """A file of a patch before the change; *path* is "" for a file that the patch adds.

    *lines* are the changed ranges, from 1, both ends inclusive; an insertion is the lines around
    it. Empty means the whole file.
    """

    path: str
    new_path: str
    lines: tuple[tuple[int, int], ...] = ()


def changed_files(patch: str) -> list[ChangedFile]:
    r"""Return the files that a unified diff changes.

    >>> patch = '''diff --git a/x.py b/x.py
    ... --- a/x.py
    ... +++ b/x.py
    ... @@ -3,3 +3,4 @@ def f():
    ...  one
    ... -two
    ... +2
    ... +3
    ...  four
    ... '''
    >>> changed_files(patch)
    [ChangedFile(path='x.py', new_path='x.py', lines=((4, 4),))]
    """
    return [_changed_file(part) for part in _parts(patch)]


def _parts(patch: str) -> Iterator[list[str]]:
    """Yield the lines of each file of a diff."""
    part: list[str] = []
    named = False
    remaining = 0
    for line in patch.split("\n"):
        hunk = HUNK.match(line) if not remaining else None
        begins = line.startswith("diff --git ") or (line.startswith("--- ") and named)
        if not remaining and begins and part:
            yield part
            part, named = [], False
        if hunk:
            remaining = int(hunk["count"] or 1)
        elif remaining and line[:1] in (" ", "-", ""):
            # Old lines of a hunk: a removed SQL comment also begins with "---".
            remaining -= 1
        named = named or (not remaining and line.startswith("+++ "))
        if part or begins or line.startswith("--- "):
            part.append(line)
    if part:
        yield part


def _changed_file(part: list[str]) -> ChangedFile:
    old = new = ""
    ranges: list[tuple[int, int]] = []
    body = next((n for n, line in enumerate(part) if HUNK.match(line)), len(part))
    for line in part[:body]:
        if line.startswith("--- "):
            old = _path(line[4:])
        elif line.startswith("+++ "):
            new = _path(line[4:])
        elif line.startswith("rename from "):
            old = line.removeprefix("rename from ")
        elif line.startswith("rename to "):
            new = line.removeprefix("rename to ")
    if not old and not new:  # a binary file or a change of mode
        match = re.match(r"diff --git a/(?P<path>.+) b/(?P=path)$", part[0])
        created = any(line.startswith("new file mode") for line in part)
        old = NOWHERE if created else match["path"] if match else ""
        new = match["path"] if match else ""
    if NOWHERE not in (old, new):
        ranges = _ranges(part[body:])
    gone = old == NOWHERE
    return ChangedFile("" if gone else old, "" if new == NOWHERE else new, _merged(ranges))


def _path(text: str) -> str:
    """Return the path of a ``---`` or ``+++`` line, without a time stamp."""
    path = text.partition("\t")[0].rstrip("\r").strip('"')
    return path if path == NOWHERE else re.sub(r"^[abciow]/", "", path)


def _ranges(lines: list[str]) -> list[tuple[int, int]]:
    """Return the ranges of old lines that hunks change."""
    ranges: list[tuple[int, int]] = []
    number = first = 0
    in_block = False
    for line in [*lines, "@@ end"]:
        mark = line[:1]
        if mark in ("+", "-"):
            if not in_block:
                first, in_block = number, True
            number += mark == "-"
            continue
        if mark == "\\":
            continue
        if in_block:
            if number > first:
                ranges.append((first, number - 1))
            else:  # an insertion before the line *number*, which is there if context follows
                after = number if mark == " " else max(number - 1, 1)
                ranges.append((max(number - 1, 1), after))
            in_block = False
        if hunk := HUNK.match(line):
            # A hunk without old lines stands after its line.
            number = int(hunk["start"]) + (hunk["count"] == "0")
        else:
            number += 1
    return ranges


def _merged(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def detect(path: str, head: bytes) -> bool:
    """Return whether rows have an instance, a base commit and a patch."""
    return {"instance_id", "base_commit", "patch"} <= head_columns(path, head)


def read(path: Path, options: ReadOptions) -> Dataset:
    """Return one query per instance; the name of its repository is ``owner__name``."""
    table = read_table(path, options)
    problems = Problems(path)
    for name in NEEDED:
        if name not in table.columns:
            problems.add(table.line, f"no column {name!r}; expected {', '.join(NEEDED)}")
    problems.finish()
    queries: dict[str, Query] = {}
    added = 0
    for row in table.rows:
        where = "" if row.line else f"row {row.number}: "
        query, new = _query(row)
        added += new
        for name in NEEDED:
            if not text_of(row.cells.get(name)).strip():
                problems.add(row.line, f"{where}{name!r} is missing or empty")
        if query.id in queries:
            problems.add(row.line, f"{where}instance {query.id!r} appears twice")
        queries[query.id] = query
    problems.finish()
    name = path.name.removesuffix(".gz")
    metadata = {"new_files": added}
    return Dataset.of(queries.values(), name=name, match="lines", metadata=metadata)


def _query(row: TableRow) -> tuple[Query, int]:
    """Return the query of *row*, and the number of files that its patch adds."""
    cells = {name: text_of(row.cells.get(name)) for name in (*NEEDED, *KEPT)}
    files = changed_files(cells["patch"])
    added = [file.new_path for file in files if not file.path]
    targets = [
        Target(file.path, 1.0, *lines)
        for file in files
        if file.path
        for lines in (file.lines or ((0, 0),))
    ]
    extra: dict[str, object] = {"base_commit": cells["base_commit"]}
    extra |= {name: cells[name] for name in KEPT if cells[name]}
    if added:
        extra["new_files"] = added
    tags = {"repository": cells["repo"].replace("/", "__")}
    text = cells["problem_statement"]
    return Query(cells["instance_id"], text, tuple(dict.fromkeys(targets)), tags, extra), len(added)


FORMAT = Format(
    "swe-bench",
    "dataset",
    "SWE-bench instances: problem_statement is the query, the patch gives files and lines",
    (),
    detect,
    read,
)


def detect_localization(path: str, head: bytes) -> bool:
    """Return whether rows have an instance and the files found for it."""
    return {"instance_id", "found_files"} <= head_columns(path, head)


def read_localization(path: Path, options: ReadOptions) -> Run:
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
                match = LOCATION_LINE.fullmatch(line)
                if match and match["kind"] == "line":
                    number = int(match["name"]) if match["name"].isdecimal() else 0
                    if 0 < number <= LAST_LINE:
                        yield Hit(path, start_line=number, end_line=number)
                elif match:
                    yield Hit(path, symbol=match["name"])


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


LOCALIZATION = Format(
    "localization",
    "run",
    "code that an agent located: found_files of LocAgent or Agentless (read as a run)",
    (),
    detect_localization,
    read_localization,
)
