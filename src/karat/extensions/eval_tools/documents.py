"""JSON that other tools write, read without assumptions: a value of another type is none."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import lru_cache
from itertools import islice
from math import isfinite
from pathlib import Path

from karat.errors import FormatError, Problem
from karat.formats.base import ReadLimits
from karat.formats.source import read_text

Record = Mapping[str, object]
MOST_FILES = 5_000
KEY = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*:')


def read_json(path: Path, limits: ReadLimits) -> object:
    """Return the value in *path*; NaN, which some tools write, is allowed."""
    text = read_text(path, limit=limits.json_bytes, setting="json_bytes")
    return parse(text, str(path))


def read_lines(path: Path, limits: ReadLimits) -> Iterator[Record]:
    """Yield the object on each line of *path* that is not blank."""
    text = read_text(path, limit=limits.json_bytes, setting="json_bytes")
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            value = parse(line, str(path), line=number)
            if not isinstance(value, dict):
                raise FormatError([Problem(str(path), number, "expected an object on each line")])
            yield value


def parse(text: str | bytes, source: str, *, line: int = 1) -> object:
    """Return the value of JSON *text*, or raise FormatError with its line."""
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        at = line + error.lineno - 1
        message = f"not JSON: {error.msg} at column {error.colno}"
        raise FormatError([Problem(source, at, message)]) from None
    except (RecursionError, ValueError) as error:
        raise FormatError([Problem(source, line, f"not JSON: {error}")]) from None
    return value


@lru_cache(maxsize=2)
def keys_in(head: bytes) -> frozenset[str]:
    """Return all keys in the first bytes of a JSON file, at any depth; none of another file."""
    if not head.lstrip().startswith((b"{", b"[")):
        return frozenset()
    return frozenset(match.group(1).decode(errors="replace") for match in KEY.finditer(head))


def record(value: object) -> Record:
    """Return *value* if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> Sequence[object]:
    """Return *value* if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def records(value: object) -> list[Record]:
    """Return the objects in the list *value*.

    >>> records([{"a": 1}, 2]), records(None)
    ([{'a': 1}], [])
    """
    return [item for item in items(value) if isinstance(item, dict)]


def number(value: object) -> float | None:
    """Return a finite number or a truth value as a number, None for all else.

    >>> number(True), number(0.5), number("0.5"), number(float("nan"))
    (1.0, 0.5, None, None)
    """
    if isinstance(value, int | float) and isfinite(value):
        return float(value)
    return None


def text(value: object) -> str:
    """Return *value* if it is a text or a whole number, else "".

    >>> text("a"), text(3), text(None)
    ('a', '3', '')
    """
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def short(label: str, most: int = 60) -> str:
    """Return *label* in one line of at most *most* characters.

    >>> short("a b", 3), short("Say hello\\nto me", 9)
    ('a b', 'Say hell…')
    """
    line = " ".join(label.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def files_below(path: Path, pattern: str) -> list[Path]:
    """Return *path* itself if it is a file, or the files below it whose names match, in order."""
    return sorted(path.rglob(pattern)) if path.is_dir() else [path]


def first_files(folder: str, pattern: str) -> Iterator[str]:
    """Yield the files of *folder* whose paths end with *pattern*, among the first of all files.

    Every reader asks about a folder, which may be a large one of something else.
    """
    every = (
        os.path.join(parent, name)  # noqa: PTH118 - pathlib takes ten times as long
        for parent, _, names in os.walk(folder)
        for name in names
    )
    first = islice(every, MOST_FILES)
    return (file for file in first if fnmatch(file, f"*/{pattern}"))


def has_file(folder: str, pattern: str) -> bool:
    """Return whether one of the first files of *folder* has a path that ends with *pattern*."""
    return next(first_files(folder, pattern), None) is not None


def no_scores(path: Path, expected: str) -> FormatError:
    """Return the error about a file without a score."""
    return FormatError([Problem(str(path), 0, f"no score; expected {expected}")])
