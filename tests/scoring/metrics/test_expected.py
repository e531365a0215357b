"""Under ties the expected score is the mean over every order, and best and worst enclose it."""

from collections.abc import Iterator
from itertools import groupby, permutations, product
from math import fsum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.model import JudgedQuery, JudgedRun, QueryStatus
from karat.scoring.matching import judge
from karat.scoring.metrics import METRICS, Measure, evaluate, parse
from tests.metric_names import each_metric, only

pytest_generate_tests = each_metric(METRICS.core())

DOCUMENTS = st.sampled_from("abcdef")
SCORES = st.dictionaries(DOCUMENTS, st.sampled_from([1.0, 2.0]), max_size=5)
GRADES = st.dictionaries(
    DOCUMENTS, st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=6
)


def measures(name: str) -> list[Measure]:
    cuts: dict[str, list[int | None]] = {
        "none": [None],
        "required": [1, 2, 3],
        "optional": [None, 1, 2, 3],
    }
    return [Measure(name, k) for k in cuts[METRICS.get(name).cut]]


def orders(scores: dict[str, float]) -> Iterator[dict[str, float]]:
    """Return the ranking with its ties broken in every way, each as untied scores."""
    ranked = sorted(scores, key=scores.__getitem__, reverse=True)
    ties = [list(group) for _, group in groupby(ranked, key=scores.__getitem__)]
    for parts in product(*map(permutations, ties)):
        documents = [document for part in parts for document in part]
        yield {document: -float(rank) for rank, document in enumerate(documents)}


def score(judged: JudgedRun, measure: Measure) -> float:
    return evaluate(judged, [measure], score_unjudged=True).columns[str(measure)][0]


@only(lambda metric: metric.expected_ties)
@settings(max_examples=15)
@given(grades=GRADES, scores=SCORES)
def test_the_expected_score_is_the_mean_over_all_orders(
    name: str, grades: dict[str, float], scores: dict[str, float]
) -> None:
    every = [judge({"q": grades}, {"q": order}) for order in orders(scores)]
    expected = judge({"q": grades}, {"q": scores}, ties="expected")
    for measure in measures(name):
        mean = fsum(score(one, measure) for one in every) / len(every)
        assert score(expected, measure) == pytest.approx(mean, abs=1e-12), str(measure)


@only(lambda metric: "promotion" in metric.laws)
@settings(max_examples=15)
@given(grades=GRADES, scores=SCORES)
def test_no_order_is_better_than_best_or_worse_than_worst(
    name: str, grades: dict[str, float], scores: dict[str, float]
) -> None:
    every = [judge({"q": grades}, {"q": order}) for order in orders(scores)]
    best, worst = (judge({"q": grades}, {"q": scores}, ties=ties) for ties in ("best", "worst"))
    for measure in measures(name):
        values = [score(one, measure) for one in every]
        ends = score(worst, measure), score(best, measure)
        if not measure.definition.higher_is_better:
            ends = ends[::-1]
        assert ends == pytest.approx((min(values), max(values)), abs=1e-12), str(measure)


@only(lambda metric: metric.expected_ties)
@settings(max_examples=15)
@given(grades=GRADES, scores=SCORES)
def test_without_ties_every_policy_agrees(
    name: str, grades: dict[str, float], scores: dict[str, float]
) -> None:
    untied = next(orders(scores))
    for measure in measures(name):
        values = {
            score(judge({"q": grades}, {"q": untied}, ties=ties), measure)
            for ties in ("trec10", "trec9", "order", "expected", "best", "worst")
        }
        assert len(values) == 1, str(measure)


@pytest.mark.parametrize("size", [2, 9, 25, 57])
@only(lambda metric: metric.expected_ties)
def test_ties_of_relevant_hits_do_not_round_out_of_range(name: str, size: int) -> None:
    metric = METRICS.get(name)
    names = [f"d{number}" for number in range(size)]
    judged = judge(
        {"q": dict.fromkeys(names, 1)}, {"q": dict.fromkeys(names, 1.0)}, ties="expected"
    )
    for measure in measures(name):
        assert metric.low <= score(judged, measure) <= metric.high


def test_worked_by_hand() -> None:
    """One relevant of three tied: ranks 1, 2 and 3 are equally likely."""
    judged = judge({"q": {"a": 1}}, {"q": dict.fromkeys("abc", 1.0)}, ties="expected")
    assert score(judged, parse("mrr")) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert score(judged, parse("hit@2")) == pytest.approx(2 / 3)
    assert score(judged, parse("precision@1")) == pytest.approx(1 / 3)
    assert score(judged, parse("ap")) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


def test_a_metric_without_an_expected_value_is_refused_where_a_tie_matters() -> None:
    tied = JudgedQuery([1], [1], ideal=[1], retrieved=2, spans=[(1, 2)], tied=True)
    judged = JudgedRun("r", ("q",), (tied,), (QueryStatus.SCORED,), "expected")
    with pytest.raises(
        InputError, match=r"the tie policy 'expected' is not defined for: tokens@5, lines@5"
    ):
        evaluate(judged, [parse("mrr"), parse("tokens@5"), parse("lines@5")])
    free = JudgedQuery([1], [1], ideal=[1], retrieved=2)
    judged = JudgedRun("r", ("q",), (free,), (QueryStatus.SCORED,), "expected")
    assert list(evaluate(judged, [parse("tokens@5")]).columns) == ["tokens@5"]
