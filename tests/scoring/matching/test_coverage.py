import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.scoring.matching import trace
from karat.scoring.matching.regions import Coverage

PLACES = [Hit("src/a.py", 0.0, 1, 9, "login"), Hit("src/a.py", 0.0, 10, 20), Hit("b.py", 0.0, 1, 5)]


@pytest.mark.parametrize(
    ("match", "target", "expected"),
    [
        ("exact", Target("./src/a.py"), [0, 1]),
        ("exact", Target("a.py"), []),
        ("suffix", Target("a.py"), [0, 1]),
        ("lines", Target("src/a.py", 1, 9, 10), [0, 1]),
        ("lines", Target("src/a.py", 1, 30, 40), []),
        ("lines", Target("src/a.py"), [0, 1]),
        ("symbol", Target("", 1, symbol="Login"), [0]),
        ("document", Target("src/a.py"), [0, 1]),
        ("document", Target("./src/a.py"), []),
    ],
)
def test_what_a_mode_credits_covers(match: str, target: Target, expected: list[int]) -> None:
    assert Coverage(PLACES, match=match).of(target) == expected


def test_overlap_and_root_count_as_in_judging() -> None:
    wide = Target("src/a.py", 1, 5, 14)
    assert Coverage(PLACES, match="lines", min_overlap=0.5).of(wide) == [0, 1]
    assert Coverage(PLACES, match="lines", min_overlap=0.51).of(wide) == []
    assert Coverage(PLACES, match="exact", root="/home/me").of(Target("/home/me/b.py")) == [2]


def test_a_file_is_held_whatever_its_lines() -> None:
    held = Coverage([Hit("src/a.py")], match="lines")
    assert held.holds("src/a.py")
    assert held.holds("")
    assert not held.holds("c.py")


@given(
    first=st.integers(1, 30),
    length=st.integers(0, 10),
    match=st.sampled_from(["exact", "lines", "suffix", "directory"]),
    path=st.sampled_from(["src/a.py", "a.py", "b.py", "c.py"]),
)
def test_a_target_is_covered_where_a_ranking_of_all_places_finds_it(
    first: int, length: int, match: str, path: str
) -> None:
    target = Target(path, 1, first, first + length)
    gold = Dataset.of([Query("q", "", (target,))], match=match)
    (traced,) = trace(gold, Run.of([Answer("q", tuple(PLACES))]), keep=0)
    assert bool(Coverage(PLACES, match=match).of(target)) == bool(traced.ranks[0])
