"""What a metric's parameters do, by hand; and those that make no sense."""

from math import log2

import pytest

from karat.errors import InputError
from karat.model import Credits, JudgedQuery
from karat.scoring.metrics import METRICS, parse
from karat.scoring.metrics.sets import harmonic_mean

# Grades 0, 2, 1 at ranks 1, 2, 3; one of grade 1 was missed.
QUERY = JudgedQuery([1, 2, 3], [0, 2, 1], ideal=[2, 1, 1, 0], retrieved=4)


def score(measure: str, query: JudgedQuery = QUERY) -> float:
    return parse(measure).bind()(query)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("mrr", 1 / 2),
        ("mrr@1", 0),
        ("mrr(level=2)", 1 / 2),
        ("mrr(level=3)", 0),
        ("hit(level=2)@1", 0),
        ("hit(level=2)@2", 1),
        ("precision@3", 2 / 3),
        ("precision(level=2)@3", 1 / 3),
        ("recall", 2 / 3),
        ("recall(level=2)", 1),
        ("recall(level=3)", 0),
        ("f1@3", 2 / 3),
        ("f1(level=2)@3", 1 / 2),
        ("r-precision", 2 / 3),
        ("r-precision(level=2)", 0),
        ("ap", (1 / 2 + 2 / 3) / 3),
        ("ap@2", 1 / 6),
        ("ap(level=2)", 1 / 2),
        ("ap(level=3)", 0),
        ("bpref(level=3)", 0),
        ("dcg", 2 / log2(3) + 1 / 2),
        ("dcg@2", 2 / log2(3)),
        ("dcg(gain=exp)", 3 / log2(3) + 1 / 2),
        ("dcg(gain=0:1/2:9)", 1 + 9 / log2(3) + 1 / 2),
        ("ndcg(gain=exp)@2", 3 / log2(3) / (3 + 1 / log2(3))),
        ("ndcg(gain=2:1/1:5)@1", 0),
        ("ndcg(gain=2:1/1:5)@2", 1 / log2(3) / (5 + 5 / log2(3))),
        ("ndcg(gain=2:1/1:5)@3", (1 / log2(3) + 5 / 2) / (5 + 5 / log2(3) + 1 / 2)),
        ("err", 3 / 4 / 2 + 1 / 4 * 1 / 4 / 3),
        ("err@2", 3 / 4 / 2),
        ("err(max_grade=4)", 3 / 16 / 2 + 13 / 16 * 1 / 16 / 3),
        ("err(max_grade=1)", 1 / 2 / 2 + 1 / 2 * 1 / 2 / 3),
        ("rbp", 0.2 * (0.8 + 0.64)),
        ("rbp(p=0.5)", 0.5 * (0.5 + 0.25)),
        ("rbp(p=0.5)@2", 0.25),
        ("rbp(p=0.5,level=2)", 0.25),
        ("rbp(p=1)", 0),
        ("judged", 3 / 4),
        ("judged@3", 1),
        ("set-precision", 1 / 2),
        ("set-precision(level=2)", 1 / 4),
        ("set-recall", 2 / 3),
        ("set-recall(level=2)", 1),
        ("set-recall(level=3)", 0),
        ("set-f1", 2 * (1 / 2 * 2 / 3) / (1 / 2 + 2 / 3)),
    ],
)
def test_by_hand(measure: str, expected: float) -> None:
    assert score(measure) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("gain", ["foo", "1", "1:2:3", "1:x", "", "1:-1", "1:nan", "1:inf"])
def test_a_gain_that_is_none_is_refused(gain: str) -> None:
    with pytest.raises(InputError, match="gain"):
        METRICS.get("ndcg").score(QUERY, gain=gain)


@pytest.mark.parametrize("p", ["-0.1", "1.1", "2"])
def test_a_chance_is_from_0_to_1(p: str) -> None:
    with pytest.raises(InputError, match=r"rbp's p is .*; expected a probability from 0 to 1"):
        score(f"rbp(p={p})")


def test_the_highest_grade_is_not_negative() -> None:
    with pytest.raises(InputError, match="expected 0 or more"):
        score("err(max_grade=-1)")


def test_grades_as_high_as_floats_go() -> None:
    high = JudgedQuery([1, 2], [5000, 4999], ideal=[5000, 4999, 1], retrieved=2)
    assert score("err", high) == 1.0
    assert score("err", JudgedQuery([2], [4999], ideal=[5000], retrieved=2)) == 1 / 4
    for metric in ("ndcg", "dcg"):
        with pytest.raises(InputError, match="grade 5000 is too high for gain=exp"):
            score(f"{metric}(gain=exp)", high)


@pytest.mark.parametrize("count", [1023, 1024, 1025, 2000])
def test_a_perfect_ranking_is_perfect_at_any_length(count: int) -> None:
    grades = [float(1 + rank % 3) for rank in range(count)]
    grades.sort(reverse=True)
    query = JudgedQuery(range(1, count + 1), grades, ideal=grades, retrieved=count)
    for measure in ("ndcg", "ndcg@1500", "ndcg(gain=exp)", "ap", "recall", "bpref"):
        assert score(measure, query) == pytest.approx(1.0, abs=1e-12)
        assert score(measure, query) <= 1.0


def test_a_repeated_target_cannot_divide_bpref_by_nothing() -> None:
    twice = JudgedQuery([1, 2, 3], [1, 0.0, 1], ideal=[1, 1], retrieved=3)
    assert score("bpref", twice) == 1.0
    with_one_wrong = JudgedQuery([1, 2, 3], [0.0, 0.0, 1], ideal=[1, 1, 0], retrieved=3)
    assert score("bpref", with_one_wrong) == 0.0


def test_the_harmonic_mean() -> None:
    assert harmonic_mean(0.0, 0.0) == 0.0
    assert harmonic_mean(1.0, 0.0) == 0.0
    assert harmonic_mean(1.0, 0.5) == pytest.approx(2 / 3)


def test_credits_replace_counts() -> None:
    credits = {1.0: Credits([0.5, 1.0], [1.0, 0.0])}
    query = JudgedQuery([1], [1], ideal=[1, 1], retrieved=2, credits=credits)
    assert score("set-precision", query) == 0.75
    assert score("set-recall", query) == 0.5
    nothing = JudgedQuery([], [], ideal=[], retrieved=1, credits={})
    assert score("set-recall", nothing) == 0.0
    assert score("set-f1", nothing) == 0.0
