"""From printed text to hits: by a regular expression, or by the paths that it mentions."""

import json
import re
from collections.abc import Iterator
from math import nan

from karat.engines.adapters.answers import AnswerReader, by_score
from karat.engines.adapters.external import Reply
from karat.engines.adapters.quoted import excerpt
from karat.errors import EngineError
from karat.model import Hit

__all__ = ["GROUPS", "PatternReader", "json_document", "json_lines", "mentioned"]

GROUPS = ("path", "start", "end", "score", "symbol")
MENTION = re.compile(r"[^\s\"'`<>|()\[\]{},;*]+")
WITH_LINES = re.compile(r"(?P<path>.+?):(?P<start>\d{1,9})(?:-(?P<end>\d{1,9})|:\d*)?[:.]*")


def json_document(text: str) -> object:
    """Return the JSON value *text*, or raise EngineError with its beginning."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        what = "nothing" if not text.strip() else f"what is no JSON: {excerpt(text)}"
        raise EngineError(f"answered {what}; expected one JSON value") from None


def json_lines(text: str, reader: AnswerReader) -> Reply:
    """Return the hits of JSON lines and what they report to have cost; blank lines are skipped.

    Of several lines that report a cost, the last counts: it has the sum.
    """
    entries = [json_document(line) for line in text.split("\n") if line.strip()]
    metadata: dict[str, object] = {}
    for entry in entries:
        metadata.update(reader.spending(entry, line=True))
    return Reply([hit for entry in entries for hit in reader.one(entry)], {}, metadata)


class PatternReader:
    r"""Finds hits in text by an expression with the groups path, start, end, score and symbol.

    >>> reader = PatternReader(r"^(?P<path>[^:]+):(?P<start>\d+)", first_line=1)
    >>> [(hit.path, hit.start_line) for hit in reader.hits("src/a.py:10: login\nnothing")]
    [('src/a.py', 10)]
    """

    def __init__(self, pattern: str, *, first_line: int = 1, sort: bool = False) -> None:
        self._pattern = re.compile(pattern, re.MULTILINE)
        self._shift = 1 - first_line
        self._sort = sort

    def hits(self, text: str) -> list[Hit]:
        """Return a hit for each place where the expression matches."""
        found = [self._hit(match.groupdict()) for match in self._pattern.finditer(text)]
        return by_score(found) if self._sort else found

    def _hit(self, groups: dict[str, str | None]) -> Hit:
        start, end = groups.get("start"), groups.get("end")
        lines = (0, 0)
        try:
            score = float(groups.get("score") or nan)
            if start:
                lines = int(start) + self._shift, int(end or start) + self._shift
        except (ValueError, OverflowError):
            score, lines = nan, (-1, -1)
        if start and lines[0] < 1:
            lines = (-1, -1)
        return Hit((groups.get("path") or "").strip(), score, *lines, groups.get("symbol") or "")


def mentioned(text: str) -> Iterator[Hit]:
    """Yield each word of *text* that may be a path, with its line where ``path:line`` is written.

    Which of them are paths is for the corpus to say.

    >>> [(hit.path, hit.start_line) for hit in mentioned("1. `src/a.py:7` in b")]
    [('1', 0), ('src/a.py', 7), ('in', 0), ('b', 0)]
    """
    for match in MENTION.finditer(text):
        word = match[0]
        if lines := WITH_LINES.fullmatch(word):
            start = int(lines["start"])
            yield Hit(lines["path"], nan, start, int(lines["end"] or start))
        else:
            yield Hit(word.rstrip(":."))
