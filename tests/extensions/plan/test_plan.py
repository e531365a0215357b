"""Plans, and what is said about them."""

import pytest

from karat.extensions.plan.packaged import PACKAGED, hits
from karat.extensions.plan.pilot import Pilot
from karat.extensions.plan.plan import Plan
from karat.extensions.plan.spread import Design, Spread
from karat.extensions.plan.view import plan_chart, plan_json, plan_table, sentences


def said(plan: Plan) -> str:
    return " ".join(sentences(plan))


def test_what_is_at_hand_and_what_is_needed() -> None:
    plan = Plan("ndcg@10", "", Spread(0.18), Design(250), 0.02)
    assert said(plan) == (
        "250 queries detect a difference of 0.033 in ndcg@10 in 80 % of cases. "
        "A difference of 0.02 needs 672 queries."
    )
    assert dict(plan.curve(plan.sizes))[672] == [pytest.approx(0.02, rel=0.01)]


def test_trials_save_queries() -> None:
    plan = Plan("passed", "", Spread(0.1, trials=0.6), None, 0.05)
    assert plan.needed is not None
    fewer = plan.needed_with(3)
    assert fewer is not None
    assert fewer < plan.needed / 2
    assert f"needs {plan.needed:,} queries with 1 trial each, {fewer} with 3 trials" in said(plan)
    assert [len(found) for _, found in plan.curve(plan.sizes)] == [4] * len(plan.sizes)


def test_clusters_are_the_limit() -> None:
    plan = Plan("passed", "", Spread(0.4, 0.2), Design(12, 40), 0.05, size=40)
    text = said(plan)
    assert "480 queries in 12 clusters detect a difference of 0.191" in text
    assert f"needs {plan.needed} clusters of 40 queries" in text
    assert plan.least is not None
    assert plan.present is not None
    assert 0.85 * plan.present < plan.least < plan.present
    assert "More queries in these 12 clusters never detect less than 0." in text
    # Ten times as many queries in each cluster do not reach it either.
    more = plan.detects(Design(12, 400))
    assert more is not None
    assert plan.least < more < plan.present


@pytest.mark.parametrize(
    ("headroom", "full", "saturated"),
    [(0.0, 1.0, True), (0.01, 0.3, True), (0.1, 0.85, True), (0.4, 0.3, False), (None, 0.0, False)],
)
def test_a_saturated_set(headroom: float | None, full: float, *, saturated: bool) -> None:
    pilot = Pilot("f1", ("a", "b"), Spread(0.1), Design(50), "b", headroom, full)
    plan = Plan("f1", "", Spread(0.1), Design(50), pilot=pilot)
    assert plan.is_saturated is saturated
    assert ("The set is saturated: b" in said(plan)) is saturated


def test_a_small_set_is_not_saturated_because_it_detects_nothing() -> None:
    pilot = Pilot("f1", ("a", "b"), hits(0.5), Design(3), "b", 0.0, 0.3)
    plan = Plan("f1", "", hits(0.5), Design(3), pilot=pilot)
    assert plan.present is None
    assert not plan.is_saturated


@pytest.mark.parametrize(
    ("design", "warning"),
    [
        (Design(29), "a pilot of 29 queries is uncertain: expected 30 or more"),
        (Design(30), ""),
        (Design(12, 40.0), "a pilot of 12 clusters is uncertain: expected 20 or more"),
        (Design(20, 40.0), ""),
    ],
)
def test_a_small_pilot(design: Design, warning: str) -> None:
    pilot = Pilot("f1", ("a", "b"), Spread(0.3, 0.1), design)
    plan = Plan("f1", "", Spread(0.3, 0.1), design, size=design.size, pilot=pilot)
    assert plan_table(plan).warnings == ((warning,) if warning else ())


def test_without_a_set_and_without_a_difference() -> None:
    plan = Plan("the share of ones", "", hits(0.15))
    assert said(plan) == (
        "100 queries detect a difference of 0.110 in the share of ones, 1,000 of 0.036."
    )
    assert said(Plan("x", "", Spread(1.0), None, 1e-6)) == (
        "A difference of 1e-06 needs more than a million queries."
    )
    few = Plan("x", "", hits(0.15), Design(4))
    assert said(few) == "4 queries detect no difference in x, however large."


def test_chart_and_json() -> None:
    plan = Plan("passed", "", Spread(0.1, trials=0.6), Design(60), 0.05)
    chart = plan_chart(plan)
    assert chart.legend == ("1 trial", "3 trials", "5 trials", "10 trials")
    # What is detected falls with the size.
    assert all(list(one.values) == sorted(one.values, reverse=True) for one in chart.series)
    document = plan_json(plan)
    assert document["needed"] == {str(trials): plan.needed_with(trials) for trials in (1, 3, 5, 10)}
    assert document["detectable"] == plan.present


def test_packaged_spreads_have_a_source() -> None:
    for known in PACKAGED.values():
        assert known.source
        assert 0.05 <= known.spread.queries <= 0.5
