import logging
import math
import subprocess
import sys
from fractions import Fraction
from types import SimpleNamespace
from uuid import UUID

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError, UnknownName
from karat.extensions.ndcg.evaluator import GradeTable, read_ranking
from karat.ndcg import NDCGEvaluator, Neighbour
from karat.scoring.matching.documents import judge_ranking
from karat.scoring.metrics.gain import ndcg

JUDGMENTS = {"doc_1": 1.0, "doc_2": 0.5, "doc_3": 0.0}
BASELINE = [{"key": "doc_1"}, {"key": "doc_2"}, {"key": "doc_3"}]
CHANGED = [{"key": "doc_2"}, {"key": "doc_1"}, {"key": "doc_3"}]


@pytest.fixture
def evaluator() -> NDCGEvaluator:
    return NDCGEvaluator(k_values=[1, 3, 5, 10], prometheus=False)


def keyed(keys: str) -> list[dict[str, str]]:
    return [{"key": key} for key in keys]


def test_the_ideal_order_scores_1_at_every_cut(evaluator: NDCGEvaluator) -> None:
    ranked = [
        {"key": "doc_1", "score": 0.9},
        {"key": "doc_2", "score": 0.8},
        {"key": "doc_3", "score": 0.7},
    ]
    expected = {"ndcg@1": 1.0, "ndcg@3": 1.0, "ndcg@5": 1.0, "ndcg@10": 1.0}
    assert evaluator.evaluate_ranking(ranked, JUDGMENTS) == expected


def test_the_changed_order_is_worse(evaluator: NDCGEvaluator) -> None:
    comparison = evaluator.compare_rankings(BASELINE, CHANGED, JUDGMENTS)
    assert set(comparison) == {"baseline", "improved", "improvement"}
    assert comparison["baseline"]["ndcg@3"] == 1.0
    # By hand: (0.5 + 1 / log2(3)) / (1 + 0.5 / log2(3)).
    expected = (0.5 + 1 / math.log2(3)) / (1 + 0.5 / math.log2(3))
    assert comparison["improved"]["ndcg@3"] == pytest.approx(expected)
    change = comparison["improvement"]
    assert change["ndcg@1_improvement_pct"] == -50.0
    for k in (3, 5, 10):
        assert change[f"ndcg@{k}_improvement_pct"] == pytest.approx(-14.03, abs=0.005)


def test_improvement_from_0_is_none(evaluator: NDCGEvaluator) -> None:
    comparison = evaluator.compare_rankings(keyed("x"), keyed("a"), {"a": 1.0})
    assert comparison["improvement"]["ndcg@1_improvement_pct"] is None
    assert comparison["improved"]["ndcg@1"] == 1.0


def test_a_missing_relevant_item_lowers_the_score(evaluator: NDCGEvaluator) -> None:
    # The ideal is made of all judgments: 2 + 1 / log2(3), of which only the 1 was found, first.
    scores = evaluator.evaluate_ranking(keyed("b"), {"a": 2.0, "b": 1.0})
    assert scores["ndcg@1"] == 0.5
    assert scores["ndcg@10"] == pytest.approx(1 / (2 + 1 / math.log2(3)))


def test_the_three_sums_by_hand(evaluator: NDCGEvaluator) -> None:
    assert evaluator.dcg_at_k([3, 2, 0, 1], 4) == pytest.approx(
        3 + 2 / math.log2(3) + 1 / math.log2(5)
    )
    assert evaluator.dcg_at_k([3, 2, 0, 1], 1) == 3.0
    assert (
        evaluator.dcg_at_k([], 3) == evaluator.idcg_at_k([], 3) == evaluator.ndcg_at_k([], 3) == 0
    )
    assert evaluator.idcg_at_k([0, 1, 2, 3], 2) == pytest.approx(3 + 2 / math.log2(3))
    assert evaluator.idcg_at_k({"a": 2, "b": 3}, 2) == evaluator.idcg_at_k([2, 3, 0], 2)
    assert evaluator.ndcg_at_k([3, 2, 1], 3) == 1.0
    assert evaluator.ndcg_at_k([0, 1], 1) == 0.0
    assert evaluator.ndcg_at_k([0, -1], 2) == 0.0
    assert evaluator.ndcg_at_k([1], 3, judgments={"a": 1, "b": 1}) == pytest.approx(
        1 / (1 + 1 / math.log2(3))
    )


