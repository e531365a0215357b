"""Preferences and panels of judges, by hand and against counting pair by pair."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.extensions.trec_eval.judged import Judges, PanelQuery, Preference, PreferenceQuery
from karat.extensions.trec_eval.metrics.preferences import preference_ranks, preferred_pairs, tally
from karat.model import JudgedQuery, JudgedRun, QueryStatus
from karat.scoring.metrics import Measure, evaluate, parse_all

LEVELS = st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0]), min_size=1, max_size=9)


def prefs(name: str, judged: JudgedQuery) -> float:
    return Measure(f"prefs-{name}").bind()(judged)


def query(judges: Judges, *returned: str) -> PreferenceQuery:
    ranks = {document: rank for rank, document in enumerate(returned, 1)}
    return PreferenceQuery("q", judges, returned=ranks, retrieved=len(returned))


def of_one(levels: dict[str, float], *returned: str) -> PreferenceQuery:
    return query({"judge": {"": levels}}, *returned)


# a > b > c, a > d > c; the ranking returns c, a, b.
ONE = of_one({"a": 2, "b": 1, "c": 0, "d": 1}, "c", "a", "b")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num-prefs-poss", 5),
        # a > b with both returned, a > d with one.
        ("num-prefs-ful", 2),
        ("num-prefs-ful-ret", 1),
        ("simp", 2 / 5),
        ("simp-imp", 2 / 5),
        ("simp-ret", 1 / 3),
        ("pair", 2 / 5),
        ("avgjg-ret", 1 / 3),
        # Three relevant and one not: two more non-relevant ones that rank last.
        ("avgjg-rnonrel", (2 + 2 * 2) / (5 + 3 * 2)),
        ("avgjg-rnonrel-ret", (1 + 2 * 1) / (3 + 3 * 1)),
    ],
)
def test_one_judge_by_hand(name: str, value: float) -> None:
    assert prefs(name, ONE) == pytest.approx(value)


def test_judges_who_disagree() -> None:
    judges = {"1": {"": {"a": 1.0, "b": 0.0}}, "2": {"": {"a": 0.0, "b": 1.0, "c": 2.0}}}
    judged = query(judges, "a", "b")
    # Pairs: a-b one of two judges; a-c and b-c failed, for c is not returned.
    assert prefs("pair", judged) == pytest.approx(0.5 / 3)
    assert prefs("pair-imp", judged) == pytest.approx(0.5 / 3)
    assert prefs("pair-ret", judged) == pytest.approx(0.5)
    assert prefs("simp", judged) == pytest.approx(1 / 4)
    assert prefs("avgjg", judged) == pytest.approx((1 + 0) / 2)


def test_pairs_of_which_nothing_is_returned() -> None:
    judges = {"1": {"": {"a": 1.0, "b": 0.0}}, "2": {"": {"a": 1.0, "b": 0.0}}}
    judged = query(judges)
    assert [prefs(name, judged) for name in ("pair", "pair-imp", "simp", "avgjg-imp")] == [0.0] * 4


def test_the_first_non_relevant_ones_of_too_many() -> None:
    # One relevant, three not; ranking x, a, y, z keeps x only. trec_eval also compares the
    # non-relevant ones with the one kept: a > x fails, x, y, z > x fail.
    judged = of_one({"a": 1, "x": 0, "y": 0, "z": 0}, "x", "a", "y", "z")
    assert prefs("avgjg-rnonrel", judged) == 0
    assert prefs("avgjg-rnonrel-ret", judged) == 0
    first = of_one({"a": 1, "x": 0, "y": 0, "z": 0}, "a", "x")
    # a > x, and x, y, z against x.
    assert prefs("avgjg-rnonrel", first) == pytest.approx(1 / 4)
    assert prefs("avgjg-rnonrel-ret", first) == pytest.approx(1 / 1)


def test_too_many_with_levels_between() -> None:
    levels = {"a": 2.0, "b": 1.0, "w": 0.0, "x": 0.0, "y": 0.0}
    judged = of_one(levels, "w", "b", "a", "x", "y")
    # Kept: w, x. a>b fails; a>w, b>w fail, a>x, b>x hold; w>w, x>w, y>w, x>x, y>x fail, w>x holds.
    assert prefs("avgjg-rnonrel", judged) == pytest.approx(3 / 11)
    assert prefs("avgjg-rnonrel-ret", judged) == pytest.approx(3 / 11)


def test_too_many_in_parts() -> None:
    judges = {"1": {"1": {"a": 1.0, "x": 0.0, "y": 0.0}, "2": {"a": 1.0, "z": 0.0}}}
    judged = query(judges, "x", "a", "y", "z")
    # Only x is kept, and a > x fails.
    assert prefs("avgjg-rnonrel", judged) == 0
    after = query(judges, "a", "x", "y")
    assert prefs("avgjg-rnonrel", after) == 1
    assert prefs("avgjg-rnonrel-ret", after) == 1
    # Of the returned ones alone nothing is too many, and too few are filled up.
    assert prefs("avgjg-rnonrel-ret", query(judges, "a", "x")) == pytest.approx(1)


def test_parts_where_both_must_be_returned() -> None:
    judges = {"1": {"1": {"a": 1.0, "x": 0.0, "y": 0.0}, "2": {"b": 1.0, "z": 0.0}}}
    judged = query(judges, "x", "a", "y")
    # Two are relevant in the judgments, so x and y stay: a > x fails, a > y holds.
    assert prefs("avgjg-rnonrel-ret", judged) == pytest.approx(1 / 2)
    # Now y is the last that stays, but b, which is above it, is not returned: a > x is all.
    apart = {"1": {"1": {"a": 1.0, "x": 0.0}, "2": {"b": 1.0, "y": 0.0}}}
    assert prefs("avgjg-rnonrel-ret", query(apart, "a", "x", "y")) == 1


def test_a_judge_without_a_preference_empties_the_balanced_mean() -> None:
    judges = {"1": {"": {"a": 1.0, "x": 0.0}}, "2": {"": {"x": 0.0}}}
    assert prefs("avgjg-rnonrel", query(judges, "a", "x")) == 0
    assert prefs("avgjg", query(judges, "a", "x")) == pytest.approx(1 / 2)


def test_preferences_follow_from_each_other() -> None:
    judges = {"1": {"1": {"a": 3.0, "b": 2.0}, "2": {"b": 5.0, "c": 4.0}}}
    judged = query(judges, "a", "c")
    assert judged.preferences[0].pairs == frozenset({(0, 2), (2, 1), (0, 1)})
    counts = tally(judged.preferences[0], judged.returned)
    assert counts[:5] == (1, 0, 1, 1, 0)
    assert prefs("num-prefs-poss", judged) == 3


def test_parts_with_nothing_returned() -> None:
    judges = {"1": {"1": {"a": 3.0, "b": 2.0}, "2": {"b": 5.0, "c": 4.0}}}
    assert prefs("simp", query(judges)) == 0
    assert prefs("simp-ret", query(judges)) == 0


@given(LEVELS, st.integers(0, 9))
def test_counting_by_class_is_counting_by_pair(levels: list[float], returned: int) -> None:
    by_class = Preference(dict(enumerate(levels)))
    pairs = frozenset(preferred_pairs(by_class))
    assert tally(by_class, returned) == tally(by_class._replace(pairs=pairs), returned)
    assert len(pairs) == sum(a != b for a, b in combinations(levels, 2))


@given(LEVELS, st.integers(0, 9))
def test_plain_grades_are_one_judge(levels: list[float], returned: int) -> None:
    grades = levels[:returned]
    plain = JudgedQuery(
        range(1, len(grades) + 1), grades, ideal=sorted(levels, reverse=True), retrieved=len(grades)
    )
    names = [f"d{number}" for number in range(len(levels))]
    judged = of_one(dict(zip(names, levels, strict=True)), *names[: len(grades)])
    for name in ("simp", "pair-ret", "avgjg-imp", "avgjg-rnonrel", "avgjg-rnonrel-ret"):
        assert prefs(name, plain) == pytest.approx(prefs(name, judged), abs=1e-12)
    assert preference_ranks(plain).returned == len(grades)


def test_queries_are_not_alike_where_only_their_judges_differ() -> None:
    def graded(*ranks: int) -> JudgedQuery:
        return JudgedQuery(ranks, [1] * len(ranks), ideal=[1] * len(ranks), retrieved=5)

    panels = (
        PanelQuery(graded(1, 2), [graded(1, 2), graded(1, 2)]),
        PanelQuery(graded(1, 2), [graded(1), graded(2)]),
    )
    levels = {"": {"a": 1.0, "b": 2.0}}
    returned = {"a": 1, "b": 2}
    preferences = (
        PreferenceQuery("q", {"x": levels}, returned=returned, retrieved=2),
        PreferenceQuery(
            "r", {"x": levels, "y": {"": {"a": 1.0, "b": 0.0}}}, returned=returned, retrieved=2
        ),
    )
    for queries, measure, expected in (
        (panels, "ap-avgjg", [1.0, 0.75]),
        (preferences, "prefs-simp", [0.0, 0.5]),
    ):
        judged = JudgedRun("r", ("q", "r"), queries, (QueryStatus.SCORED,) * 2, "trec10")
        assert list(evaluate(judged, parse_all([measure])).columns[measure]) == expected


def test_a_panel_is_averaged_over_its_judges() -> None:
    strict = JudgedQuery([2], [1], ideal=[1], retrieved=4)
    mild = JudgedQuery([1, 2], [1, 1], ideal=[1, 1, 1, 1], retrieved=4)
    panel = PanelQuery(mild, [strict, mild])
    assert Measure("ap-avgjg").bind()(panel) == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert Measure("precision-avgjg", 4).bind()(panel) == pytest.approx((1 / 4 + 2 / 4) / 2)
    mult = Measure("r-precision-mult-avgjg", None, (("times", 2.0),)).bind()
    assert mult(panel) == pytest.approx((1 / 2 + 2 / 8) / 2)
    assert Measure("ap").bind()(panel) == pytest.approx(2 / 4)
