"""A service under load: who waits in line is counted from when he came."""

from random import Random

import pytest

from karat.errors import InputError
from karat.experiments.workers import Configuration, Source
from karat.extensions.load.measure import _point, _SentQuery, arrivals, measure_load
from karat.model.spec import Spec
from tests.experiments.workers.conftest import TEXTS, toy

SOURCE = Source.of_texts(TEXTS)


def test_arrivals_come_at_their_rate_and_by_their_seed() -> None:
    first, second, other = (list(arrivals(100, 50, Random(seed))) for seed in (1, 1, 2))
    assert first == second != other
    assert len(first) == pytest.approx(5000, rel=0.05)
    assert first == sorted(first)
    assert first[-1] < 50


def test_a_queue_that_grows_is_seen() -> None:
    # It serves a hundred a second. One client that waits for each answer would see 10 ms.
    slow, fast = measure_load(toy("Queue"), SOURCE, ["a"], rates=[10, 400], seconds=0.5)
    assert slow.p50_ms is not None
    assert fast.p50_ms is not None
    assert fast.p99_ms is not None
    assert slow.p50_ms >= 10
    assert fast.sent > 100
    # At least 100 more than it can serve have come by then, each of which waits 10 ms for another.
    assert fast.p99_ms > 500
    assert fast.p50_ms > 10 * slow.p50_ms
    assert fast.answered_per_s <= 101
    assert fast.answered == fast.sent


def test_what_is_left_unanswered_is_endless() -> None:
    [point] = measure_load(toy("Queue"), SOURCE, ["a"], rates=[400], seconds=0.3, drain_s=0.1)
    assert point.unanswered > 0
    assert point.answered + point.unanswered == point.sent
    assert point.p99_ms is None


def test_figures_by_hand() -> None:
    asked = [_SentQuery(due, due + 0.001, due + 0.1) for due in (0.0, 0.5, 1.0)]
    asked += [_SentQuery(1.5, 1.5, error=True), _SentQuery(1.75, 1.75, 1.75 + 0.3)]
    point = _point(2.0, 2.0, asked)
    assert (point.sent, point.answered, point.errors, point.unanswered) == (5, 4, 1, 0)
    assert point.p50_ms == pytest.approx(100)
    # Four of them are too few for more.
    assert (point.p90_ms, point.p99_ms) == (None, None)
    assert point.answered_per_s == pytest.approx(4 / 2.05)
    assert point.late_ms == pytest.approx(1)


def test_errors_are_counted() -> None:
    [point] = measure_load(toy("Queue"), SOURCE, ["a", "refused"], rates=[20], seconds=0.5)
    assert point.errors == point.sent // 2
    assert point.answered == point.sent - point.errors


@pytest.mark.together_with("models")
def test_embedding_reports_its_progress() -> None:
    seen: list[tuple[int, int]] = []
    dense = Configuration("dense", Spec("engine", "dense", {"model": "static"}))
    measure_load(
        dense, SOURCE, ["a"], rates=[5], seconds=0.2, progress=lambda *step: seen.append(step)
    )
    done, total = seen[-1]
    assert done == total >= len(TEXTS)


def test_an_engine_for_one_at_a_time_is_refused() -> None:
    with pytest.raises(InputError, match="one query at a time"):
        measure_load(toy("Remembering"), SOURCE, ["a"], rates=[1], seconds=1)


@pytest.mark.parametrize("wrong", [{"rates": []}, {"rates": [0]}, {"seconds": 0}])
def test_nothing_to_offer(wrong: dict[str, object]) -> None:
    asked: dict[str, object] = {"rates": [1], "seconds": 1, **wrong}
    with pytest.raises(InputError, match="load needs"):
        measure_load(toy("Queue"), SOURCE, ["a"], **asked)  # type: ignore[arg-type]
