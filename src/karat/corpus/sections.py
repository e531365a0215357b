"""The chunker ``markdown``: sections by heading, paragraphs where a section is too long."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from karat.corpus.chunk import Piece, Split
from karat.corpus.headings import Heading, fenced_rows, headings
from karat.corpus.parameters import require_below, spec_of
from karat.corpus.pieces import piece_of
from karat.corpus.text_lines import cut_by_size, lines_of
from karat.model.spec import Spec

__all__ = ["Sections"]


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

    def split(self, text: str, language: str) -> Split:
        """Return the pieces of *text*."""
        lines = lines_of(text)
        lengths = list(accumulate(map(len, lines), initial=0))
        fenced = fenced_rows(lines) if language == "markdown" else set()
        parts: list[_Part] = []
        for section in _sections(len(lines), headings(lines, language)):
            parts += self._cut(section, lines, lengths, fenced)
        return Split(list(_pieces(lines, self._joined(parts, lengths))))

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


def _sections(count: int, found: Sequence[Heading]) -> Iterator[_Part]:
    """Yield the lines before the first heading, and each heading with the lines up to the next."""
    if not found or found[0].row > 0:
        yield _Part(0, (found[0].row if found else count) - 1, (), ())
    above: list[Heading] = []
    for index, heading in enumerate(found):
        above = [other for other in above if other.level < heading.level]
        last = (found[index + 1].row if index + 1 < len(found) else count) - 1
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
