"""The pool holds what nobody has judged, once, best rank first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.app.pooling import as_target, pool
from karat.errors import InputError
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.scoring.labels import is_judged
from karat.scoring.matching.modes import MATCHERS

LINES = MATCHERS.get("lines")()


def gold(*targets: Target, match: str = "lines") -> Dataset:
    return Dataset.of([Query("q", "who", targets), Query("r", "where")], match=match)


def run(*hits: Hit, query: str = "q") -> Run:
    return Run.of([Answer(query, hits)])


def test_runs_are_pooled_by_their_best_rank() -> None:
    one = run(Hit("a", 3, 1, 5), Hit("b", 2, 1, 5), Hit("c", 1, 1, 5))
    two = run(Hit("d", 3, 1, 5, tokens=9), Hit("./c", 2, 1, 5, tokens=9), Hit("e", 1, 1, 5))
    pooled = pool(gold(Target("a", 1, 5, 9)), {"one": one, "two": two}, depth=3)
    assert [(item.hit.path, dict(item.ranks)) for item in pooled] == [
        ("d", {"two": 1}),
        ("b", {"one": 2}),
        ("c", {"one": 3, "two": 2}),
        ("e", {"two": 3}),
    ]
    shallow = pool(gold(), {"one": one, "two": two}, depth=1)
    assert [item.hit.path for item in shallow] == ["a", "d"]


def test_files_count_once_where_files_are_judged() -> None:
    hits = (Hit("a", 3, 1, 5), Hit("a", 2, 6, 9), Hit("b", 1, 1, 5))
    pooled = pool(gold(match="exact"), {"one": run(*hits)}, depth=2)
    assert [(item.hit.path, item.hit.end_line) for item in pooled] == [("a", 5), ("b", 5)]
    assert len(pool(gold(), {"one": run(*hits)}, depth=2)) == 2


def test_queries_come_in_their_order_and_bad_hits_not_at_all() -> None:
    answers = [Answer("r", (Hit("x"), Hit("x"), Hit(""))), Answer("q", (Hit("y"),)), Answer("z")]
    pooled = pool(gold(match="exact"), {"one": Run.of(answers)}, depth=5)
    assert [(item.row, item.hit.path) for item in pooled] == [(0, "y"), (1, "x")]


def test_what_cannot_be_pooled() -> None:
    with pytest.raises(InputError, match="no query id of the run is in the gold set"):
        pool(gold(), {"one": run(Hit("a"), query="z")}, depth=5)
    with pytest.raises(InputError, match="depth 0"):
        pool(gold(), {"one": run(Hit("a"))}, depth=0)


def test_lines_judged_not_relevant_say_nothing_about_others() -> None:
    hit = Hit("a", 0.0, 10, 20)
    assert is_judged(hit, [Target("a", 1, 20, 30)], LINES)
    assert is_judged(hit, [Target("a", 0, 10, 20)], LINES)
    assert is_judged(hit, [Target("a", 0)], LINES)
    assert not is_judged(hit, [Target("a", 0, 11, 30)], LINES)
    assert not is_judged(Hit("a"), [Target("a", 0, 11, 30)], LINES)
    assert not is_judged(hit, [Target("a", -1)], LINES)


hits = st.builds(
    lambda path, start, length, symbol: Hit(path, 0.0, start, start + length, symbol),
    st.sampled_from(["a.py", "b/a.py"]),
    st.integers(1, 9),
    st.integers(0, 9),
    st.sampled_from(["", "login", "Session.login"]),
)


@given(hits, st.integers(0, 3), st.sampled_from(sorted(MATCHERS.built_in())))
def test_a_hit_is_judged_by_the_target_that_it_becomes(hit: Hit, grade: int, match: str) -> None:
    matcher = MATCHERS.get(match)()
    target = as_target(hit, grade, matcher)
    assert target.grade == grade
    assert is_judged(hit, [target], matcher)


@pytest.mark.parametrize("match", ["lines", "symbol"])
def test_a_hit_becomes_a_target_in_the_unit_of_its_query(match: str) -> None:
    matcher = MATCHERS.get(match)()
    hit = Hit("b.py", 1.0, 3, 9, symbol="run")
    assert as_target(hit, 2.0, matcher, [Target("a.py")]) == Target("b.py", 2.0)
    inside = Target("a.py", 1.0, 3, 9, symbol="go")
    for targets in ([inside], []):
        part = as_target(hit, 2.0, matcher, targets)
        assert (part.end_line, part.symbol) == ((9, "") if match == "lines" else (0, "run"))
