"""The contract of a reader of transcripts, and how the transcripts in a folder are found.

A reader is one file with a :class:`TranscriptReader`. An extension names it in its record:
``adds={"transcript_reader": {"mine": "my_package.mine:READER"}}``.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from karat.errors import FormatError, InputError, KaratError, Problem
from karat.extensions.trace.record import Call, Transcript
from karat.formats.source import HEAD_BYTES, open_bytes
from karat.registry import Registry
from karat.system.zstd import MAGIC, decompressed

# A transcript is read whole; one of a day's work has some tens of megabytes.
MOST_BYTES = 2 * 1024**3
ENDINGS = (".json", ".jsonl", ".ndjson", ".traj", ".eval", ".csv", ".tsv", ".zst", ".gz")


class TranscriptReader(NamedTuple):
    """A reader of one kind of transcript.

    *detect* gets the path and the first bytes (decompressed), and returns whether the file is of
    this kind; it never raises. *read* returns the transcripts in it, or raises FormatError. Files
    that belong to another transcript, such as those of its sub-agents, are its ``parts``.
    """

    name: str
    summary: str
    detect: Callable[[Path, bytes], bool]
    read: Callable[[Path], Sequence[Transcript]]


READERS: Registry[TranscriptReader] = Registry("transcript_reader", {})


class ReadTranscripts(NamedTuple):
    """The transcripts in some files; *readers* are those that read them, *problems* what failed."""

    transcripts: tuple[Transcript, ...]
    readers: tuple[str, ...]
    problems: tuple[str, ...]


def read_transcripts(place: Path, reader: str = "") -> ReadTranscripts:
    """Return the transcripts in a file, or in all files of a folder; *reader* names their reader.

    A file that no reader knows is ignored, one that cannot be read is a problem.
    """
    if not place.exists():
        raise InputError(f"{place}: no such file or folder; expected transcripts")
    found: list[tuple[str, Transcript]] = []
    problems: list[str] = []
    for path in _files(place):
        one = READERS.get(reader) if reader else reader_of(path)
        if one is None:
            continue
        try:
            found += [(one.name, each) for each in one.read(path)]
        except KaratError as error:
            problems.append(str(error))
    parts = {part.resolve() for _, each in found for part in each.parts}
    whole = [(name, each) for name, each in found if each.source.resolve() not in parts]
    if not whole:
        known = ", ".join(READERS)
        reason = f": {problems[0]}" if problems else f"; expected files of one of: {known}"
        raise InputError(f"{place}: no transcript that a reader knows{reason}")
    used = tuple(dict.fromkeys(name for name, _ in whole))
    return ReadTranscripts(tuple(each for _, each in whole), used, tuple(problems))


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
        return
    for path in sorted(place.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(place).parts)
        if path.name.endswith(ENDINGS) and not hidden and path.is_file():
            yield path


def reader_of(path: Path) -> TranscriptReader | None:
    """Return the reader of a file, None if none knows it."""
    head = _head(path)
    for name in READERS:
        reader = READERS.get(name)
        if reader.detect(path, head):
            return reader
    return None


def _head(path: Path) -> bytes:
    with open_bytes(path) as stream:
        head = stream.read(HEAD_BYTES)
    if not head.startswith(MAGIC):
        return head
    return decompressed(path.read_bytes(), str(path))[:HEAD_BYTES]


def text_of_file(path: Path) -> str:
    """Return the text of a file, decompressed from gzip or Zstandard."""
    if path.stat().st_size > MOST_BYTES:
        raise FormatError([Problem(str(path), 0, f"larger than {MOST_BYTES:,} bytes")])
    with open_bytes(path) as stream:
        data = stream.read()
    if data.startswith(MAGIC):
        data = decompressed(data, str(path))
    return data.decode("utf-8", errors="replace")


def document(path: Path) -> Any:
    """Return the JSON document in *path*."""
    try:
        return json.loads(text_of_file(path))
    except ValueError as error:
        raise FormatError([Problem(str(path), 0, f"not JSON: {error}")]) from error


def lines(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a file of JSON lines; a last line that was cut off is left out."""
    rows = text_of_file(path).splitlines()
    for number, row in enumerate(rows, 1):
        if not row.strip():
            continue
        try:
            value = json.loads(row)
        except ValueError as error:
            if number == len(rows):
                return
            raise FormatError([Problem(str(path), number, f"not JSON: {error}")]) from error
        if isinstance(value, Mapping):
            yield value


def first_object(head: bytes) -> Mapping[str, Any]:
    """Return the object in the first line of *head*, nothing if there is none."""
    try:
        value = json.loads(head.lstrip().split(b"\n", 1)[0])
    except ValueError:
        return {}
    return value if isinstance(value, Mapping) else {}


def arguments_of(value: object) -> Mapping[str, object]:
    """Return the arguments of a call: an object, or one as JSON text; other text is ``input``."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except ValueError:
            return {"input": value}
        return parsed if isinstance(parsed, Mapping) else {"input": value}
    return {}


def retrieved(tool: str, query: str, documents: Sequence[Mapping[str, Any]]) -> Call:
    """Return a search that put *documents* before the model: a path or id, perhaps text and lines.

    A document without its text counts as seen, because the model has it.
    """
    from karat.extensions.trace.steps import token_count

    rows = []
    for document in documents:
        names = (document.get(key) for key in ("path", "file_path", "source", "id", "name"))
        path = next((str(name) for name in names if name), "")
        texts = (document.get(key) for key in ("content", "text"))
        text = next((str(text) for text in texts if text), "")
        lines = {key: document[key] for key in ("start_line", "end_line") if document.get(key)}
        rows.append({"path": path, "text": text or path, **lines})
    read = sum(token_count(row["text"]) for row in rows)
    return Call(tool, {"query": query}, json.dumps(rows), read=read)


def names_of(path: Path) -> tuple[str, ...]:
    """Return the names of a file and of its folder, which may be those of a query.

    >>> names_of(Path("runs/django-11/agent.traj.json"))
    ('agent.traj', 'agent', 'django-11')
    """
    names = (path.stem, path.name.partition(".")[0], path.parent.name)
    return tuple(dict.fromkeys(name for name in names if name))
