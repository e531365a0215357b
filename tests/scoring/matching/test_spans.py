"""Interval arithmetic agrees with sets of line numbers."""

from hypothesis import given, settings
from hypothesis import strategies as st

from karat.scoring.matching.regions import merge, overlap, size

SPANS = st.lists(
    st.tuples(st.integers(1, 40), st.integers(0, 9)).map(lambda span: (span[0], sum(span))),
    max_size=6,
)


def numbers(spans: list[tuple[int, int]]) -> set[int]:
    return {line for first, last in spans for line in range(first, last + 1)}


@settings(max_examples=50)
@given(SPANS)
def test_a_union_holds_the_same_lines_in_the_fewest_intervals(spans: list[tuple[int, int]]) -> None:
    merged = merge(spans)
    lines = numbers(spans)
    assert numbers(merged) == lines
    assert size(merged) == len(lines)
    assert merged == sorted(merged)
    assert len(merged) == sum(line - 1 not in lines for line in lines)


@settings(max_examples=50)
@given(SPANS, SPANS)
def test_an_overlap_holds_the_lines_of_both(
    left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> None:
    shared = overlap(merge(left), merge(right))
    assert numbers(shared) == numbers(left) & numbers(right)
    assert size(shared) == len(numbers(shared))


def test_worked_by_hand() -> None:
    assert merge([(5, 9), (1, 3), (2, 2), (11, 12)]) == [(1, 3), (5, 9), (11, 12)]
    assert overlap([(1, 3), (5, 9)], [(3, 5)]) == [(3, 3), (5, 5)]
    assert size([]) == 0
