"""The chunker ``markdown``: sections by heading, paragraphs where a section is too long."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from karat.corpus.chunkers.base import (
    Piece,
    SplitResult,
    cut_by_size,
    lines_of,
    piece_of,
    require_below,
    spec_of,
)
from karat.model.spec import Spec


class Heading(NamedTuple):
    """A heading: the line it starts at (from 0), its level (from 1) and its title."""

    row: int
    level: int
    title: str


_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_NO_PARAGRAPH = re.compile(r"\s*(?:$|[-*+>|#]|\d+[.)]\s|<|={3,}|`{3}|~{3})|\t| {4}")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
# Headings of plain text: a rule above, capitals, a number, or the ``~`` at the end in Vim's help.
_RULE = re.compile(r"([=*#_-])\1{19,}\s*$")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 ,.:'/&()-]{3,59}(?:\s{2,}\*\S+\*.*)?$")
_NUMBERED = re.compile(r"(\d+(?:\.\d+)*)\.?\s+[A-Z]\S.{0,70}$")
_WAVY = re.compile(r"\S.{0,70} ~$")
_EQUALS = re.compile(r"(={1,6})\s+(\S.*)$")
_BLOCK = re.compile(r"([-.=*_/+])\1{3,}")
# The head of a table has wide gaps between its columns.
_COLUMNS = re.compile(r"\S(?:\t| {3})\s*\S")
# Levels of plain text: underlined titles count from 1 and the others stand below them, unless a
# title below a rule came first.
_BELOW_RULE, _AFTER_RULES, _LOWEST = 10, 14, 20
# Vim's help sets the names of a section, as in *set-option*, beside its title.
_TAG = re.compile(r"\*\S+\*")


def headings(lines: Sequence[str], language: str) -> list[Heading]:
    r"""Return the headings of a text in *language*, none if it is not prose.

    >>> headings(["# A\n", "\n", "Sub\n", "---\n"], "markdown")
    [Heading(row=0, level=1, title='A'), Heading(row=2, level=2, title='Sub')]
    """
    find = _FINDERS.get(language)
    return list(find(lines)) if find else []


def fenced_rows(lines: Sequence[str]) -> set[int]:
    """Return the lines inside fenced code blocks of Markdown, the fences included.

    As in CommonMark, a fence that is never closed runs to the end.
    """
    inside: set[int] = set()
    fence = ""
    for row, line in enumerate(lines):
        match = _FENCE.match(line)
        if fence:
            inside.add(row)
            closes = match and match[1].startswith(fence) and not match[2].strip()
            fence = "" if closes else fence
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            inside.add(row)
            fence = match[1]
    return inside


def _markdown(lines: Sequence[str]) -> Iterator[Heading]:
    start = _after_front_matter(lines)
    fenced = fenced_rows(lines)
    for row in range(start, len(lines)):
        if row in fenced:
            continue
        line = lines[row].rstrip("\n")
        match = _ATX.match(line)
        if match:
            yield Heading(row, len(match[1]), _plain(match[2] or ""))
        elif row > start and row - 1 not in fenced and _SETEXT.match(line):
            above = lines[row - 1]
            if not _NO_PARAGRAPH.match(above):
                yield Heading(row - 1, 1 if "=" in line else 2, _plain(above))


def _after_front_matter(lines: Sequence[str]) -> int:
    if lines and lines[0].rstrip() == "---":
        for row in range(1, len(lines)):
            if lines[row].rstrip() in ("---", "..."):
                return row + 1
    return 0


def _plain(title: str) -> str:
    return _LINK.sub(r"\1", title).replace("`", "").strip().strip("*_ ")


def _restructured(lines: Sequence[str]) -> Iterator[Heading]:
    levels: dict[str, int] = {}
    row = 0
    while row + 1 < len(lines):
        over = _ADORNMENT.match(lines[row])
        title = lines[row + 1] if over else lines[row]
        under_row = row + 2 if over else row + 1
        under = _ADORNMENT.match(lines[under_row]) if under_row < len(lines) else None
        if _is_title(title, under, over, after_blank=row == 0 or not lines[row - 1].strip()):
            style = lines[under_row][0] * (2 if over else 1)
            yield Heading(row, levels.setdefault(style, len(levels) + 1), title.strip())
            row = under_row + 1
        else:
            row += 1


def _is_title(
    title: str, under: re.Match[str] | None, over: re.Match[str] | None, *, after_blank: bool
) -> bool:
    """Return whether *title* is a heading: underlined, perhaps also overlined, and not a table."""
    if under is None or not title.strip() or _ADORNMENT.match(title):
        return False
    if over:
        return over[0].rstrip() == under[0].rstrip()
    return after_blank and not title[0].isspace() and len(under[0].rstrip()) >= len(title.rstrip())


def _marked(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield the headings of AsciiDoc: as many equal signs as the level, then the title."""
    inside = ""
    for row, line in enumerate(lines):
        text = line.rstrip()
        if _BLOCK.fullmatch(text) and inside in ("", text):
            inside = "" if inside else text
        match = None if inside else _EQUALS.match(text)
        if match:
            yield Heading(row, len(match[1]), match[2])


