"""The hits behind the scores stand at the ranks that `judge` counts."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.model import Answer, Dataset, Hit, Outcome, Query, Run, Target
from karat.scoring.matching import MATCHERS, TIE_POLICIES, judge, trace

PATHS = st.sampled_from(["a", "a.py", "lib/a.py", "lib", "é", "./a"])
LINES = st.sampled_from([(0, 0), (1, 5), (4, 9), (20, 30)])
SYMBOLS = st.sampled_from(["", "login", "log"])


@st.composite
def hits(draw: st.DrawFn) -> Hit:
    start, end = draw(LINES)
    score = draw(st.sampled_from([1.0, 1.0 + 1e-9, 2.0]))
    return Hit(draw(PATHS), score, start, end, draw(SYMBOLS))


@st.composite
def targets(draw: st.DrawFn) -> Target:
    start, end = draw(LINES)
    grade = draw(st.sampled_from([-1.0, 0.0, 1.0, 2.0]))
    return Target(draw(PATHS), grade, start, end, draw(SYMBOLS))


@pytest.mark.parametrize("match", list(MATCHERS))
@settings(max_examples=40)
@given(
    hit_list=st.lists(hits(), max_size=8),
    target_list=st.lists(targets(), min_size=1, max_size=3, unique_by=lambda target: target.path),
    ties=st.sampled_from([name for name in TIE_POLICIES if name != "expected"]),
    judged_only=st.booleans(),
    depth=st.sampled_from([None, 1, 3]),
)
def test_ranks_are_those_of_judge(
    match: str,
    hit_list: list[Hit],
    target_list: list[Target],
    ties: str,
    judged_only: bool,
    depth: int | None,
) -> None:
    if {"a", "./a"} <= {target.path for target in target_list}:
        target_list = [target for target in target_list if target.path != "./a"]
    gold = Dataset.of([Query("q1", "", tuple(target_list))], match=match)
    run = Run.of([Answer("q1", tuple(hit_list))])
    how: dict[str, Any] = {"ties": ties, "judged_only": judged_only, "depth": depth}
    judged = judge(gold, run, **how).queries[0]
    traced = trace(gold, run, keep=5, **how)[0]
    assert sorted(filter(None, traced.ranks)) == sorted(judged.found_ranks)
    assert traced.retrieved == judged.retrieved
    assert len(traced.hits) == len(traced.matched) == min(5, judged.retrieved)
    marked = [rank for rank, number in enumerate(traced.matched, 1) if number >= 0]
    assert marked == [rank for rank in judged.ranks if rank <= 5]


def test_a_hit_names_the_target_that_it_is_first_to_cover() -> None:
    targets = (Target("a.rs", 1, 1, 10), Target("a.rs", 2, 5, 20), Target("b.rs", 1))
    gold = Dataset.of([Query("q1", "", targets)], match="lines")
    run = Run.of(
        [
            Answer(
                "q1", (Hit("a.rs", 3, 1, 3), Hit("a.rs", 2, 1, 12), Hit("c.rs", 1), Hit("b.rs", 0))
            )
        ]
    )
    (traced,) = trace(gold, run, keep=3)
    assert traced.matched == (0, 1, -1)
    assert traced.ranks == (1, 2, 4)
    assert traced.retrieved == 4


def test_expected_ties_put_relevant_hits_first() -> None:
    gold = Dataset.of([Query("q1", "", (Target("a"), Target("b", 2.0)))], match="document")
    run = Run.of([Answer("q1", (Hit("x", 1), Hit("a", 1), Hit("b", 1)))])
    assert trace(gold, run, keep=9, ties="expected")[0].ranks == (2, 1)


@pytest.mark.parametrize(
    ("ties", "paths"), [("order", ["m", "x", "a"]), ("trec10", ["x", "m", "a"])]
)
def test_equal_scores_keep_their_order_or_that_of_trec_eval(ties: str, paths: list[str]) -> None:
    gold = Dataset.of([Query("q1", "", (Target("a"),))], match="document")
    run = Run.of([Answer("q1", (Hit("m", 1), Hit("x", 1), Hit("a", 1)))])
    (traced,) = trace(gold, run, keep=3, ties=ties)
    assert [hit.path for hit in traced.hits] == paths


def test_what_was_not_answered_found_nothing() -> None:
    gold = Dataset.of([Query(name, "", (Target("a"),)) for name in ("q1", "q2", "q3")])
    run = Run.of([Answer("q1", (Hit("a"),), Outcome.ERROR), Answer("q3", (Hit("a"),))])
    traces = trace(gold, run, keep=9)
    assert [traced.ranks for traced in traces] == [(0,), (0,), (1,)]
    assert [traced.retrieved for traced in traces] == [0, 0, 1]
