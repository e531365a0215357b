"""Strict JSON and YAML: no duplicate key, no deep nesting; and the line of any value.

JSON has no NaN. YAML has mappings, lists and text, nothing else: it is built from the parser's
events, so that ids stay as written (``no``, ``012``), and an alias or a tag is never followed. Null
is None.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from karat.errors import FormatError, Problem
from karat.formats.fields import Checker, Location
from karat.formats.source import Problems, read_text
from karat.model.frozen import repeated
from karat.system.files import write_text
from karat.system.words import is_encodable

if TYPE_CHECKING:
    import yaml


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,\n]|[^\s{}\[\]:,"]+', re.DOTALL)
LONGEST_NUMBER = 4_000
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# Texts of a switch, since values stay as written.
SWITCH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
YAML_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
YAML_DEEPEST = 100
YAML_VALUE_EVENTS = frozenset(
    {"AliasEvent", "MappingStartEvent", "ScalarEvent", "SequenceStartEvent"}
)


def load_json(
    path: str | os.PathLike[str], *, limit: int, setting: str = "json_bytes"
) -> tuple[object, Checker]:
    """Return the value in *path* and a checker that knows the line of each part of it."""
    text = read_text(path, limit=limit, setting=setting)
    return parse_json(text, os.fspath(path)), Checker(path, lambda: positions(text))


def parse_json(text: str, source: str, *, line: int = 1) -> object:
    """Return the value of JSON *text*, whose first line has the number *line*.

    >>> parse_json('{"a": 1, "a": 2}', "x.json")
    Traceback (most recent call last):
    ...
    karat.errors.FormatError: x.json:1: key 'a' appears twice
    """
    refused: list[str] = []

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        record = dict(items)
        if len(record) < len(items):
            refused.extend(repeated(key for key, _ in items))
        return record

    def constant(word: str) -> float:
        raise ValueError(f"{word} is not a JSON number")

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
        if SURROGATE.search(text):
            _check_surrogates(value, text, source, line)
    except FormatError:
        raise
    except json.JSONDecodeError as error:
        where = error.lineno + line - 1
        # Some of these messages end in "at": the location is reported separately.
        message = f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}"
        raise FormatError([Problem(source, where, message)]) from None
    except RecursionError:
        raise FormatError([Problem(source, 0, "nested too deeply")]) from None
    except ValueError as error:  # a constant, or an integer of thousands of digits
        message = str(error).partition(";")[0]
        where = _line_of_constant(text) + line - 1
        raise FormatError([Problem(source, where, message)]) from None
    if refused:
        raise FormatError(_duplicates(text, source, line))
    return value


def opens_list(head: bytes, key: str) -> bool:
    """Return whether *key* with a list as its value stands in the first bytes of a file."""
    return re.search(rb'"%s"\s*:\s*\[' % key.encode(), head) is not None


def positions(text: str) -> dict[Location, int]:
    r"""Return the line of every value in valid JSON *text*, by its keys and indexes.

    Called only after a problem, so that valid files cost no time.

    >>> positions('{"a":\n[1,\n2]}')[("a", 1)]
    3
    """
    return {location: line for location, line, _ in _walk(text)}


def dumps(value: object, *, indent: int | None = 2) -> str:
    """Return *value* as JSON text; NaN and infinity are errors, text stays readable."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)


def finite(value: object) -> object:
    """Return *value* with every number that JSON cannot spell replaced by None.

    >>> finite({"f1": float("nan"), "runs": [1.5, float("inf")]})
    {'f1': None, 'runs': [1.5, None]}
    """
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def write_json(path: Path, value: object) -> None:
    """Write *value* as indented JSON with a final line end, whole or not at all."""
    write_text(path, dumps(value) + "\n")


class _Frame:
    """One open object or list while walking: the key or index of the value that comes next."""

    def __init__(self, *, is_object: bool) -> None:
        self.key: str | int = "" if is_object else 0
        self.seen: set[str] | None = set() if is_object else None
        self.wants_key = is_object
        self.again = False

    def take_key(self, key: str) -> None:
        self.again = self.seen is not None and key in self.seen
        self.key = key
        self.wants_key = False
        if self.seen is not None:
            self.seen.add(key)

    def next_value(self) -> None:
        self.wants_key = self.seen is not None
        if isinstance(self.key, int):
            self.key += 1


