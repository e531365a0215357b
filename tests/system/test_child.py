"""A child process that answers messages; waiting for it can be interrupted at any time."""

import os
import select
import sys
from collections.abc import Iterator
from time import monotonic
from typing import ClassVar

import pytest

from karat.errors import ProcessError
from karat.system.processes import ChildProcess

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
def child(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChildProcess]:
    """Return a process that says what it is told."""
    monkeypatch.setattr(select, "poll", Watched)
    monkeypatch.setattr(Watched, "asked", [])
    process = ChildProcess([sys.executable, "-c", ECHO], root="", environment={}, max_bytes=100)
    yield process
    process.kill()


def test_a_long_wait_is_one_of_many_short_ones(child: ChildProcess) -> None:
    deadline = monotonic() + 600
    child.send(b"hello", deadline)
    assert child.receive(deadline) == b"hello"
    assert len(Watched.asked) >= 2
    assert max(Watched.asked) <= MOST_MS


def test_the_deadline_ends_it(child: ChildProcess) -> None:
    with pytest.raises(TimeoutError):
        child.receive(monotonic() + 0.01)
    with pytest.raises(TimeoutError):
        child.receive(monotonic())


SERVER = """
import sys
from karat.system.processes import ParentLink
link = ParentLink()
print("printed by other code")
for request in link.requests():
    if request["op"] == "die":
        sys.exit("no room left")
    for done in range(request.get("steps", 0)):
        link.send({"progress": done})
    link.send({"echo": request["op"], "body": b"\\x00raw\\n"})
"""


@pytest.fixture
def server() -> Iterator[ChildProcess]:
    """Return a child that answers by the protocol."""
    started = ChildProcess([sys.executable, "-c", SERVER], environment=os.environ)
    yield started
    started.kill()


def test_a_request_has_an_answer_with_raw_bytes(server: ChildProcess) -> None:
    answer = server.request({"op": "hello"}, 60)
    assert answer == {"echo": "hello", "body": 5}
    assert server.receive_bytes(5, monotonic() + 60) == b"\0raw\n"
    assert server.request({"op": "again"}, 60)["echo"] == "again"


def test_progress_precedes_the_answer(server: ChildProcess) -> None:
    ticks: list[int | None] = []
    answer = server.request({"op": "work", "steps": 3}, 60, on_tick=ticks.append)
    assert answer["echo"] == "work"
    assert [tick for tick in ticks if tick is not None] == [0, 1, 2]


def test_a_callback_ends_the_wait(server: ChildProcess) -> None:
    def cancel(_: object) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        server.request({"op": "work", "steps": 1}, 60, on_tick=cancel)


def test_a_dead_child_leaves_its_last_words(server: ChildProcess) -> None:
    with pytest.raises(EOFError):
        server.request({"op": "die"}, 60)
    reason = server.exit_reason()
    assert reason.startswith("its process ended with exit code 1; its error output: ")
    assert "no room left" in reason


def test_a_closed_pipe_ends_the_child(server: ChildProcess) -> None:
    server.request({"op": "hello"}, 60)
    server.close_input()
    assert server.exit_code(wait_s=60) == 0


def test_a_program_that_does_not_exist_is_named() -> None:
    with pytest.raises(ProcessError, match="no such program: 'no-such-program'"):
        ChildProcess(["no-such-program"], environment={})
