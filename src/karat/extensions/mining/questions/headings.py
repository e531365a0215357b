"""Questions from headings: the heading asks for its section."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.sections import Heading, headings
from karat.corpus.snapshot import Mask
from karat.extensions.mining.questions.wording import (
    Finding,
    Question,
    check_query,
    normalised,
    plain_text,
)
from karat.extensions.mining.words import LEAST_WORDS, PACKAGE, content_words
from karat.model import Target
from karat.system.package_data import read_lines

KIND = "heading"
# Replaces a title: the line stays a heading, so that sections stay sections.
MASKED = "…"
# Sections with less text of their own have nothing to find.
_LEAST_WORDS_INSIDE = 8
# Keywords are usual queries for documentation; a doc comment is a sentence.
_LEAST_WORDS = 2
_ANCESTORS = 2

_VERSION = re.compile(r"^(?:v|version |release )?\d+(?:\.\w+)+|^\d{4}-\d\d-\d\d", re.IGNORECASE)
_NUMBER = re.compile(
    r"^(?:(?:step|option|part|chapter|lesson)\s+\d+\s*[:.–-]|\d+(?:\.\d+)*\.?|[A-Z]\.)\s+(?=\S)",
    re.IGNORECASE,
)
_FOLD = re.compile(r"\s*\{\{\{\d*\s*$")
_ATX = re.compile(r"\s{0,3}(#{1,6}|={1,6})\s")
# The signs around a title in a table of contents or in the head of a page.
_ENTRY = re.compile(r"^\s*(?:title\s*:|[-*+•]|\d+[.)]|\.\. )\s*|\s*(?:<[^<>]*>|\(#[^)]*\))\s*$")


@cache
def _generic_titles() -> frozenset[str]:
    """Return the titles that every documentation has."""
    return frozenset(read_lines(PACKAGE, "word_lists/generic_titles.txt"))


class Section(NamedTuple):
    """A heading, its title row (from 0), the last row of its own text, and the headings above."""

    heading: Heading
    title_row: int
    last_row: int
    above: tuple[Heading, ...]


def sections(lines: Sequence[str], language: str) -> Iterator[Section]:
    """Yield each heading with the lines up to the next one."""
    all_headings = headings(lines, language)
    above: list[Heading] = []
    for index, heading in enumerate(all_headings):
        above = [other for other in above if other.level < heading.level]
        following = all_headings[index + 1].row if index + 1 < len(all_headings) else len(lines)
        row = heading.row
        while row < following - 1 and not any(map(str.isalnum, lines[row])):
            row += 1
        outer = tuple(other for other in above if other.title)
        yield Section(heading, row, following - 1, outer)
        above.append(heading)


def heading_questions(path: str, text: str, language: str, repeated: Iterable[str]) -> Finding:
    """Return a question for every heading in *text*; *repeated* are titles of several sections.

    The masks hide the title, and lines that consist of it: entries of a table of contents.
    """
    lines = lines_of(text)
    own = list(sections(lines, language))
    titles = {normalised(section.heading.title) for section in own}
    entries: dict[str, list[Mask]] = {}
    headed = {section.title_row for section in own}
    for row, line in enumerate(lines):
        bare = normalised(plain_text(_ENTRY.sub("", line)))
        if bare in titles and row not in headed:
            entries.setdefault(bare, []).append(Mask(row + 1, row + 1, MASKED))
    often = frozenset(repeated)
    title_masks = {section.heading: _title_mask(lines, section) for section in own}
    questions, masks = [], []
    for section in own:
        query, used = _query(section, language)
        title = normalised(section.heading.title)
        target, reason = _section(path, lines, language, section)
        if not reason:
            reason = "repeated" if title in often else check_query(query, least=_LEAST_WORDS)
        origin = path, section.heading.row + 1
        questions.append(Question(query, (target,), KIND, language, origin, reason))
        masks.append((*map(title_masks.__getitem__, used), *entries.pop(title, ())))
    return Finding(tuple(questions), tuple(masks))


def repeated_titles(texts: Iterable[tuple[str, str]]) -> set[str]:
    """Return the titles that occur more than once in *texts*, which have a language each."""
    counts = Counter(
        normalised(heading.title)
        for text, language in texts
        for heading in headings(lines_of(text), language)
    )
    return {title for title, count in counts.items() if count > 1}


def _query(section: Section, language: str) -> tuple[str, list[Heading]]:
    """Return the title, after titles above it if it is short, and the headings that it uses."""
    query = _spoken(section.heading.title, language)
    used = [section.heading]
    for outer in reversed(section.above[-_ANCESTORS:]):
        if len(content_words(query)) >= LEAST_WORDS:
            break
        title = _spoken(outer.title, language)
        if normalised(title) not in _generic_titles():
            query = f"{title}: {query}"
            used.insert(0, outer)
    return query, used


def _spoken(title: str, language: str) -> str:
    spoken = _NUMBER.sub("", _FOLD.sub("", plain_text(title))).strip(" #.:")
    return spoken.capitalize() if language == "text" and spoken.isupper() else spoken


def _section(
    path: str, lines: Sequence[str], language: str, section: Section
) -> tuple[Target, str]:
    """Return the lines of a section, and the rule that drops it ("" for none)."""
    heading, title_row, last, _ = section
    title = _spoken(heading.title, language)
    while last > title_row and not lines[last].strip():
        last -= 1
    inside = " ".join(lines[title_row + 1 : last + 1])
    reason = ""
    if normalised(title) in _generic_titles() or _VERSION.match(title) or not content_words(title):
        reason = "generic"
    elif len(content_words(inside)) < _LEAST_WORDS_INSIDE:
        reason = "nothing-left"
    return Target(path, 1.0, heading.row + 1, last + 1), reason


def _title_mask(lines: Sequence[str], section: Section) -> Mask:
    row = section.title_row
    sign = _ATX.match(lines[row])
    return Mask(row + 1, row + 1, f"{sign[1]} {MASKED}" if sign else MASKED)
