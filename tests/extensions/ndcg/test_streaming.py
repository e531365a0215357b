from concurrent.futures import ThreadPoolExecutor

import pytest

from karat.errors import InputError
from karat.ndcg import NDCGEvaluator, StreamingEvaluator


def stream_of(window: int) -> StreamingEvaluator:
    return StreamingEvaluator(NDCGEvaluator([1], prometheus=False), window=window)


def add(stream: StreamingEvaluator, outcomes: str) -> None:
    """Add a right (1) or a wrong (0) answer, or one to an unjudged query (-)."""
    for outcome in outcomes:
        grade = 0.0 if outcome == "-" else 1.0
        stream.add([{"key": "a" if outcome == "1" else "x"}], {"a": grade})


def test_the_window_forgets_the_oldest() -> None:
    stream = stream_of(4)
    add(stream, "111-0")
    summary = stream.summary()
    assert (summary.n, summary.seen, summary.unjudged) == (4, 5, 1)
    assert summary.means["ndcg@1"].mean == 0.75
    add(stream, "000")
    assert stream.summary().means["ndcg@1"].mean == 0.0
    assert len(stream) == 4


def test_mean_and_interval_are_those_of_a_batch() -> None:
    stream = stream_of(50)
    add(stream, "1101110101")
    rankings = [[{"key": "a" if outcome == "1" else "x"}] for outcome in "1101110101"]
    batch = NDCGEvaluator([1], prometheus=False).evaluate_batch(rankings, {"a": 1.0}, draws=1_999)
    assert stream.summary().means == batch.means
    assert stream.summary() == stream.summary()


def test_add_returns_the_scores() -> None:
    stream = stream_of(2)
    assert stream.add([{"key": "a"}], {"a": 1.0}) == {"ndcg@1": 1.0}
    assert stream.add([{"key": "a"}], {}) is None


def test_an_empty_window() -> None:
    summary = stream_of(2).summary()
    assert (summary.n, summary.means["ndcg@1"].mean) == (0, None)
    with pytest.raises(InputError, match="window is 0; expected a whole number from 1 up"):
        stream_of(0)


def test_a_refused_ranking_changes_nothing() -> None:
    stream = stream_of(2)
    with pytest.raises(InputError):
        stream.add([{"key": ""}], {"a": 1.0})
    assert stream.summary().seen == 0


def test_threads_lose_nothing() -> None:
    stream = stream_of(10_000)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: add(stream, "10-"), range(200)))
    summary = stream.summary()
    assert (summary.n, summary.seen, summary.unjudged) == (400, 600, 200)
    assert summary.means["ndcg@1"].mean == 0.5


def test_without_an_evaluator_the_usual_cuts() -> None:
    assert StreamingEvaluator().evaluator.k_values == (1, 3, 5, 10)