def _plain_text(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield the headings of plain text, as readers recognise them.

    Titles that are underlined as in reStructuredText, or below a rule, stand above lines with a
    number, in capitals or with a wavy end; of the two kinds, the one that comes first stands above.
    """
    underlined = {heading.row: heading for heading in _underlined(lines)}
    lowered = 0
    row = 0
    while row < len(lines):
        heading = underlined.get(row)
        if heading:
            heading = heading._replace(level=heading.level + lowered)
        else:
            heading = _loose_heading(lines, row)
            if heading and heading.level == _BELOW_RULE:
                lowered = _AFTER_RULES
        if heading:
            yield heading
        # The title below a rule is not a second heading.
        row += 2 if heading and _RULE.match(lines[row]) else 1


def _underlined(lines: Sequence[str]) -> Iterator[Heading]:
    for heading in _restructured(lines):
        title = _TAG.sub("", heading.title).strip()
        if not _COLUMNS.search(title):
            yield heading._replace(title=_untagged(title))


def _loose_heading(lines: Sequence[str], row: int) -> Heading | None:
    """Return the heading that starts at *row* without being underlined, if one does."""
    line = lines[row].rstrip()
    below = lines[row + 1].rstrip() if row + 1 < len(lines) else ""
    if not line or (row and lines[row - 1].strip()):
        return None
    if _RULE.match(line):
        named = below and not below[0].isspace() and not _ADORNMENT.match(below)
        return Heading(row, _BELOW_RULE, _untagged(below)) if named else None
    numbered = None if below else _NUMBERED.match(line)
    if numbered:
        return Heading(row, _BELOW_RULE + 1 + numbered[1].count("."), _untagged(line))
    if _WAVY.match(line):
        return Heading(row, _LOWEST, _untagged(line[:-2]))
    if _CAPITALS.match(line):
        return Heading(row, _LOWEST - 1, _untagged(line))
    return None


def _untagged(line: str) -> str:
    return " ".join(_TAG.sub("", line).split())


_FINDERS: dict[str, Callable[[Sequence[str]], Iterator[Heading]]] = {
    "asciidoc": _marked,
    "markdown": _markdown,
    "rst": _restructured,
    "text": _plain_text,
}


class _Part(NamedTuple):
    """Lines *first* to *last* (from 0), below the headings *path*, with the *titles* inside."""

    first: int
    last: int
    path: tuple[str, ...]
    titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sections:
    r"""Sections of at most *size* characters; one shorter than *merge* joins its neighbour.

    Markdown and reStructuredText are cut at their headings, any other text at its blank lines. The
    scope of a piece is the path of headings above it, its symbols are the headings in it. A
    section that is too long is cut between paragraphs, then between lines.

    >>> text = "# Guide\nRead this.\n\n## Install\nRun make.\n"
    >>> [(p.scope, p.symbols) for p in Sections(size=30, merge=0).split(text, "markdown").pieces]
    [((), ('Guide',)), (('Guide',), ('Install',))]
    """

    size: int = 2000
    merge: int = 400

    def __post_init__(self) -> None:
        require_below("markdown", size=self.size, merge=self.merge)

    @property
    def spec(self) -> Spec:
        """Return the name and parameters."""
        return spec_of(self, "markdown")

    def split(self, text: str, language: str) -> SplitResult:
        """Return the pieces of *text*."""
        lines = lines_of(text)
        lengths = list(accumulate(map(len, lines), initial=0))
        fenced = fenced_rows(lines) if language == "markdown" else set()
        parts: list[_Part] = []
        for section in _sections(len(lines), headings(lines, language)):
            parts += self._cut(section, lines, lengths, fenced)
        return SplitResult(list(_pieces(lines, self._joined(parts, lengths))))

    def _cut(
        self, section: _Part, lines: Sequence[str], lengths: Sequence[int], fenced: set[int]
    ) -> Iterator[_Part]:
        """Yield *section*, in parts if it is too long; all but the first are below its title."""
        if lengths[section.last + 1] - lengths[section.first] <= self.size:
            yield section
            return
        start = section.first
        path, titles = section.path, section.titles
        for first, last in _paragraphs(section, lines, fenced):
            if lengths[last + 1] - lengths[start] <= self.size:
                continue
            if first > start:
                yield _Part(start, first - 1, path, titles)
                path, titles, start = path + titles, (), first
            if lengths[last + 1] - lengths[first] > self.size:
                *whole, (start, _) = cut_by_size(lengths, first, last, self.size)
                for begin, end in whole:
                    yield _Part(begin, end, path, titles)
                    path, titles = path + titles, ()
        yield _Part(start, section.last, path, titles)

    def _joined(self, parts: Sequence[_Part], lengths: Sequence[int]) -> list[_Part]:
        """Return *parts* with a short one joined to the next, and a short last one to its last."""

        def length(first: int, last: int) -> int:
            return lengths[last + 1] - lengths[first]

        joined: list[_Part] = []
        for part in parts:
            before = joined[-1] if joined else part
            short = length(before.first, before.last) < self.merge or (
                part is parts[-1] and length(part.first, part.last) < self.merge
            )
            if joined and short and length(before.first, part.last) <= self.size:
                joined[-1] = before._replace(last=part.last, titles=before.titles + part.titles)
            else:
                joined.append(part)
        return joined


def _sections(count: int, headings: Sequence[Heading]) -> Iterator[_Part]:
    """Yield the lines before the first heading, and each heading with the lines up to the next."""
    if not headings or headings[0].row > 0:
        yield _Part(0, (headings[0].row if headings else count) - 1, (), ())
    above: list[Heading] = []
    for index, heading in enumerate(headings):
        above = [other for other in above if other.level < heading.level]
        last = (headings[index + 1].row if index + 1 < len(headings) else count) - 1
        path = tuple(other.title for other in above if other.title)
        yield _Part(heading.row, last, path, (heading.title,) if heading.title else ())
        above.append(heading)


def _paragraphs(
    section: _Part, lines: Sequence[str], fenced: set[int]
) -> Iterator[tuple[int, int]]:
    """Yield the paragraphs of *section* with the blank lines after them; a code block is one."""
    start = section.first
    for row in range(section.first + 1, section.last + 1):
        if not lines[row - 1].strip() and lines[row].strip() and row - 1 not in fenced:
            yield start, row - 1
            start = row
    yield start, section.last


def _pieces(lines: Sequence[str], parts: Sequence[_Part]) -> Iterator[Piece]:
    for part in parts:
        piece = piece_of(lines, part.first, part.last, part.titles, part.path, "prose")
        if piece:
            yield piece
