"""What the result of a tool call shows: hits of searches, numbered lines, files that failed."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from karat.extensions.trace.programs import placed
from karat.extensions.trace.record import TextRange
from karat.scoring.matching.modes import is_suffix

# ``src/a.py:12:text`` or ``src/a.py-13-text`` around a match.
_NUMBERED_HIT = re.compile(r"^(?P<path>[^\s:][^:\n]*?)(?::(?P<line>\d+):|-(?P<near>\d+)-)")
_HIT_SPAN = re.compile(
    r"(?P<path>[\w@+.~/\\()\[\]-]*[\w)\]]\.\w+|[\w@+.~-]+(?:/[\w@+.~()\[\]-]+)+)"
    r"(?:[:#]L?|\s*\(?lines? )(?P<start>\d+)(?:[-\u2013:]L?(?P<end>\d+))?",
    re.IGNORECASE,
)
_PLAIN_HIT = re.compile(r"^(?P<path>[^\s:][^:\n]*):(?!\d+:)(?P<text>.*)$")
_OWN_NUMBER = re.compile(r"^\s*(?P<line>\d+)(?P<sign>[:\-→|\t]| {2})")
_NAME = re.compile(r"^[\w@+.~()\[\]-]*[/.][\w@+.~/()\[\]-]*$")
_HEADING = re.compile(r"^\[File: (?P<path>.+?) \(\d+ lines total\)\]")
_SWE_MATCHES = re.compile(r"^Found \d+ matches (?:for|of) .*? in (?P<path>\S+):?$")
_SWE_LINE = re.compile(r"^Line (?P<line>\d+):(?P<text>.*)")
_MISSING = re.compile(
    r"(?:can't (?:read|open)|cannot (?:open|access|stat)|cat:|sed:|nl:|head:|tail:|less:|"
    r"error reading)\s*[`\u2018']?(?P<path>[^'\u2019:\n]+?)[\u2019']?(?: for reading)?: "
    r"(?:No such|Is a|Perm)"
)
# A line that stands for those that were cut out: of a harness, an editor or a terminal.
_CUT = re.compile(
    r"^\s*(?:<elided_chars>|<response clipped>|(?:\[|\.\.\.|\u2026|\()"
    r".*(?:truncated|omitted|clipped|elided).*)$",
    re.IGNORECASE,
)
PATH_KEYS = ("path", "file", "file_path", "filePath", "filename", "relative_path", "uri", "source")
START_KEYS = ("start_line", "startLine", "line_start", "start", "line", "line_number", "lineNumber")
END_KEYS = ("end_line", "endLine", "line_end", "end")
TEXT_KEYS = ("text", "content", "snippet", "code", "body", "lines", "match")


class Hits(NamedTuple):
    """What a search returned: *parts* whose text it prints, and *names* of files without text."""

    parts: tuple[TextRange, ...] = ()
    names: tuple[str, ...] = ()


def hits(output: str, files: Sequence[TextRange] = (), folder: str = "") -> Hits:
    r"""Return the hits in the *output* of a search.

    *files* are those that the search has read by its arguments: lines with a number only are of
    the one file there is.

    >>> hits("src/a.py:3:def f\nsrc/a.py-4-    x\nb.py:9:f()").parts
    (TextRange(path='src/a.py', start=3, end=4), TextRange(path='b.py', start=9, end=9))
    >>> hits("12:def f", [TextRange("a.py")]).parts
    (TextRange(path='a.py', start=12, end=12),)
    >>> hits("src/a.py\nsrc/b.py").names
    ('src/a.py', 'src/b.py')
    """
    known = _json_hits(output) or _Lines(files).hits(output)
    return Hits(
        tuple(part._replace(path=placed(part.path, folder)) for part in known.parts),
        tuple(dict.fromkeys(placed(name, folder) for name in known.names)),
    )


class _Lines:
    """Reads the output of a search line by line; a heading names the file of what follows.

    With a *single* file that was searched, each line is of that.
    """

    def __init__(self, files: Sequence[TextRange]) -> None:
        self._single = files[0].path if len(files) == 1 and _is_file(files[0].path) else ""
        self._file = ""

    def hits(self, output: str) -> Hits:
        parts: list[TextRange] = []
        names: list[str] = []
        for line in output.splitlines():
            if match := _HEADING.match(line) or _SWE_MATCHES.match(line):
                self._file = match["path"]
            elif part := self._of_single(line) if self._single else self._part(line):
                parts.append(part)
            elif not self._single and (name := _name_in(line)):
                self._file = name
                names.append(name)
        return Hits(merged(parts), tuple(names))

    def _of_single(self, line: str) -> TextRange | None:
        if match := _OWN_NUMBER.match(line) or _SWE_LINE.match(line):
            return _at(self._single, match["line"])
        match = _NUMBERED_HIT.match(line)
        if match and is_suffix(match["path"], self._single):
            return _at(self._single, match["line"] or match["near"])
        return TextRange(self._single, -1, -1) if line.strip("- ") else None

    def _part(self, line: str) -> TextRange | None:
        """Return the lines of a file that *line* shows, None if it shows none."""
        if match := _NUMBERED_HIT.match(line):
            if _like_path(match["path"]):
                return _at(match["path"], match["line"] or match["near"])
        elif self._file and (match := _OWN_NUMBER.match(line) or _SWE_LINE.match(line)):
            return _at(self._file, match["line"])
        return None if _name_in(line) else _of_match(line)


def _of_match(line: str) -> TextRange | None:
    """Return the file of a match without a line of its own, or with a range of lines."""
    if (match := _PLAIN_HIT.match(line)) and _like_path(match["path"]):
        return TextRange(match["path"], -1, -1)
    if match := _HIT_SPAN.search(line):
        start = int(match["start"])
        return TextRange(match["path"], start, int(match["end"] or start))
    return None


def _name_in(line: str) -> str:
    """Return the path if *line* is only that, perhaps with a count as of ``grep -c``, or ""."""
    text = re.sub(r":\d+\s*$", "", line.strip())
    return text if len(text) < 300 and _NAME.match(text) else ""


def _at(path: str, line: str) -> TextRange:
    return TextRange(path, int(line), int(line))


def _is_file(path: str) -> bool:
    return "." in path.rpartition("/")[2].strip(".") and not path.endswith("/")


def _like_path(text: str) -> bool:
    """Return whether *text* before a colon may be a path: short, without spaces, not a URL."""
    if text in ("grep", "rg", "find", "ls"):
        return False  # a message of the program itself
    return len(text) < 300 and " " not in text and text.strip("/.") != "" and "://" not in text


def merged(parts: Iterable[TextRange]) -> tuple[TextRange, ...]:
    """Return *parts* with neighbouring lines of one file joined, in their order.

    >>> merged([TextRange("a", 3, 3), TextRange("a", 4, 6), TextRange("a", 9, 9)])
    (TextRange(path='a', start=3, end=6), TextRange(path='a', start=9, end=9))
    """
    joined: list[TextRange] = []
    for part in dict.fromkeys(parts):
        last = joined[-1] if joined else None
        if (
            last
            and last.path == part.path
            and last.start > 0
            and last.start <= part.start <= last.end + 1
        ):
            joined[-1] = last._replace(end=max(last.end, part.end))
        else:
            joined.append(part)
    return tuple(dict.fromkeys(joined))


def numbered(output: str, path: str) -> tuple[TextRange, ...]:
    r"""Return the lines of *path* that a numbered *output* shows; nothing if it has no numbers.

    >>> numbered("     9\tdef f():\n    10\t    pass\n", "a.py")
    (TextRange(path='a.py', start=9, end=10),)
    """
    lines = [line for line in output.splitlines() if line.strip()]
    numbers = [int(match["line"]) for line in lines if (match := _OWN_NUMBER.match(line))]
    rising = all(low < high for low, high in pairwise(numbers))
    if not numbers or not rising or 2 * len(numbers) < len(lines):
        return ()
    return merged(_at(path, str(number)) for number in numbers)


def head_of(output: str) -> tuple[int, bool]:
    r"""Return how many lines an output has up to where the agent's harness has cut it, if it has.

    >>> head_of("a\nb\n[... 40 lines truncated ...]\nz"), head_of("a\nb")
    ((2, True), (2, False))
    """
    lines = output.splitlines()
    at = next((number for number, line in enumerate(lines) if _CUT.match(line)), -1)
    return (len(lines), False) if at < 0 else (at, True)


def heading(output: str) -> str:
    """Return the path of the window that SWE-agent prints, "" without one."""
    for line in output.splitlines():
        if match := _HEADING.match(line):
            return match["path"]
    return ""


def missing(output: str, folder: str = "") -> set[str]:
    """Return the files that could not be read, by the messages of cat, sed and others.

    >>> missing("cat: src/x.py: No such file or directory")
    {'src/x.py'}
    """
    return {placed(match["path"].strip(), folder) for match in _MISSING.finditer(output)}


def names(output: str, folder: str = "") -> tuple[str, ...]:
    """Return the paths that a list prints, one in a line."""
    lines = (line.strip() for line in output.splitlines())
    found = (line for line in lines if line and " " not in line and len(line) < 300)
    return tuple(
        dict.fromkeys(placed(line, folder) for line in found if "." in line or "/" in line)
    )


def _json_hits(output: str) -> Hits | None:
    text = output.strip()
    if not text.startswith(("{", "[")):
        return None
    try:
        document = json.loads(text)
    except ValueError:
        return None
    parts: list[TextRange] = []
    named: list[str] = []
    for entry in _objects(document):
        path = next((entry[key] for key in PATH_KEYS if isinstance(entry.get(key), str)), "")
        if not isinstance(path, str) or not path or " " in path:
            continue
        path = path.removeprefix("file://")
        start, end = _line(entry, START_KEYS), _line(entry, END_KEYS)
        if start or any(entry.get(key) for key in TEXT_KEYS):
            parts.append(TextRange(path, start or -1, max(start, end) or -1))
        else:
            named.append(path)
    return Hits(merged(parts), tuple(named)) if parts or named else None


def _line(entry: Mapping[str, object], keys: Sequence[str]) -> int:
    for key in keys:
        value = entry.get(key)
        if isinstance(value, Mapping):
            value = value.get("line")
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return 0


def _objects(document: object) -> Iterator[Mapping[str, object]]:
    if isinstance(document, Mapping):
        yield document
        for value in document.values():
            yield from _objects(value)
    elif isinstance(document, list):
        for value in document:
            yield from _objects(value)
