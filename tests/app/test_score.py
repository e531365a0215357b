"""Summaries of one run: which queries enter which mean."""

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.app.score import score
from karat.errors import InputError
from karat.model import Answer, Hit, Outcome, QueryStatus, Run
from karat.scoring.settings import Confidence, Scoring

GOLD = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"c": 0.0}}
MRR = Scoring(("mrr",))


def test_statuses_and_both_means() -> None:
    run = Run.of(
        [Answer("q1", (Hit("x", 2.0), Hit("a", 1.0))), Answer("q2", outcome=Outcome.ERROR)]
    )
    evaluation = score(GOLD, run, scoring=MRR)
    (summary,) = evaluation.summaries
    assert (summary.mean, summary.answered, summary.n, summary.interval) == (0.25, 0.5, 2, None)
    assert evaluation.notes.statuses == {
        QueryStatus.SCORED: 1,
        QueryStatus.MISSING: 0,
        QueryStatus.ERROR: 1,
        QueryStatus.TIMEOUT: 0,
        QueryStatus.UNJUDGED: 1,
    }


def test_trec_leaves_out_what_is_not_answered_and_keeps_what_is_not_judged() -> None:
    trec = Scoring(("mrr",), trec=True)
    assert score(GOLD, {"q1": {"a": 1.0}}, scoring=trec)["mrr"] == 1.0
    assert score(GOLD, {"q1": {"a": 1.0}, "q3": {"c": 1.0}}, scoring=trec)["mrr"] == 0.5
    assert score(GOLD, {"q1": {"a": 1.0}, "q3": {"c": 1.0}}, scoring=MRR)["mrr"] == 0.5


def test_no_query_with_a_relevant_target_has_no_mean() -> None:
    evaluation = score({"q": {"a": 0.0}}, {"q": {"a": 1.0}}, scoring=MRR)
    assert isnan(evaluation["mrr"])
    assert evaluation.summaries[0].n == 0


@pytest.mark.parametrize("gold", [GOLD, {"q3": {"c": 0.0}}])
def test_a_run_of_other_queries_is_refused_whatever_is_judged(
    gold: dict[str, dict[str, float]],
) -> None:
    with pytest.raises(InputError, match="run1: no query id of the run is in the gold set"):
        score(gold, {"other": {"a": 1.0}}, scoring=MRR)


def test_an_empty_run_is_refused() -> None:
    with pytest.raises(InputError, match="the run has none, the gold set has 'q1', 'q2'"):
        score(GOLD, {}, scoring=MRR)


def test_a_run_that_failed_everywhere_still_has_a_score() -> None:
    run = Run.of([Answer(query, outcome=Outcome.TIMEOUT) for query in GOLD])
    assert score(GOLD, run, scoring=MRR)["mrr"] == 0.0


def test_an_interval_holds_its_mean() -> None:
    evaluation = score(
        GOLD, {"q1": {"a": 1.0}}, scoring=MRR, confidence=Confidence(level=0.9, draws=99)
    )
    interval = evaluation.summaries[0].interval
    assert interval is not None
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low <= evaluation["mrr"] <= interval.high


@given(
    st.lists(
        st.sampled_from([Outcome.ANSWERED, Outcome.ERROR, Outcome.TIMEOUT, None]), min_size=1
    ).filter(lambda outcomes: any(outcome is not None for outcome in outcomes))
)
def test_the_mean_over_all_is_the_answered_one_thinned_by_failures(
    outcomes: list[Outcome | None],
) -> None:
    gold = {f"q{number}": {"a": 1.0} for number in range(len(outcomes))}
    run = Run.of(
        Answer(query, (Hit("a", 1.0),) if outcome is Outcome.ANSWERED else (), outcome)
        for query, outcome in zip(gold, outcomes, strict=True)
        if outcome is not None
    )
    (summary,) = score(gold, run, scoring=MRR).summaries
    answered = outcomes.count(Outcome.ANSWERED)
    assert summary.mean == pytest.approx(answered / len(outcomes))
    assert summary.n == len(outcomes)
    if answered:
        assert summary.answered == 1.0
    else:
        assert isnan(summary.answered)


def test_what_is_deeper_than_was_asked_for_is_not_known() -> None:
    run = Run.of([Answer("q1", (Hit("a", 1.0),)), Answer("q2")], metadata={"k": 5})
    scoring = Scoring(("hit@5", "hit@10", "mrr"))
    for sure in (None, Confidence(draws=99)):
        evaluation = score(GOLD, run, scoring=scoring, confidence=sure)
        assert [evaluation["hit@5"], evaluation["mrr"]] == [0.5, 0.5]
        assert isnan(evaluation["hit@10"])
        assert evaluation.summaries[1].n == 0
