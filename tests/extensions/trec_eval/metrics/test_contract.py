"""What every metric must satisfy, for the metrics of trec_eval: the tests of the core."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.extensions.trec_eval.extension import METRICS
from karat.model import Hit, Target
from karat.scoring.matching import MATCHERS
from karat.scoring.matching.regions import judge_hits
from karat.scoring.metrics import Measure
from tests.metric_names import each_metric, only
from tests.scoring.matching import test_perfect, test_regions
from tests.scoring.metrics.test_edges import (
    NOTHING,
    test_a_cut_beyond_the_list_is_no_cut,
    test_documents,
    test_lines,
    test_nothing_returned_is_nothing_earned,
    test_the_order_of_the_input_changes_nothing,
)
from tests.scoring.metrics.test_expected import (
    test_no_order_is_better_than_best_or_worse_than_worst,
    test_the_expected_score_is_the_mean_over_all_orders,
    test_ties_of_relevant_hits_do_not_round_out_of_range,
    test_without_ties_every_policy_agrees,
)
from tests.scoring.metrics.test_laws import (
    check_laws,
    test_laws_have_a_check,
    test_longer_rankings_keep_range_and_laws,
)
from tests.scoring.metrics.test_measure import (
    test_a_metric_tells_what_it_is,
    test_every_measure_prints_and_parses_back,
)

__all__ = [
    "test_a_cut_beyond_the_list_is_no_cut",
    "test_a_metric_tells_what_it_is",
    "test_documents",
    "test_every_measure_prints_and_parses_back",
    "test_laws_have_a_check",
    "test_lines",
    "test_longer_rankings_keep_range_and_laws",
    "test_no_order_is_better_than_best_or_worse_than_worst",
    "test_nothing_returned_is_nothing_earned",
    "test_the_expected_score_is_the_mean_over_all_orders",
    "test_the_order_of_the_input_changes_nothing",
    "test_ties_of_relevant_hits_do_not_round_out_of_range",
    "test_without_ties_every_policy_agrees",
]

pytest_generate_tests = each_metric(METRICS)

# Laws that no ranking of the tests breaks and that nobody has proved for the metric either.
UNDECIDED = {
    "inf-ap": {"ideal"},
    "g": {"ideal", "promotion"},
    "ndcg-rel": {"ideal", "promotion"},
    "rbp-residual": {"ideal", "promotion"},
    "unjudged": {"ideal", "promotion"},
    "prefs-avgjg-rnonrel": {"ideal", "promotion"},
    "prefs-avgjg-rnonrel-ret": {"ideal", "promotion", "zero"},
}


def test_a_metric_keeps_the_laws_that_it_declares_and_breaks_the_others(name: str) -> None:
    check_laws(name, UNDECIDED.get(name, ()))


@only(lambda metric: metric.cut != "required")
def test_an_empty_answer_where_nothing_is_relevant(name: str) -> None:
    # A query counts as a query.
    assert Measure(name).bind()(NOTHING) == (1.0 if name == "num-q" else 0.0)


@pytest.mark.parametrize("match", list(MATCHERS))
@settings(max_examples=25)
@given(data=st.data())
def test_no_answer_leaves_the_range_of_a_share(match: str, data: st.DataObject) -> None:
    test_perfect.check_range(match, data, METRICS)


@settings(max_examples=50)
@given(hits=test_regions.HITS, targets=test_regions.TARGETS, mode=test_regions.MODES)
def test_every_metric_stays_in_its_range(hits: list[Hit], targets: list[Target], mode: str) -> None:
    test_regions.check_range(judge_hits(hits, targets, MATCHERS.get(mode)()), METRICS)