def test_grades_that_the_judgments_do_not_hold(evaluator: NDCGEvaluator) -> None:
    with pytest.raises(InputError, match="gains 3 at 1, more than the 2 of all judgments"):
        evaluator.ndcg_at_k([3], 1, judgments=[2, 1])


def test_exponential_gain_by_hand() -> None:
    evaluator = NDCGEvaluator([2], gain="exp", prometheus=False)
    scores = evaluator.evaluate_ranking(keyed("ba"), {"a": 3, "b": 1})
    assert scores["ndcg@2"] == pytest.approx((1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3)))
    assert evaluator.dcg_at_k([3], 1) == 7.0


def test_given_gains_order_the_ideal() -> None:
    # Grade 1 is worth 5 here and grade 2 only 3, so the best order begins with the 1.
    evaluator = NDCGEvaluator([1], gain="1:5/2:3", prometheus=False)
    assert evaluator.idcg_at_k([2, 1], 1) == 5.0
    assert evaluator.evaluate_ranking(keyed("ab"), {"a": 2, "b": 1}) == {"ndcg@1": 0.6}


def test_each_key_is_credited_once_and_the_rest_moves_up(evaluator: NDCGEvaluator) -> None:
    judgments = {"a": 1.0, "b": 1.0}
    assert evaluator.evaluate_ranking(keyed("aaaab"), judgments)["ndcg@3"] == 1.0
    assert read_ranking(keyed("aaaab")).duplicates == 3


def test_a_negative_grade_gains_nothing(evaluator: NDCGEvaluator) -> None:
    scores = evaluator.evaluate_ranking(keyed("xa"), {"a": 1.0, "x": -5.0})
    assert scores == evaluator.evaluate_ranking(keyed("xa"), {"a": 1.0, "x": 0.0})


def test_nothing_retrieved_and_nothing_relevant(
    evaluator: NDCGEvaluator, caplog: pytest.LogCaptureFixture
) -> None:
    nothing = {"ndcg@1": 0.0, "ndcg@3": 0.0, "ndcg@5": 0.0, "ndcg@10": 0.0}
    assert evaluator.evaluate_ranking([], {"a": 1.0}) == nothing
    assert not caplog.records
    assert evaluator.evaluate_ranking(keyed("a"), {"a": 0.0}) == nothing
    assert evaluator.evaluate_ranking(keyed("a"), {}) == nothing
    assert [record.getMessage() for record in caplog.records] == [
        "no judgment is positive: the scores are 0 and are not recorded"
    ] * 2
    assert evaluator.score(keyed("a"), {"a": 0.0}) is None
    assert evaluator.score(keyed("a"), {"a": 1.0}) == dict.fromkeys(nothing, 1.0)


