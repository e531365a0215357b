"""The columns that rows of scores become."""

from array import array
from math import isnan, nan

import pytest

from karat.errors import InputError
from karat.extensions.scores.record import ScoreMeasure, ScoreRow, ScoreSet, ScoreStatus


def test_rows_become_columns_in_their_first_order() -> None:
    scores = ScoreSet.of(
        [
            ScoreRow("q2", "b", {"f1": 0.25}, text="where"),
            ScoreRow("q1", "b", {"f1": 0.75}, tags={"task": "x"}),
            ScoreRow("q1", "a", {"f1": 1.0, "cost": 3.0}),
        ]
    )
    assert scores.systems == ("b", "a")
    assert scores.query_ids == ("q2", "q1")
    assert scores.texts == ("where", "")
    assert scores.tags == {"task": ("", "x")}
    assert scores.values["f1"].tolist()[:2] == [0.25, 0.75]
    assert isnan(scores.values["f1"][2])
    assert scores.column("a", "f1")[1] == 1.0
    assert scores.query_statuses("a") == [ScoreStatus.MISSING, ScoreStatus.SCORED]
    assert repr(scores) == "<ScoreSet scores: 2 systems, 2 queries, 2 measures>"


def test_trials_are_averaged_and_a_failed_one_counts_as_asked() -> None:
    rows = [ScoreRow("q", "a", {"p": value}) for value in (1.0, 0.0, 1.0)]
    rows.append(ScoreRow("q", "a", {"p": None}, failed=True))
    scores = ScoreSet.of(rows)
    assert scores.trials == 4
    assert scores.column("a", "p") == [2 / 3]
    assert scores.column("a", "p", failed=0.0) == [0.5]
    assert scores.count("a", ScoreStatus.ERROR) == 1
    assert scores.query_statuses("a") == [ScoreStatus.SCORED]


def test_a_row_without_a_score_is_missing_and_a_failed_one_an_error() -> None:
    scores = ScoreSet.of(
        [
            ScoreRow("q1", "a", {"p": None}),
            ScoreRow("q2", "a", {"p": nan}),
            ScoreRow("q3", "a", {}, failed=True),
            ScoreRow("q3", "b", {"p": 0.5}),
        ]
    )
    assert [each.name for each in scores.query_statuses("a")] == ["MISSING", "MISSING", "ERROR"]
    assert all(map(isnan, scores.column("a", "p")))


def test_the_same_trial_twice_is_rejected() -> None:
    rows = [ScoreRow("q", "a", {"p": 1.0}, trial="1")] * 2
    with pytest.raises(InputError, match="query 'q' of 'a' has trial '1' twice"):
        ScoreSet.of(rows)


def test_two_values_of_a_tag_are_rejected() -> None:
    rows = [ScoreRow("q", name, {"p": 1.0}, tags={"task": name}) for name in "ab"]
    with pytest.raises(InputError, match="query 'q' has two values of task: 'a' and 'b'"):
        ScoreSet.of(rows)


def test_scores_that_are_infinite_or_absent_are_rejected() -> None:
    with pytest.raises(InputError, match="p of query 'q' is inf"):
        ScoreSet.of([ScoreRow("q", "a", {"p": float("inf")})])
    with pytest.raises(InputError, match="no score; expected"):
        ScoreSet.of([])


@pytest.mark.parametrize(
    ("values", "lower", "kind", "bounds"),
    [
        ([0, 1, nan], False, "binary", (0.0, 1.0)),
        ([0, 0.5], False, "bounded", (0.0, 1.0)),
        ([-0.5, 0.5], False, "free", (float("-inf"), float("inf"))),
        ([0, 80], False, "free", (float("-inf"), float("inf"))),
        ([0, 1], True, "free", (0.0, float("inf"))),
        ([-1, 1], True, "free", (float("-inf"), float("inf"))),
    ],
)
def test_range_of_a_measure(
    values: list[float], *, lower: bool, kind: str, bounds: tuple[float, float]
) -> None:
    measure = ScoreMeasure.seen("m", array("d", values), lower=lower)
    assert (measure.kind, (measure.low, measure.high)) == (kind, bounds)
    assert measure.lower_is_better is lower


def test_measures_of_which_less_is_better_are_named() -> None:
    rows = [ScoreRow("q", "a", {"Cost": 2.0, "p": 1.0})]
    scores = ScoreSet.of(rows, lower=["Cost"])
    assert scores.measure("cost").lower_is_better
    assert not scores.measure("p").lower_is_better
    with pytest.raises(InputError, match="no measure is called 'x'; expected some of Cost and p"):
        ScoreSet.of(rows, lower=["x"])
    with pytest.raises(InputError, match="no measure is called 'x'; expected one of Cost and p"):
        scores.measure("x")
