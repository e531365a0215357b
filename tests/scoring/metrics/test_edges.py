"""The edge matrix: every registered metric on every awkward input."""

from functools import cache
from math import inf, isnan

import pytest

from karat.model import (
    Answer,
    Dataset,
    Hit,
    JudgedQuery,
    JudgedRun,
    Query,
    QueryStatus,
    Run,
    Target,
)
from karat.scoring.matching import TIE_POLICIES, judge
from karat.scoring.metrics import METRICS, Measure, evaluate
from tests.metric_names import each_metric, only

pytest_generate_tests = each_metric(METRICS.core())

Grades = dict[str, dict[str, float]]

HUGE = 10**6
NOTHING = JudgedQuery([], [], ideal=[0], retrieved=0)


def measures(name: str) -> list[Measure]:
    metric = METRICS.get(name)
    cuts: list[int | None] = [] if metric.cut == "required" else [None]
    if metric.cut != "none":
        cuts += [1, 2, HUGE]
    return [Measure(name, k) for k in cuts]


def ranked(*documents: str) -> dict[str, float]:
    return {document: -float(rank) for rank, document in enumerate(documents)}


LONG = [f"d{number}" for number in range(300)]
TIED = LONG[:60]
# name -> judgments, run
DOCUMENTS: dict[str, tuple[Grades, Grades]] = {
    "empty run": ({"q": {"a": 1}}, {}),
    "empty answer": ({"q": {"a": 1}}, {"q": {}}),
    "partial run": ({"q": {"a": 1}, "r": {"b": 1}}, {"q": ranked("a", "b")}),
    "no queries": ({}, {"q": ranked("a")}),
    "no judgments": ({"q": {}}, {"q": ranked("a")}),
    "nothing at all": ({"q": {}}, {"q": {}}),
    "all grade 0": ({"q": {"a": 0, "b": 0}}, {"q": ranked("a", "b")}),
    "negative grades": ({"q": {"a": -1, "b": -2, "c": 1}}, {"q": ranked("a", "b", "c")}),
    "only negative grades": ({"q": {"a": -1}}, {"q": ranked("a")}),
    "one document": ({"q": {"a": 1}}, {"q": ranked("a")}),
    "one wrong document": ({"q": {"a": 1}}, {"q": ranked("b")}),
    "all tied": ({"q": {"a": 1, "b": 0, "c": 2}}, {"q": dict.fromkeys("abcde", 1.0)}),
    "all tied, none relevant": ({"q": {"a": 0, "f": 1}}, {"q": dict.fromkeys("abcde", 1.0)}),
    "all tied and relevant": ({"q": dict.fromkeys(TIED, 1)}, {"q": dict.fromkeys(TIED, 1.0)}),
    "unicode ids": ({"q": {"é": 1, "𝄞": 2, "": 0, " ": 1}}, {"q": ranked("𝄞", "é", "\u0301", "")}),
    "float grades": ({"q": {"a": 0.1, "b": 2.75, "c": 1e-9}}, {"q": ranked("c", "x", "b", "a")}),
    "huge scores": ({"q": {"a": 1, "b": 2}}, {"q": {"a": 1e308, "b": 1e308, "c": -1e308}}),
    "infinite score": ({"q": {"a": 1, "b": 1}}, {"q": {"a": inf, "b": 1.0}}),
    "long and perfect": ({"q": dict.fromkeys(LONG, 1)}, {"q": ranked(*LONG)}),
}


def lined(*targets: Target) -> Dataset:
    return Dataset.of([Query("q", "", targets)], match="lines")


def answered(*hits: Hit) -> Run:
    return Run.of([Answer("q", hits)])


