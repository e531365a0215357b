"""Lines after a change, against the lines themselves."""

from hypothesis import given
from hypothesis import strategies as st

from karat.extensions.mining.carry import shift_lines
from karat.extensions.mining.commits import Hunk

LINES = 12

# What becomes of each line and of the gap before it: how many lines come, and whether it stays.
edits = st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=LINES, max_size=LINES)


def hunks_of(edit: list[tuple[int, bool]]) -> tuple[list[Hunk], list[int]]:
    """Return the hunks of *edit*, as Git would join them, and the old number of each new line."""
    new: list[int] = []
    hunks: list[Hunk] = []
    gone = come = 0
    for line, (added, stays) in enumerate([*edit, (0, True)], start=1):
        come += added
        new += [0] * added
        if not stays:
            gone += 1
            continue
        if gone or come:
            start = line - gone if gone else line - 1
            hunks.append(Hunk(start, gone, len(new) - come + (come > 0), come))
        gone = come = 0
        new.append(line)
    return hunks, new[:-1]


@given(edits, st.integers(1, LINES), st.integers(0, LINES))
def test_a_range_is_where_its_lines_are(
    edit: list[tuple[int, bool]], first: int, length: int
) -> None:
    hunks, new = hunks_of(edit)
    last = min(first + length, LINES)
    left = [index for index, line in enumerate(new, start=1) if first <= line <= last]
    assert shift_lines(hunks, first, last) == ((left[0], left[-1]) if left else None)


def test_nothing_changed() -> None:
    assert shift_lines([], 3, 9) == (3, 9)
