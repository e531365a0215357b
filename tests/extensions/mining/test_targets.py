"""What has to be found: files, lines or definitions, worked by hand."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import Symbol
from karat.extensions.mining.commits import Region
from karat.extensions.mining.targets import Grain, TargetFile, build_targets
from karat.model import Target

LOGIN = Symbol("login", "method", 10, 30, "Session")
LOGOUT = Symbol("logout", "method", 32, 40, "Session")
FILE = TargetFile(
    "auth.py",
    "b0",
    "M",
    "auth.py",
    (
        Region(1, 2, 1, ()),
        Region(12, 13, 1, (LOGIN,)),
        Region(14, 14, 2, (LOGIN,)),
        Region(29, 33, 2, (LOGIN, LOGOUT)),
    ),
)
GONE = TargetFile("old.py", "b1", "D", "")


def test_files() -> None:
    assert build_targets([FILE, GONE], Grain.FILE) == (Target("auth.py", 2), Target("old.py", 1))


def test_lines() -> None:
    assert build_targets([FILE, GONE], Grain.LINE) == (
        Target("auth.py", 1, 1, 2),
        Target("auth.py", 2, 12, 14, "login"),
        Target("auth.py", 2, 29, 33),
        Target("old.py", 1),
    )


def test_definitions() -> None:
    assert build_targets([FILE, GONE], Grain.SYMBOL) == (
        Target("auth.py", 2, 10, 30, "login"),
        Target("auth.py", 2, 32, 40, "logout"),
        Target("old.py", 1),
    )


def test_a_change_outside_of_all_definitions_means_the_file() -> None:
    outside = FILE._replace(regions=FILE.regions[:1])
    assert build_targets([outside], Grain.SYMBOL) == (Target("auth.py", 1),)


@pytest.mark.parametrize("grain", Grain)
def test_every_file_has_a_target_and_its_grade(grain: Grain) -> None:
    targets = build_targets([FILE, GONE], grain)
    for file in (FILE, GONE):
        assert max(one.grade for one in targets if one.path == file.path) == file.grade


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 5), st.integers(1, 2)), min_size=1))
def test_ranges_cover_the_same_lines_and_never_touch(
    spans: list[tuple[int, int, int]],
) -> None:
    regions = tuple(Region(start, start + more, grade, ()) for start, more, grade in spans)
    targets = build_targets([FILE._replace(regions=regions)], Grain.LINE)
    lines = {line for one in targets for line in range(one.start_line, one.end_line + 1)}
    assert lines == {
        line for region in regions for line in range(region.start_line, region.end_line + 1)
    }
    assert all(one.end_line + 1 < other.start_line for one, other in pairwise(targets))
