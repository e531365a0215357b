from unittest.mock import patch

import pytest

from karat.errors import InputError
from karat.extensions.ndcg import evaluator as truth_module
from karat.ndcg import NDCGEvaluator
from karat.scoring.stats import bootstrap_intervals, verdict


@pytest.fixture
def evaluator() -> NDCGEvaluator:
    return NDCGEvaluator([1, 3], prometheus=False)


def keyed(keys: str) -> list[dict[str, str]]:
    return [{"key": key} for key in keys]


def test_scores_means_and_intervals(evaluator: NDCGEvaluator) -> None:
    judgments = [{"a": 2.0, "b": 1.0}, {"a": 1.0}, {"a": 0.0}, {"c": 1.0, "d": 2.0}]
    rankings = [keyed("ab"), keyed("xa"), keyed("a"), keyed("ccx")]
    batch = evaluator.evaluate_batch(rankings, judgments)
    assert batch.unjudged == 1
    assert batch.duplicates == 1
    assert batch.scores[2] is None
    for ranking, truth, scores in zip(rankings, judgments, batch.scores, strict=True):
        assert scores is None or scores == evaluator.evaluate_ranking(ranking, truth)
    first = batch.means["ndcg@1"]
    assert first.mean is not None
    assert first.mean == pytest.approx((1.0 + 0.0 + 0.5) / 3)
    (interval,) = bootstrap_intervals([1.0, 0.0, 0.5], bounds=(0, 1))
    assert first.interval == interval
    assert interval.low is not None
    assert interval.high is not None
    assert 0.0 <= interval.low <= first.mean <= interval.high <= 1.0


def test_each_ideal_is_computed_once(evaluator: NDCGEvaluator) -> None:
    shared, other = {"a": 1.0, "b": 0.5}, {"a": 1.0}
    rankings = [keyed("ab"), keyed("ba"), keyed("xa"), keyed("a")]
    with patch.object(truth_module, "ideal_gain", wraps=truth_module.ideal_gain) as counted:
        evaluator.evaluate_batch(rankings, [shared, shared, shared, other])
        assert counted.call_count == 2 * len(evaluator.k_values)
        counted.reset_mock()
        evaluator.evaluate_batch(rankings, shared)
        assert counted.call_count == len(evaluator.k_values)


def test_nothing_to_score(evaluator: NDCGEvaluator) -> None:
    for rankings, judgments in (([], []), ([keyed("a")], [{"a": 0.0}])):
        batch = evaluator.evaluate_batch(rankings, judgments)
        assert batch.means["ndcg@1"].mean is None
        assert batch.means["ndcg@1"].interval.low is None
        assert batch.unjudged == len(rankings)


def test_lengths_that_differ(evaluator: NDCGEvaluator) -> None:
    with pytest.raises(InputError, match="got 2 rankings and judgments for 1"):
        evaluator.evaluate_batch([keyed("a"), keyed("b")], [{"a": 1.0}])
    with pytest.raises(InputError, match="got 1 and 2 rankings; expected one pair per query"):
        evaluator.compare_batch([keyed("a")], [keyed("a"), keyed("b")], {"a": 1.0})


def test_a_measure_without_bounds_has_an_interval_too() -> None:
    evaluator = NDCGEvaluator([1], measures=["dcg@1"], prometheus=False)
    batch = evaluator.evaluate_batch([keyed("a"), keyed("b"), keyed("c")], {"a": 3, "b": 2, "c": 1})
    assert batch.means["dcg@1"].mean == pytest.approx(2.0)
    high = batch.means["dcg@1"].interval.high
    assert high is not None
    assert high > 2.0


def test_two_systems_over_many_queries(evaluator: NDCGEvaluator) -> None:
    judgments = [{"a": 1.0, "b": 0.5} for _ in range(12)]
    judgments[0] = {"a": 0.0}
    before, after = [keyed("xab")] * 12, [keyed("abx")] * 11 + [keyed("xab")]
    comparison = evaluator.compare_batch(before, after, judgments)
    difference = comparison.difference("baseline", "improved", "ndcg@1")
    assert (difference.n, difference.missing) == (11, 1)
    assert (difference.wins, difference.ties, difference.losses) == (10, 1, 0)
    assert difference.difference == pytest.approx(10 / 11)
    # Ten wins and no loss: twice the chance of ten heads.
    assert difference.p == pytest.approx(2 / 2**10)
    assert "improved is better than baseline: ndcg@1 +" in verdict(comparison)
