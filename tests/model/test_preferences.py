"""Records of several judges."""

import pytest

from karat.errors import InputError
from karat.model import JudgedQuery
from karat.model.judged import PanelQuery, PreferenceQuery


def test_positions_are_the_returned_in_order_then_the_missing_by_id() -> None:
    judges = {"1": {"": {"z": 1.0, "a": 0.0, "m": 2.0, "b": 0.0}}}
    query = PreferenceQuery("q", judges, returned={"m": 3, "z": 5}, retrieved=9)
    assert query.returned == 2
    assert query.preferences[0].levels == {0: 2.0, 1: 1.0, 2: 0.0, 3: 0.0}
    assert query.preferences[0].pairs is None


def test_other_metrics_see_the_highest_level_as_grade() -> None:
    judges = {"1": {"": {"a": 1.0}}, "2": {"": {"a": 3.0, "b": 0.0}}}
    query = PreferenceQuery("q", judges, returned={"a": 4}, retrieved=9)
    assert (query.ranks, query.grades, query.ideal) == ([4], [3.0], [3.0, 0.0])


def test_a_panel_carries_the_highest_grades() -> None:
    highest = JudgedQuery([1], [2], ideal=[2], retrieved=3)
    panel = PanelQuery(highest, [highest, highest])
    assert (panel.ranks, panel.retrieved, len(panel.judges)) == ([1], 3, 2)


def test_a_judge_who_goes_in_circles() -> None:
    parts = {"1": {"a": 2.0, "b": 1.0}, "2": {"b": 2.0, "a": 1.0}}
    with pytest.raises(InputError, match="query 'q', judge '7': 'a' is preferred to itself"):
        PreferenceQuery("q", {"7": parts}, returned={}, retrieved=0)


def test_a_document_both_relevant_and_not() -> None:
    parts = {"1": {"a": 0.0, "b": 1.0}, "2": {"a": 1.0}}
    with pytest.raises(InputError, match="'a' is relevant in one part, not in another"):
        PreferenceQuery("q", {"7": parts}, returned={}, retrieved=0)
