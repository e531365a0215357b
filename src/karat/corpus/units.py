"""The definitions that a reader takes as one: functions, and types without any."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from karat.corpus.definitions import TYPES, Symbol

__all__ = ["owner", "units"]

_FUNCTIONS = frozenset({"function", "method", "macro"})

Range = tuple[int, int]


def units(found: Iterable[Symbol]) -> list[Range]:
    """Return the lines, from 0, of the outermost functions and of the types that hold none.

    *found* are all definitions of a text, in its order. One on a single line is no unit.

    >>> code = [Symbol("A", "class", 1, 9), Symbol("f", "method", 2, 4), Symbol("B", "class", 6, 9)]
    >>> units(code)
    [(1, 3), (5, 8)]
    """
    long = [symbol for symbol in found if symbol.end_line > symbol.start_line]
    functions = list(_outermost(symbol for symbol in long if symbol.kind in _FUNCTIONS))
    types = (symbol for symbol in long if symbol.kind in TYPES)
    free = (symbol for symbol in types if owner(functions, _rows(symbol)) is None)
    return sorted([*functions, *_outermost(free)])


def owner(ranges: Sequence[Range], rows: Range) -> Range | None:
    """Return the last of *ranges*, sorted and apart, that has a line in common with *rows*.

    >>> owner([(1, 3), (5, 8)], (2, 4)), owner([(1, 3), (5, 8)], (4, 4))
    ((1, 3), None)
    """
    place = bisect_right(ranges, rows[1], key=lambda known: known[0]) - 1
    return ranges[place] if place >= 0 and ranges[place][1] >= rows[0] else None


def _outermost(symbols: Iterable[Symbol]) -> Iterator[Range]:
    end = -1
    for symbol in symbols:
        first, last = _rows(symbol)
        if first > end:
            yield first, last
            end = last


def _rows(symbol: Symbol) -> Range:
    return symbol.start_line - 1, symbol.end_line - 1
