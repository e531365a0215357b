"""What is kept never changes what comes back."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from karat.engines.engine_group import Recent


def test_what_was_used_longest_ago_goes() -> None:
    asked: list[str] = []

    def make(keys: Sequence[str]) -> list[str]:
        asked.extend(keys)
        return [key * 2 for key in keys]

    recent = Recent(make, most=8, size=len)
    recent.get(["aa", "bb"])
    recent.get(["aa"])
    recent.get(["c", "aa"])
    assert asked == ["aa", "bb", "c"]
    assert len(recent) == 2
    recent.get(["bb"])
    assert asked == ["aa", "bb", "c", "bb"]


def test_one_apart_profits_from_itself_alone() -> None:
    asked: list[str] = []

    def make(keys: Sequence[str]) -> list[str]:
        asked.extend(keys)
        return list(keys)

    recent = Recent(make, most=9, size=len)
    first, second = recent.apart(), recent.apart()
    first.get(["a", "b"])
    second.get(["b", "c"])
    first.get(["a", "b"])
    second.get(["b"])
    assert asked == ["a", "b", "b", "c"]
    assert len(recent) == len(first) == 3
    recent.get(["a", "b", "c"])
    assert len(asked) == 4


def test_what_is_too_large_is_not_kept() -> None:
    recent: Recent[int, str] = Recent(lambda keys: ["x" * 9 for _ in keys], most=8, size=len)
    assert recent.get([1, 2, 1]) == ["x" * 9] * 3
    assert len(recent) == 0


def squares(numbers: Sequence[int]) -> list[int]:
    return [number * number for number in numbers]


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=9), st.integers(0, 30))
def test_as_without_it(batches: list[list[int]], most: int) -> None:
    recent: Recent[int, int] = Recent(squares, most=most, size=int)
    for batch in batches:
        assert recent.get(batch) == squares(batch)
        assert sum(recent._shelf.held.values()) == recent._shelf.total <= most
