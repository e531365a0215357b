"""Strict YAML: mappings, lists and text, nothing else; and the line of every value.

Built from the parser's events, so that ids stay as written (``no``, ``012``), an alias or a tag is
never followed, a key cannot come twice and the depth is bounded. Null is None.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.errors import FormatError, Problem
from karat.formats.fields import Checker, Location
from karat.formats.source import Problems, read_text

if TYPE_CHECKING:
    import yaml

__all__ = ["SWITCH", "dump_yaml", "load_yaml"]

# Texts of a switch, since values stay as written.
SWITCH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
DEEPEST = 100
LINE_ENDS = frozenset("\r\x85\u2028\u2029")
VALUES = frozenset({"AliasEvent", "MappingStartEvent", "ScalarEvent", "SequenceStartEvent"})


def load_yaml(
    path: str | os.PathLike[str], *, limit: int, setting: str = "yaml_bytes"
) -> tuple[object, Checker]:
    """Return the value in *path*, scalars as text, and a checker that knows its lines."""
    import yaml

    text = read_text(path, limit=limit, setting=setting)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        reader = _Reader(yaml.parse(text, Loader=loader), Problems(path))
        value = reader.document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 0
        reason = getattr(error, "problem", None) or str(error)
        raise FormatError([Problem(os.fspath(path), line, f"not YAML: {reason}")]) from None
    reader.problems.finish()
    return value, Checker(path, lambda: reader.lines)


def dump_yaml(value: object) -> str:
    """Return *value* as YAML in which every text is quoted where it must be."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes what YAML takes for a line end, which the plain dumper leaves bare."""

    def text(dumper: yaml.SafeDumper, word: str) -> yaml.ScalarNode:
        style = '"' if LINE_ENDS & set(word) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", word, style=style)

    Dumper.add_representer(str, text)
    dumped: str = yaml.dump(value, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=10_000)
    return dumped


class _Reader:
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
            if kind in VALUES and not seen:
                seen = True
                value = self._value(event, ())
            elif kind == "DocumentStartEvent" and seen:
                self.problems.add(_line(event), "a second document begins; expected one")
                self.problems.finish()
        return value

    def _value(self, event: "yaml.Event", location: Location) -> object:
        line = self.lines[location] = _line(event)
        if len(location) > DEEPEST:
            self.problems.add(line, f"nested deeper than {DEEPEST}")
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
        return None if plain and text in NULLS else text

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
