"""Test runs of DeepEval."""

import pytest

from karat.errors import FormatError
from tests.extensions.eval_tools.conftest import Read, Write, columns, statuses


def case(number: int, question: object, score: float | None, **more: object) -> dict[str, object]:
    metric = {"name": "Faithfulness", "score": score, "threshold": 0.5, "success": bool(score)}
    return {
        "name": f"test_case_{number}",
        "input": question,
        "success": bool(score),
        "metricsData": [{**metric, "error": "no answer" if score is None else None}],
        "completionTime": 1.5,
        **more,
    }


def test_cases_are_paired_by_their_input(write: Write, read: Read) -> None:
    old = write("old.json", {"testCases": [case(0, "q1", 0.9), case(1, "q2", 0.0)]})
    new = write("new.json", {"testCases": [case(0, "q2", 0.8), case(1, "q1", None)]})
    known = read("deepeval", old, new)
    assert known.scores.query_ids == ("q1", "q2")
    assert columns(known.scores, "Faithfulness")["old"] == [0.9, 0.0]
    assert columns(known.scores, "Faithfulness")["new"][1] == 0.8
    assert columns(known.scores, "success")["old"] == [1.0, 0.0]
    # DeepEval calls a test case whose judge failed unsuccessful; that is no verdict.
    assert str(columns(known.scores, "success")["new"]) == "[nan, 1.0]"
    assert known.remarks == ("new.json: the judge failed on 1 test case, without a verdict",)


def test_the_latest_run_and_conversations(write: Write, read: Read) -> None:
    turns = [{"role": "user", "content": "hello"}]
    cases = [case(0, None, 1.0, turns=turns), case(1, None, 0.5, scenario="refund")]
    inner = {"testCases": [], "conversationalTestCases": cases, "identifier": "v2"}
    scores = read("deepeval", write(".latest_test_run.json", {"testRunData": inner})).scores
    assert scores.systems == ("v2",)
    assert scores.query_ids == ("hello", "refund")
    assert statuses(scores, "v2") == ["SCORED", "SCORED"]
    assert [measure.name for measure in scores.measures] == ["success", "Faithfulness", "seconds"]


def test_a_folder_of_runs(write: Write, read: Read) -> None:
    for day, score in ((1, 0.2), (2, 0.7)):
        path = write(f"runs/test_run_2026010{day}_1200.json", {"testCases": [case(0, "q", score)]})
    scores = read("deepeval", path.parent).scores
    assert columns(scores, "Faithfulness") == {
        "test_run_20260101_1200": [0.2],
        "test_run_20260102_1200": [0.7],
    }


def test_a_run_without_metrics_is_an_error(write: Write, read: Read) -> None:
    path = write("a.json", {"testCases": [], "metricsScores": [{"metricsData": 1, "success": 2}]})
    with pytest.raises(FormatError, match="no score; expected test cases of DeepEval"):
        read("deepeval", path)
