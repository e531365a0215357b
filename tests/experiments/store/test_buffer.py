"""Answers wait for each other, but not for long, and none is left behind."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.experiments.store import Buffer, StoredQueryResult
from karat.model import Answer


@dataclass
class Remembering:
    """A recorder that remembers what came together; the first times it may fail."""

    failures: int = 0
    batches: list[list[StoredQueryResult]] = field(default_factory=list)

    def add_many(self, answers: Iterable[StoredQueryResult]) -> int:
        if self.failures:
            self.failures -= 1
            raise KeyboardInterrupt
        self.batches.append(list(answers))
        return len(self.batches[-1])


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def buffer(recorder: Remembering, clock: Callable[[], float]) -> Buffer:
    return Buffer(recorder, together_s=1.0, clock=clock)  # type: ignore[arg-type]


def test_what_comes_soon_is_kept_together(clock: Clock) -> None:
    recorder = Remembering()
    kept = buffer(recorder, clock)
    for query_id, now in (("q1", 0.0), ("q2", 0.9), ("q3", 1.0), ("q4", 1.5), ("q5", 3.0)):
        clock.now = now
        kept.add("run", Answer(query_id))
    assert [[one.answer.query_id for one in batch] for batch in recorder.batches] == [
        ["q1"],
        ["q2", "q3"],
        ["q4", "q5"],
    ]


def test_a_slow_search_waits_for_nobody(clock: Clock) -> None:
    recorder = Remembering()
    kept = buffer(recorder, clock)
    for query_id in ("q1", "q2"):
        clock.now += 1
        kept.add("run", Answer(query_id))
    assert [len(batch) for batch in recorder.batches] == [1, 1]


def test_an_error_elsewhere_loses_nothing(clock: Clock) -> None:
    recorder = Remembering()
    kept = buffer(recorder, clock)
    kept.add("run", Answer("q1"))
    kept.add("run", Answer("q2"))
    with pytest.raises(ZeroDivisionError), kept:
        raise ZeroDivisionError
    assert recorder.batches == [
        [StoredQueryResult("run", Answer("q1"))],
        [StoredQueryResult("run", Answer("q2"))],
    ]


def test_an_interrupted_transaction_is_done_again(clock: Clock) -> None:
    recorder = Remembering(failures=1)
    kept = buffer(recorder, clock)
    with pytest.raises(KeyboardInterrupt), kept:
        kept.add("run", Answer("q1"))
    assert recorder.batches == [[StoredQueryResult("run", Answer("q1"))]]


@given(st.lists(st.floats(0, 3)))
def test_every_answer_once_and_in_order(pauses: list[float]) -> None:
    clock, recorder = Clock(), Remembering()
    with buffer(recorder, clock) as kept:
        for number, pause in enumerate(pauses):
            clock.now += pause
            kept.add("run", Answer(str(number)))
    found = [one.answer.query_id for batch in recorder.batches for one in batch]
    assert found == [str(number) for number in range(len(pauses))]
