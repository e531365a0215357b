"""From the hunks of a change to lines before it, with the definitions around them."""

from collections.abc import Iterable, Iterator, Sequence
from sys import maxsize
from typing import NamedTuple

from karat.corpus.definitions import Symbol, tree_symbols
from karat.corpus.grammars import Parsed
from karat.mining.diffs import Hunk

__all__ = ["CHANGED", "TOUCHED", "Region", "regions"]

CHANGED, TOUCHED = 2, 1


class Region(NamedTuple):
    """Lines before the change, from 1, *end_line* included, and the definitions around them.

    *grade* is 2 for lines that were replaced or removed. It is 1 for an insertion, which stands for
    the line before and the line after it, as far as the file has them. *symbols* are the innermost
    definitions of these lines, in their order; a line outside of all has none.
    """

    start_line: int
    end_line: int
    grade: int
    symbols: tuple[Symbol, ...]


def regions(hunks: Sequence[Hunk], text: str, parsed: Parsed | None) -> Iterator[Region]:
    r"""Yield a region for each of *hunks* in *text*, which only LF divides into lines.

    Without a syntax tree they have no symbols. Nothing can be said about an insertion into an empty
    file.

    >>> hunks = [Hunk(0, 0, 1, 1), Hunk(3, 2, 3, 9), Hunk(8, 0, 16, 1)]
    >>> [region[:3] for region in regions(hunks, "x\n" * 8, None)]
    [(1, 1, 1), (3, 4, 2), (8, 8, 1)]
    """
    # Nothing but an insertion has a line that may lie behind the end, and of these only the last.
    last_line = _count(text) if hunks and not hunks[-1].old_lines else maxsize
    for start, count, _, _ in hunks:
        first, last = (start, start + count - 1) if count else (start, start + 1)
        first, last = max(first, 1), min(last, last_line)
        if first <= last:
            found = _innermost(parsed, first, last) if parsed else ()
            yield Region(first, last, CHANGED if count else TOUCHED, tuple(found))


def _count(text: str) -> int:
    return text.count("\n") + (text[-1:] not in ("", "\n"))


def _innermost(parsed: Parsed, first: int, last: int) -> Iterable[Symbol]:
    owner: dict[int, Symbol] = {}
    # What encloses others comes before them, so that the innermost is written last.
    for symbol in tree_symbols(parsed, (first, last)):
        begin, end = max(symbol.start_line, first), min(symbol.end_line, last)
        owner.update(dict.fromkeys(range(begin, end + 1), symbol))
    return dict.fromkeys(owner[line] for line in sorted(owner))
