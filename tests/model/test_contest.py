"""Several scored and compared runs."""

from karat.model.comparison import Comparison
from karat.model.evaluation import ComparisonResult


def test_a_contest_keeps_what_it_is_given_and_asks_for_no_further_tests() -> None:
    comparison = Comparison(
        systems=("a", "b"),
        baseline="a",
        metrics=("mrr",),
        queries=3,
        means=(),
        differences=(),
        correction="none",
        family=1,
        level=0.95,
        power=0.8,
        draws=0,
        seed=0,
    )
    contest = ComparisonResult((), comparison, {"hard": {"yes": comparison}}, "no difference")
    assert contest.slices["hard"]["yes"] is contest.comparison
    assert contest.verdict == "no difference"
    assert contest.further_tests == ()
