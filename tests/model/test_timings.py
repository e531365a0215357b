"""Times of queries: which repetition counts."""

import pytest

from karat.model import Run
from karat.model.timings import LatencySample, RunResult, Timings, latency_ms


@pytest.mark.parametrize(
    ("cold", "warm", "expected"),
    [(5_000_000, (), 5.0), (5_000_000, (1_000_000,), 1.0), (9, (3_000_000, 1_000_000, 2), 1.0)],
)
def test_a_latency_is_the_median_of_the_warm_repetitions(
    cold: int, warm: tuple[int, ...], expected: float
) -> None:
    assert latency_ms(LatencySample("q1", cold, warm)) == expected


def test_cold_and_warm_are_told_apart() -> None:
    samples = (LatencySample("a", 4_000_000, (1_000_000,)), LatencySample("b", 6_000_000))
    timings = Timings(samples, 0, 0, 0, warm_up=1, repetitions=2, alone=True)
    assert timings.cold_ms() == (4.0, 6.0)
    assert timings.latencies_ms() == (1.0, 6.0)


def test_what_was_not_measured_has_no_timings() -> None:
    measured = RunResult(Run.of([]), None, "0" * 64, "bm25")
    assert measured.timings is None
    assert dict(measured.notes) == {}