def _walk(text: str) -> Iterator[tuple[Location, int, bool]]:
    """Yield location, line and whether the key was already there, for each value in order."""
    line = 1
    frames: list[_Frame] = []
    for match in TOKEN.finditer(text):
        word = match.group()
        if word == "\n":
            line += 1
        elif word in "}]":
            frames.pop()
        elif word == ",":
            frames[-1].next_value()
        elif word == ":":
            continue
        elif frames and frames[-1].wants_key:
            frames[-1].take_key(json.loads(word))
        else:
            again = bool(frames) and frames[-1].again
            yield tuple(frame.key for frame in frames), line, again
            if word in "{[":
                frames.append(_Frame(is_object=word == "{"))


def _duplicates(text: str, source: str, line: int) -> list[Problem]:
    return [
        Problem(source, number + line - 1, f"key {location[-1]!r} appears twice")
        for location, number, again in _walk(text)
        if again
    ]


def _line_of_constant(text: str) -> int:
    """Return the line of the first NaN, infinity or number of thousands of digits."""
    line = 1
    for match in TOKEN.finditer(text):
        word = match.group()
        line += word == "\n"
        too_long = len(word) > LONGEST_NUMBER and word[0] != '"'
        if too_long or word in {"NaN", "Infinity", "-Infinity"}:
            return line
    return line


def _check_surrogates(value: object, text: str, source: str, line: int) -> None:
    """Reject half of a surrogate pair, which JSON can contain and UTF-8 cannot."""
    bad = [location for location, word in _strings(value, ()) if not is_encodable(word)]
    if bad:
        lines = positions(text)
        message = "text has half of a surrogate pair; expected whole characters"
        raise FormatError([Problem(source, lines.get(at, 0) + line - 1, message) for at in bad])


def _strings(value: object, location: Location) -> Iterator[tuple[Location, str]]:
    if isinstance(value, str):
        yield location, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from ((at, word) for at, word in _strings(item, (*location, key)))
            if not is_encodable(key):
                yield (*location, key), key
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, (*location, index))


def load_yaml(
    path: str | os.PathLike[str], *, limit: int, setting: str = "yaml_bytes"
) -> tuple[object, Checker]:
    """Return the value in *path*, scalars as text, and a checker that knows its lines."""
    import yaml

    text = read_text(path, limit=limit, setting=setting)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        reader = _YamlReader(yaml.parse(text, Loader=loader), Problems(path))
        value = reader.document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 0
        reason = getattr(error, "problem", None) or str(error)
        raise FormatError([Problem(os.fspath(path), line, f"not YAML: {reason}")]) from None
    reader.problems.finish()
    return value, Checker(path, lambda: reader.lines)


class _YamlReader:
    """Takes values from a stream of events, noting the line of each."""

    def __init__(self, events: "Iterator[yaml.Event]", problems: Problems) -> None:
        self.events = events
        self.problems = problems
        self.lines: dict[Location, int] = {}

    def document(self) -> object:
        """Return the value of the only document."""
        value: object = None
        seen = False
        for event in self.events:
            kind = type(event).__name__
            if kind in YAML_VALUE_EVENTS and not seen:
                seen = True
                value = self._value(event, ())
            elif kind == "DocumentStartEvent" and seen:
                self.problems.add(_line(event), "a second document begins; expected one")
                self.problems.finish()
        return value

    def _value(self, event: "yaml.Event", location: Location) -> object:
        line = self.lines[location] = _line(event)
        if len(location) > YAML_DEEPEST:
            self.problems.add(line, f"nested deeper than {YAML_DEEPEST}")
            self.problems.finish()
        kind = type(event).__name__
        if getattr(event, "anchor", None):
            self.problems.add(line, "anchors and aliases are not allowed")
        if getattr(event, "tag", None):
            self.problems.add(line, f"tags are not allowed, here {getattr(event, 'tag', '')}")
        if kind == "SequenceStartEvent":
            return self._list(location)
        if kind == "MappingStartEvent":
            return self._mapping(location)
        text = str(getattr(event, "value", ""))
        plain = getattr(event, "implicit", (True, True))[0]
        return None if plain and text in YAML_NULLS else text

    def _list(self, location: Location) -> list[object]:
        items: list[object] = []
        while type(event := next(self.events)).__name__ != "SequenceEndEvent":
            items.append(self._value(event, (*location, len(items))))
        return items

    def _mapping(self, location: Location) -> dict[str, object]:
        record: dict[str, object] = {}
        while type(event := next(self.events)).__name__ != "MappingEndEvent":
            key = self._value(event, (*location, "key"))
            if not isinstance(key, str):
                self.problems.add(_line(event), "expected text as a key")
            elif key in record:
                self.problems.add(_line(event), f"key {key!r} appears twice")
            record[str(key)] = self._value(next(self.events), (*location, str(key)))
        return record


def _line(event: "yaml.Event") -> int:
    mark = event.start_mark
    return mark.line + 1 if mark else 0
