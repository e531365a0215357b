"""Code as a terminal shows it: numbered lines, with those that matter marked."""

from collections.abc import Sequence

from karat.report.display import printable

__all__ = ["code_lines"]

AROUND = 3
MOST = 60
TAB = "    "


def code_lines(lines: Sequence[str], start: int, end: int) -> list[str]:
    r"""Return the lines *start* to *end* (from 1) marked by ``>``, with a few around them.

    With 0 and 0 they are the first ones, unmarked. Of many, the rest is counted.

    >>> code_lines(["a = 1\n", "b = 2\n"], 2, 2)
    ['  1   a = 1', '  2 > b = 2']
    """
    first = max(start - AROUND, 1)
    last = min(end + AROUND, len(lines)) if end else len(lines)
    shown = min(last, first + MOST - 1)
    width = max(len(str(shown)), 3)
    rows = []
    for number in range(first, shown + 1):
        mark = ">" if end and start <= number <= end else " "
        text = printable(lines[number - 1].rstrip("\n").expandtabs(len(TAB)))
        rows.append(f"{number:{width}} {mark} {text}".rstrip())
    if last > shown:
        rows.append(f"{'':{width}}   ... {last - shown:,} more lines")
    return rows
