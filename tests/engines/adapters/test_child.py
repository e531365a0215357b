"""A process that is asked by lines, and whoever waits for it can be interrupted at any time."""

import select
import sys
from collections.abc import Iterator
from time import monotonic
from typing import ClassVar

import pytest

from karat.engines.adapters.child import Child

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
# A signal that comes just before somebody falls asleep is heard when they wake, so much later.
MOST_MS = 1_000


class Watched:
    """A poll that notes how long it may take, and first of all wakes up for nothing."""

    asked: ClassVar[list[float]] = []

    def __init__(self) -> None:
        self._poll = POLL()
        self._slept = False

    def register(self, descriptor: int, events: int) -> None:
        self._poll.register(descriptor, events)

    def poll(self, timeout_ms: float) -> list[tuple[int, int]]:
        self.asked.append(timeout_ms)
        self._slept, slept = True, self._slept
        return self._poll.poll(timeout_ms) if slept else []


POLL = select.poll


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    """Return a process that says what it is told."""
    monkeypatch.setattr(select, "poll", Watched)
    monkeypatch.setattr(Watched, "asked", [])
    found = Child([sys.executable, "-c", ECHO], root="", environment={}, max_bytes=100)
    yield found
    found.kill()


def test_a_long_wait_is_one_of_many_short_ones(child: Child) -> None:
    deadline = monotonic() + 600
    child.send(b"hello", deadline)
    assert child.receive(deadline) == b"hello"
    assert len(Watched.asked) >= 2
    assert max(Watched.asked) <= MOST_MS


def test_the_deadline_ends_it(child: Child) -> None:
    with pytest.raises(TimeoutError):
        child.receive(monotonic() + 0.01)
    with pytest.raises(TimeoutError):
        child.receive(monotonic())