TARGET = Target("a", 1, 10, 19)
LINES: dict[str, tuple[Dataset, Run]] = {
    "lines, empty run": (lined(TARGET), Run.of([])),
    "lines, empty answer": (lined(TARGET), answered()),
    "lines, no judgments": (lined(), answered(Hit("a", 1, 1, 2))),
    "lines, all grade 0": (lined(TARGET._replace(grade=0)), answered(Hit("a", 1, 10, 12))),
    "lines, negative": (lined(TARGET._replace(grade=-1)), answered(Hit("a", 1, 10, 12))),
    "lines, repeated": (
        lined(TARGET),
        answered(*(Hit("a", 9 - n, n, 10 + n) for n in range(1, 9))),
    ),
    "lines, duplicates": (lined(TARGET), answered(Hit("a", 2, 10, 12), Hit("a", 1, 10, 12))),
    "lines, whole files": (lined(TARGET), answered(Hit("b", 2), Hit("a", 1))),
    "lines, whole target": (lined(Target("a"), TARGET), answered(Hit("a", 1, 50, 60))),
    "lines, two at once": (lined(TARGET, TARGET), answered(Hit("a", 1, 1, 50, tokens=7))),
    "lines, one invalid": (lined(TARGET), answered(Hit("a", 1, 12, 10))),
    "lines, float grades": (lined(TARGET._replace(grade=0.3)), answered(Hit("a", 1, 12, 13))),
}


def in_range(measure: Measure, judged: JudgedRun) -> None:
    """Check that each query has a number in the metric's range, or none and a reason for it."""
    metric = measure.definition
    for unjudged in (False, True):
        column = evaluate(judged, [measure], score_unjudged=unjudged).columns[str(measure)]
        assert len(column) == len(judged.queries)
        for score, status in zip(column, judged.statuses, strict=True):
            if status is QueryStatus.UNJUDGED and not unjudged:
                assert isnan(score)
            else:
                assert isnan(score) or metric.low <= score <= metric.high


@cache
def judged_documents(case: str, ties: str = "trec10") -> JudgedRun:
    return judge(*DOCUMENTS[case], ties=ties)


@cache
def judged_backwards(case: str) -> JudgedRun:
    truth, run = DOCUMENTS[case]
    return judge(truth, {name: dict(reversed(scores.items())) for name, scores in run.items()})


@pytest.mark.parametrize("case", DOCUMENTS)
def test_documents(name: str, case: str) -> None:
    for ties in TIE_POLICIES:
        judged = judged_documents(case, ties)
        if ties == "expected" and judged.tied and not METRICS.get(name).expected_ties:
            continue
        for measure in measures(name):
            in_range(measure, judged)


@pytest.mark.parametrize("case", LINES)
def test_lines(name: str, case: str) -> None:
    judged = judge(*LINES[case])
    for measure in measures(name):
        in_range(measure, judged)


@only(lambda metric: metric.cut == "optional")
def test_a_cut_beyond_the_list_is_no_cut(name: str) -> None:
    metric = METRICS.get(name)
    for case in DOCUMENTS:
        for query in judged_documents(case).queries:
            assert metric.score(query, k=HUGE) == metric.score(query)


@only(lambda metric: "zero" in metric.laws and not metric.needs_subtopics)
@pytest.mark.parametrize("case", ["empty run", "empty answer"])
def test_nothing_returned_is_nothing_earned(name: str, case: str) -> None:
    judged = judged_documents(case)
    for measure in measures(name):
        assert list(evaluate(judged, [measure]).columns[str(measure)]) == [0.0]


def test_the_order_of_the_input_changes_nothing(name: str) -> None:
    for case in DOCUMENTS:
        one, other = judged_documents(case), judged_backwards(case)
        for measure in measures(name):
            left, right = (
                evaluate(judged, [measure]).columns[str(measure)].tobytes()
                for judged in (one, other)
            )
            assert left == right


@only(lambda metric: metric.cut != "required")
def test_an_empty_answer_where_nothing_is_relevant(name: str) -> None:
    value = Measure(name).bind()(NOTHING)
    # Of two empty sets the F1 is perfect; sizes and subtopics are not known.
    expected = {"set-f1": 1.0}.get(name, 0.0)
    assert value == expected or (isnan(value) and name in ("tokens-to-hit", "nrbp"))
