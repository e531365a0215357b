"""The part of a Python file that a change concerns, on the lines that it has in the whole file.

Truth spends most of its time on syntax trees, and most of a long file does not matter: in Python
indentation alone tells what encloses a line.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from karat.mining.diffs import Hunk

__all__ = ["excerpts"]

# No outermost statement starts like this.
_NO_STATEMENT = " \t\n\r\f\\#)]}\"'"
# A definition within one does.
_INNER = ("    def ", "    async def ", "    class ", "    @")
_QUOTES = ('"""', "'''")


def excerpts(old: Sequence[str], new: Sequence[str], hunks: Sequence[Hunk]) -> tuple[str, str]:
    r"""Return the lines *old* and *new* as texts in which those far from all *hunks* are blank.

    What stays is cut before definitions that follow a blank line: the parts that were changed, the
    head of the outermost statement around each, and its last part, so that it ends where it did.
    Where an excerpt has a syntax error, the whole text is to be taken instead: a blank line may
    also lie within brackets.

    >>> old = ["def f():\n", "    pass\n", "\n", "def g():\n", "    pass\n"]
    >>> excerpts(old, [*old[:4], "    return 1\n"], [Hunk(5, 1, 5, 1)])
    ('\n\n\ndef g():\n    pass\n', '\n\n\ndef g():\n    return 1\n')
    """
    starts = [0, *_cuts(old, hunks)]
    grown: Counter[int] = Counter()
    for hunk in hunks:
        grown[bisect_right(starts, hunk.row) - 1] += hunk.new_lines - hunk.old_lines
    kept = set(grown)
    heads = [part for part, row in enumerate(starts) if not row or not old[row].startswith(" ")]
    for head, following in pairwise([*heads, len(starts)]):
        if not kept.isdisjoint(range(head, following)):
            kept |= {head, following - 1}
    before: list[str] = []
    after: list[str] = []
    moved = 0
    for part, (start, end) in enumerate(pairwise([*starts, len(old)])):
        if part in kept:
            before += old[start:end]
            after += new[start + moved : end + moved + grown[part]]
            moved += grown[part]
        else:
            blank = "\n" * (end - start)
            before.append(blank)
            after.append(blank)
    return "".join(before), "".join(after)


def _cuts(lines: Sequence[str], hunks: Sequence[Hunk]) -> Iterator[int]:
    """Yield rows at which a part begins in both texts: neither they nor the blank ones changed.

    That is after a blank line, at an outermost statement, with comments before it, and at
    definitions within it. The last one is where nothing that was changed follows.
    """
    changed = {row for hunk in hunks for row in range(hunk.row, hunk.row + hunk.old_lines + 1)}
    last = max(changed)
    start = -1
    is_inner = is_hidden = False
    for row, line in _telling(lines):
        if line == "\n":
            start = row + 1
        elif line[0] == "#":
            continue
        elif line[0] in _NO_STATEMENT:
            if row == start and line.startswith(_INNER) and not is_hidden and row not in changed:
                is_inner = True
                yield row
            start = -1
        elif start >= 0 and start not in changed:
            is_inner = is_hidden = False
            yield start
            if start > last:
                return
            start = -1
        else:
            # It shares a part with the end of another statement, so what it encloses stays there.
            is_hidden = is_inner
            start = -1


def _telling(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines, with their rows, that are not indented, and the next after each of these.

    Those that begin within a string of three quotes are passed over.
    """
    mark = ""
    is_next = False
    for row, line in enumerate(lines):
        if mark:
            if mark in line and line.count(mark) % 2:
                mark = ""
            continue
        if line[0] != " ":
            yield row, line
            is_next = True
        elif is_next:
            yield row, line
            is_next = False
        if '"""' in line or "'''" in line:
            mark = next((quotes for quotes in _QUOTES if line.count(quotes) % 2), "")