def test_items_of_every_kind_name_the_same_thing(evaluator: NDCGEvaluator) -> None:
    number = UUID(int=7)
    same: list[tuple[object, object]] = [
        ({"key": "a", "id": "ignored"}, "a"),
        ({"id": "a", "score": None}, "a"),
        ({"key": None, "id": "a", "score": np.float32(0.5)}, "a"),
        (Neighbour("a", 0.3), "a"),
        (SimpleNamespace(id=7, score=1), "7"),
        (SimpleNamespace(key="7"), 7),
        ({"id": number}, str(number)),
        ({"key": 0}, 0),
    ]
    for item, key in same:
        assert evaluator.evaluate_ranking([item], {key: 1.0})["ndcg@1"] == 1.0
    assert evaluator.evaluate_ranking(iter(keyed("a")), {"a": True})["ndcg@1"] == 1.0


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([{"score": 1.0}], r"item 1 of the ranking is \{'score': 1.0\}; expected key or id"),
        (["a"], "item 1 of the ranking is 'a'; expected key or id"),
        ([{"key": "a"}, {"key": ""}], "item 2 of the ranking: key '' is empty"),
        ([{"key": 1.5}], "key 1.5 cannot name an item"),
        ([{"key": "a", "score": math.nan}], "'a': score nan is not a finite number"),
        ([{"key": "a", "score": "0.9"}], "score '0.9' is not a finite number"),
        ([{"key": "a", "score": [1]}], r"score \[1\] is not a finite number"),
        ("abc", "the ranking is 'abc'; expected a list of items"),
        ({"key": "a"}, "expected a list of items"),
        (None, "the ranking is None; expected a list of items"),
    ],
)
def test_rankings_that_are_none(
    evaluator: NDCGEvaluator, items: list[object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        evaluator.evaluate_ranking(items, {"a": 1.0})


@pytest.mark.parametrize(
    ("judgments", "message"),
    [
        ({"a": math.nan}, "the judgment of 'a' is nan; expected a finite number"),
        ({"a": math.inf}, "the judgment of 'a' is inf"),
        ({"a": "1"}, "the judgment of 'a' is '1'"),
        ({"a": None}, "the judgment of 'a' is None"),
        ({"a": 10**400}, "expected a finite number"),
        ({"": 1}, "judgments: key '' is empty"),
        ({7: 1, "7": 1}, "key '7' is given twice, as text and as a number"),
        ([("a", 1)], "expected a mapping of keys to grades"),
        ({"a": 1.7e308, "b": 1.7e308}, "the grades are too large"),
    ],
)
def test_judgments_that_are_none(
    evaluator: NDCGEvaluator, judgments: dict[str, float], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        evaluator.evaluate_ranking(keyed("a"), judgments)


def test_grades_and_cuts_that_are_none(evaluator: NDCGEvaluator) -> None:
    with pytest.raises(InputError, match="the relevance at rank 2 is nan"):
        evaluator.dcg_at_k([1.0, math.nan], 2)
    for k in (0, -1, 2.0, True, None):
        for method in (evaluator.dcg_at_k, evaluator.idcg_at_k, evaluator.ndcg_at_k):
            with pytest.raises(InputError, match="expected a whole number from 1 up"):
                method([1.0], k)  # type: ignore[arg-type]
    steep = NDCGEvaluator(gain="exp", prometheus=False)
    with pytest.raises(InputError, match="grade 5000 is too high"):
        steep.dcg_at_k([5000], 1)
    with pytest.raises(InputError, match="too large"):
        steep.dcg_at_k([1023.9] * 3, 3)


def test_settings() -> None:
    assert NDCGEvaluator(prometheus=False).k_values == (1, 3, 5, 10)
    repeated = NDCGEvaluator(np.array([5, 1, 5]), prometheus=False)
    assert repeated.k_values == (5, 1)
    assert list(repeated.evaluate_ranking(keyed("a"), {"a": 1})) == ["ndcg@5", "ndcg@1"]
    with pytest.raises(InputError, match="k_values is empty"):
        NDCGEvaluator([])
    with pytest.raises(InputError, match="k is 0"):
        NDCGEvaluator([1, 0])
    with pytest.raises(InputError, match="k_values is 10; expected a list"):
        NDCGEvaluator(10)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="gain 'square' is unknown"):
        NDCGEvaluator(gain="square")
    with pytest.raises(UnknownName, match="did you mean 'mrr'"):
        NDCGEvaluator(measures=["mmrr"])


def test_other_measures_beside_ndcg() -> None:
    evaluator = NDCGEvaluator([3], measures=["MRR", "recall@2", "ndcg@3"], prometheus=False)
    scores = evaluator.evaluate_ranking(keyed("xay"), {"a": 1, "b": 1})
    assert list(scores) == ["ndcg@3", "mrr", "recall@2"]
    assert (scores["mrr"], scores["recall@2"]) == (0.5, 0.5)


def test_debug_log_shows_gains_and_sums(
    evaluator: NDCGEvaluator, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="karat.ndcg"):
        evaluator.evaluate_ranking(keyed("xaba"), {"a": 2.0, "b": 1.0})
    second = caplog.records[1]
    assert second.name == "karat.ndcg"
    assert second.getMessage() == (
        "ndcg@3: gains [0.0, 2.0, 1.0], DCG 1.761860, IDCG 2.630930; 2 of 3 keys judged, 1 repeated"
    )
    assert len(caplog.records) == 4


grades = st.dictionaries(
    st.sampled_from("abcdefghij"), st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0]), max_size=10
)
orders = st.permutations("abcdefghijxyz").flatmap(
    lambda keys: st.integers(0, len(keys)).map(lambda length: keys[:length])
)


