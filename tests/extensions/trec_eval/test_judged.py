"""Records of several judges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.extensions.trec_eval.judged import PanelQuery, Preference, PreferenceQuery
from karat.model import JudgedQuery
from tests.model.test_travel import FEW, NUMBERS, TEXT, check_copies, instances


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


def judged(*ranks: int) -> JudgedQuery:
    return JudgedQuery(ranks, [1.0] * 2, ideal=[1.0, 1.0], retrieved=9)


def test_judged_queries_of_several_judges_compare_each_judge() -> None:
    highest = judged(1, 2)
    panel = PanelQuery(highest, [highest])
    assert panel == PanelQuery(highest, [judged(1, 2)])
    assert panel != PanelQuery(highest, [judged(1, 3)])
    assert panel != highest

    def preferred(level: float, *, query: str = "q") -> PreferenceQuery:
        judges = {"ann": {"": {"a.py": 1.0, "b.py": 2.0}}, "bob": {"": {"a.py": level}}}
        return PreferenceQuery(query, judges, returned={"b.py": 1}, retrieved=1)

    assert preferred(1.0) == preferred(1.0)
    assert preferred(1.0) != preferred(0.5)


QUERIES = instances(JudgedQuery)
ORDERS = st.fixed_dictionaries({"a.py": st.integers(1, 3), "b.py": st.integers(1, 3)})
PREFERRED = st.builds(
    PreferenceQuery,
    TEXT,
    st.dictionaries(TEXT, st.fixed_dictionaries({"": ORDERS}), min_size=1, max_size=2),
    returned=st.just({}) | st.just({"b.py": 1, "a.py": 4}),
    retrieved=NUMBERS,
)
PANELS = st.builds(PanelQuery, QUERIES, st.lists(QUERIES, max_size=2))


@FEW
@given(PREFERRED | PANELS | instances(Preference))
def test_a_record_equals_its_copies(original: object) -> None:
    check_copies(original)
