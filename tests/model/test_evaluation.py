"""A scored run answers with the mean of a measure, by the name it was computed under."""

from array import array

import pytest

from karat.errors import UnknownName
from karat.model import QueryStatus, ScoreTable
from karat.model.evaluation import Evaluation, Notes, Summary

EVALUATION = Evaluation(
    "bm25",
    ScoreTable("bm25", ("q",), (QueryStatus.SCORED,), {"mrr": array("d", [0.5])}),
    (Summary("mrr", 0.5, 0.5, 1), Summary("hit@1", 0.0, 0.0, 1)),
    Notes(1, {QueryStatus.SCORED: 1}, {}, (), "trec10", 0, 1.0),
    {},
)


def test_a_mean_is_found_by_the_name_of_its_measure() -> None:
    assert EVALUATION["mrr"] == 0.5
    assert EVALUATION["hit@1"] == 0.0


def test_a_measure_that_was_not_computed_says_which_were() -> None:
    with pytest.raises(UnknownName, match="'ap' was not computed; computed: mrr, hit@1"):
        EVALUATION["ap"]


def test_a_summary_has_an_interval_only_where_one_was_asked_for() -> None:
    assert EVALUATION.summaries[0].interval is None
