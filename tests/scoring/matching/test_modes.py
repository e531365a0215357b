"""Each matching mode, by hand."""

import pytest

from karat.errors import InputError, UnknownName
from karat.model import Hit, Target
from karat.scoring.matching import MATCHERS


def credit(mode: str, hit: Hit | str, target: Target | str) -> float:
    hit = Hit(hit) if isinstance(hit, str) else hit
    target = Target(target) if isinstance(target, str) else target
    return MATCHERS.get(mode)().credit(hit, target)


@pytest.mark.parametrize(
    ("mode", "hit", "target", "expected"),
    [
        ("document", "doc-1", "doc-1", 1),
        ("document", "doc-1", "doc-10", 0),
        ("exact", "src/auth.py", "src/auth.py", 1),
        ("exact", "auth.py", "src/auth.py", 0),
        ("suffix", "/repo/src/auth.py", "src/auth.py", 1),
        ("suffix", "auth.py", "src/auth.py", 1),
        ("suffix", "src/oauth.py", "auth.py", 0),
        ("substring", "src/oauth.py", "auth", 1),
        ("substring", "auth", "src/oauth.py", 0),
        ("directory", "src/auth/login.py", "src/auth/login.py", 1),
        ("directory", "src/auth", "src/auth/login.py", 0.5),
        ("directory", "src", "src/auth/login.py", 0.5),
        ("directory", "src/auth", "src/authority/login.py", 0),
        ("directory", "src/auth/login.py", "src/auth", 0),
    ],
)
def test_modes_for_paths(mode: str, hit: str, target: str, expected: float) -> None:
    assert credit(mode, hit, target) == expected


@pytest.mark.parametrize(
    ("mode", "hit", "target", "expected"),
    [
        ("symbol", Hit("a.py", symbol="Store.Search"), Target("a.py", symbol="search"), 1),
        ("symbol", Hit("b.py", symbol="search"), Target("a.py", symbol="search"), 0),
        ("symbol", Hit("b.py", symbol="search"), Target("", symbol="SEARCH"), 1),
        ("symbol", Hit("a.py", symbol="sea"), Target("a.py", symbol="search"), 0),
        ("symbol", Hit("a.py"), Target("a.py", symbol="search"), 0),
        ("symbol", Hit("a.py", symbol="x"), Target("a.py"), 1),
        ("akashic", Hit("src/a.py", symbol="Store.Search"), Target("", symbol="search"), 1),
        ("akashic", Hit("src/a.py", symbol="Store"), Target("", symbol="search"), 0),
        ("akashic", Hit("src/a.py"), Target("a.py"), 1),
        ("akashic", Hit("src/b.py"), Target("a.py"), 0),
        ("graded", Hit("a.py", symbol="Search"), Target("", symbol="search"), 1.0),
        ("graded", Hit("a.py", symbol="Store.Search"), Target("", symbol="search"), 0.4),
        ("graded", Hit("a.py", symbol="Store"), Target("", symbol="search"), 0.0),
        ("graded", Hit("src/a.py"), Target("src/a.py"), 0.7),
        ("graded", Hit("/repo/src/a.py"), Target("src/a.py"), 0.7),
        ("graded", Hit("src/data.py"), Target("a.py"), 0.4),
        ("graded", Hit("src/b.py"), Target("a.py"), 0.0),
    ],
)
def test_modes_for_symbols(mode: str, hit: Hit, target: Target, expected: float) -> None:
    assert credit(mode, hit, target) == expected


@pytest.mark.parametrize(
    ("hit", "min_overlap", "expected"),
    [
        (Hit("a.py", 0, 10, 19), 0.0, 1),
        (Hit("a.py", 0, 1, 10), 0.0, 1),
        (Hit("a.py", 0, 1, 9), 0.0, 0),
        (Hit("a.py", 0, 19, 40), 0.0, 1),
        (Hit("a.py", 0, 20, 40), 0.0, 0),
        (Hit("b.py", 0, 10, 19), 0.0, 0),
        (Hit("a.py"), 0.0, 1),
        (Hit("a.py"), 1.0, 1),
        (Hit("a.py", 0, 1, 14), 0.5, 1),
        (Hit("a.py", 0, 1, 13), 0.5, 0),
        (Hit("a.py", 0, 1, 90), 1.0, 1),
        (Hit("a.py", 0, 11, 90), 1.0, 0),
    ],
)
def test_lines_overlap_by_a_share_of_the_target(
    hit: Hit, min_overlap: float, expected: float
) -> None:
    matcher = MATCHERS.get("lines")(min_overlap=min_overlap)
    assert matcher.credit(hit, Target("a.py", 1, 10, 19)) == expected


def test_a_target_without_lines_is_the_whole_file() -> None:
    assert credit("lines", Hit("a.py", 0, 5, 6), Target("a.py")) == 1


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_an_overlap_is_a_share(share: float) -> None:
    with pytest.raises(InputError, match="not between 0 and 1"):
        MATCHERS.get("lines")(min_overlap=share)


@pytest.mark.parametrize("mode", [mode for mode in MATCHERS if mode != "lines"])
def test_an_overlap_means_nothing_to_other_modes(mode: str) -> None:
    with pytest.raises(InputError, match="applies only to the mode 'lines'"):
        MATCHERS.get(mode)(min_overlap=0.5)


@pytest.mark.parametrize("mode", list(MATCHERS))
def test_a_mode_tells_what_it_is(mode: str) -> None:
    matcher = MATCHERS.get(mode)()
    assert matcher.name == mode
    assert matcher.summary
    assert not (matcher.by_id and not matcher.collapse)
    # What a target pays at most is what a perfect hit earns.
    target = Target("src/a.py", symbol="run" if matcher.by_symbol else "")
    perfect = Hit("src/a.py", symbol="run")
    assert matcher.credit(perfect, target) == matcher.ceiling(target)
    assert matcher.credit(perfect, Target("src/a.py")) == matcher.ceiling(Target("src/a.py"))


def test_an_unknown_mode_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'lines'"):
        MATCHERS.get("line")