@given(grades, orders, st.integers(1, 14), st.sampled_from(["linear", "exp"]))
def test_agrees_with_matching_and_the_metric(
    judgments: dict[str, float], order: list[str], k: int, gain: str
) -> None:
    evaluator = NDCGEvaluator([k], gain=gain, prometheus=False)
    score = evaluator.evaluate_ranking([{"key": key} for key in order], judgments)[f"ndcg@{k}"]
    scores = {key: float(-rank) for rank, key in enumerate(order)}
    judged = judge_ranking(judgments, scores)
    assert score == ndcg(judged, k, gain=gain)
    assert 0.0 <= score <= 1.0
    own = GradeTable(judgments).judge(read_ranking([{"key": key} for key in order]))
    assert (own.ranks, own.grades) == (judged.ranks, judged.grades)
    assert list(own.ideal) == list(judged.ideal)


@given(grades, orders)
def test_no_order_beats_that_of_the_grades(judgments: dict[str, float], order: list[str]) -> None:
    evaluator = NDCGEvaluator(prometheus=False)
    best = sorted(judgments, key=lambda key: -judgments[key])
    ideal = evaluator.evaluate_ranking([{"key": key} for key in best], judgments)
    expected = 1.0 if any(grade > 0 for grade in judgments.values()) else 0.0
    assert set(ideal.values()) == {expected}
    scores = evaluator.evaluate_ranking([{"key": key} for key in order], judgments)
    assert all(scores[name] <= ideal[name] for name in scores)


@given(
    st.dictionaries(st.sampled_from("abcdefghij"), st.integers(0, 3), min_size=1),
    orders.filter(bool),
)
def test_agrees_with_trec_eval(judgments: dict[str, int], order: list[str]) -> None:
    run = {"q": {key: float(len(order) - rank) for rank, key in enumerate(order)}}
    peer = pytrec_eval.RelevanceEvaluator({"q": judgments}, {"ndcg_cut.1,3,5,10"})
    expected = peer.evaluate(run)["q"]
    scores = NDCGEvaluator(prometheus=False).evaluate_ranking(
        [{"key": key} for key in order], judgments
    )
    for k in (1, 3, 5, 10):
        assert scores[f"ndcg@{k}"] == pytest.approx(expected[f"ndcg_cut_{k}"], abs=1e-9)


def test_the_change_is_a_percentage_of_the_baseline(evaluator: NDCGEvaluator) -> None:
    comparison = evaluator.compare_rankings(keyed("b"), keyed("a"), {"a": 4.0, "b": 1.0})
    assert Fraction(comparison["improvement"]["ndcg@1_improvement_pct"] or 0) == 300


def test_a_single_ranking_needs_no_numpy() -> None:
    code = (
        "import sys, karat.ndcg as n\n"
        "e = n.NDCGEvaluator([1], prometheus=False)\n"
        "assert e.evaluate_ranking([{'key': 'a'}], {'a': 1}) == {'ndcg@1': 1.0}\n"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
