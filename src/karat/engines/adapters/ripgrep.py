"""The events of ``rg --json`` as a ranking: ripgrep finds lines, it does not rank them."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from karat.engines.adapters.quoted import excerpt
from karat.engines.adapters.template import words
from karat.errors import EngineError
from karat.model import Hit

__all__ = ["grouped"]


class Line(NamedTuple):
    """A line that matched, and how often."""

    path: str
    number: int
    text: str
    matches: int


def grouped(text: str, query: str, *, join_lines: int) -> list[Hit]:
    r"""Return ranges of matching lines, ranked by distinct words of *query*, then by matches.

    Lines of a file that are at most *join_lines* apart make one range. The whole part of a score
    is the number of distinct words, its fraction grows with the matches; equal ranges keep the
    order of paths and lines.

    >>> event = '{"type": "match", "data": {"path": {"text": "a.py"}, "line_number": %d, '
    >>> event += '"lines": {"text": "%s"}, "submatches": [{}]}}'
    >>> found = [(3, "def login"), (5, "password"), (99, "login")]
    >>> output = "\n".join(event % line for line in found)
    >>> [(hit.start_line, hit.end_line, hit.score) for hit in grouped(output, "login password",
    ...     join_lines=10)]
    [(3, 5, 2.6666666666666665), (99, 99, 1.5)]
    """
    asked = words(query)
    lines = sorted(set(_lines(text)))
    ranges = [_range(group, asked) for group in _groups(lines, join_lines)]
    return sorted(ranges, key=lambda hit: (-hit.score, hit.path, hit.start_line))


def _range(group: list[Line], asked: list[str]) -> Hit:
    found = set(re.findall(r"\w+", " ".join(line.text for line in group).lower()))
    joined = " ".join(found)
    # A word counts inside a longer one too: "login" is in "login_user".
    distinct = sum(word in joined for word in asked)
    count = sum(line.matches for line in group)
    return Hit(group[0].path, distinct + count / (count + 1), group[0].number, group[-1].number)


def _groups(lines: Iterable[Line], join_lines: int) -> Iterator[list[Line]]:
    group: list[Line] = []
    for line in lines:
        if group and (line.path != group[-1].path or line.number - group[-1].number > join_lines):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _lines(text: str) -> Iterator[Line]:
    for row in text.split("\n"):
        if not row.strip():
            continue
        try:
            event = json.loads(row)
            if event["type"] != "match":
                continue
            data = event["data"]
            # No line number: ripgrep ran without them, or on binary data.
            if data["line_number"] is not None:
                yield Line(
                    _text(data["path"]),
                    int(data["line_number"]),
                    _text(data["lines"]),
                    len(data["submatches"]) or 1,
                )
        except (ValueError, KeyError, TypeError):
            raise EngineError(f"printed {excerpt(row)}; expected the events of rg --json") from None


def _text(field: dict[str, str]) -> str:
    """Return a text of ripgrep, which is base64 where it is no UTF-8."""
    if "text" in field:
        return field["text"]
    return base64.b64decode(field["bytes"]).decode("utf-8", "replace")
