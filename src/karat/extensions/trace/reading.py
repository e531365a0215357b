"""The contract of a reader of transcripts, and how the transcripts in a folder are found.

A reader is one file with a :class:`TranscriptReader`. An extension names it in its record:
``adds={"transcript_reader": {"mine": "my_package.mine:READER"}}``.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from karat.errors import FormatError, InputError, KaratError, Problem
from karat.extensions.trace.record import Transcript
from karat.formats.source import HEAD_BYTES, open_bytes
from karat.registry import Registry

# A transcript is read whole; one of a day's work has some tens of megabytes.
MOST_BYTES = 2 * 1024**3
ZSTANDARD = b"\x28\xb5\x2f\xfd"
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
    ignored: int


def read_transcripts(place: Path, reader: str = "") -> ReadTranscripts:
    """Return the transcripts in a file, or in all files of a folder; *reader* names their reader.

    A file that no reader knows is ignored, one that cannot be read is a problem.
    """
    if not place.exists():
        raise InputError(f"{place}: no such file or folder; expected transcripts")
    found: list[tuple[str, Transcript]] = []
    problems: list[str] = []
    ignored = 0
    for path in _files(place):
        one = READERS.get(reader) if reader else reader_of(path)
        if one is None:
            ignored += 1
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
    return ReadTranscripts(tuple(each for _, each in whole), used, tuple(problems), ignored)


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
    if not head.startswith(ZSTANDARD):
        return head
    return decompressed(path.read_bytes(), path)[:HEAD_BYTES]


def decompressed(data: bytes, path: Path) -> bytes:
    """Return Zstandard *data* decompressed."""
    from karat.errors import MissingExtra

    try:
        import zstandard
    except ImportError:
        purpose = f"{path} is compressed with Zstandard"
        raise MissingExtra("zstandard", extra="zstd", purpose=purpose) from None
    try:
        plain: bytes = zstandard.ZstdDecompressor().stream_reader(data).read()
    except zstandard.ZstdError as error:
        raise FormatError([Problem(str(path), 0, f"not Zstandard: {error}")]) from error
    return plain


def text_of_file(path: Path) -> str:
    """Return the text of a file, decompressed from gzip or Zstandard."""
    if path.stat().st_size > MOST_BYTES:
        raise FormatError([Problem(str(path), 0, f"larger than {MOST_BYTES:,} bytes")])
    with open_bytes(path) as stream:
        data = stream.read()
    if data.startswith(ZSTANDARD):
        data = decompressed(data, path)
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


def names_of(path: Path) -> tuple[str, ...]:
    """Return the names of a file and of its folder, which may be those of a query.

    >>> names_of(Path("runs/django-11/agent.traj.json"))
    ('agent', 'django-11')
    """
    return tuple(name for name in (path.name.partition(".")[0], path.parent.name) if name)
