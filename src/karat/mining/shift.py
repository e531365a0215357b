"""Where lines of a file are after it was changed."""

from collections.abc import Sequence

from karat.mining.diffs import Hunk

__all__ = ["shifted"]


def shifted(hunks: Sequence[Hunk], first: int, last: int) -> tuple[int, int] | None:
    """Return the lines *first* to *last* as they are numbered after *hunks*, in their order.

    Lines that were removed or replaced at either end are left off; between the first and the last
    line that is still there everything belongs to the range, what was added as well. None where
    no line is left.

    >>> hunks = [Hunk(2, 1, 2, 3), Hunk(6, 2, 7, 0)]
    >>> shifted(hunks, 1, 5), shifted(hunks, 2, 6), shifted(hunks, 6, 7), shifted(hunks, 8, 8)
    ((1, 7), (5, 7), None, (8, 8))
    """
    for start, count, _, _ in hunks:
        if start <= first < start + count:
            first = start + count
    for start, count, _, _ in reversed(hunks):
        if start <= last < start + count:
            last = start - 1
    return None if first > last else (_line(hunks, first), _line(hunks, last))


def _line(hunks: Sequence[Hunk], line: int) -> int:
    """Return the number of a line that is still there."""
    return line + sum(new - old for start, old, _, new in hunks if start < line)
