"""A session serves several units, is replaced by another group, and ends when it is idle."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from karat.experiments.workers import QUALITY, SnapshotQueries, Source
from karat.extensions.cluster.session import IDLE_S, SlotHost
from karat.extensions.cluster.unit import QueryEnded, SlotEvent, Unit, UnitEnded, UnitLost
from tests.experiments.workers.conftest import TEXTS, children, toy


class Clock:
    """A clock that only the test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def host(clock: Clock) -> Iterator[SlotHost]:
    host = SlotHost(clock=clock)
    yield host
    host.close()


@pytest.fixture
def processes() -> Callable[[], list[int]]:
    """Return the processes that were started since the test began."""
    before = children()
    return lambda: [process for process in children() if process not in before]


def unit(number: int, note: Path, group: str = "0") -> Unit:
    """Return a unit of one query, on a source that is equal to the others but another object."""
    snapshot = SnapshotQueries(Source.of_texts(dict(TEXTS)), (number,))
    queries = {number: (f"q{number}", f"text {number}")}
    configurations = (toy("Good", note=str(note)),)
    return Unit(str(number), group, configurations, QUALITY, (snapshot,), queries, (frozenset(),))


def test_units_share_a_process_and_an_index(host: SlotHost, tmp_path: Path) -> None:
    events: list[SlotEvent] = []
    note = tmp_path / "note"
    for number in range(3):
        host.run(unit(number, note), events.append)
    ids = [one.result.answer.query_id for one in events if isinstance(one, QueryEnded)]
    assert ids == ["q0", "q1", "q2"]
    ended = [one for one in events if isinstance(one, UnitEnded)]
    assert len({one.session for one in ended}) == 1
    assert [len(one.usage[0].corpora) for one in ended] == [1, 1, 1]
    lines = [line.split() for line in note.read_text().splitlines()]
    assert len({line[0] for line in lines}) == 1
    assert [line[1] for line in lines].count("index") == 1


def test_another_group_replaces_the_session(
    host: SlotHost, tmp_path: Path, processes: Callable[[], list[int]]
) -> None:
    events: list[SlotEvent] = []
    host.run(unit(0, tmp_path / "note"), events.append)
    host.run(unit(1, tmp_path / "note", group="1"), events.append)
    assert len({one.session for one in events if isinstance(one, UnitEnded)}) == 2
    assert len(processes()) == 1


def test_an_idle_session_ends(
    host: SlotHost, clock: Clock, tmp_path: Path, processes: Callable[[], list[int]]
) -> None:
    host.run(unit(0, tmp_path / "note"), lambda _: None)
    clock.now = IDLE_S - 1
    assert not host.expire()
    clock.now = IDLE_S
    assert host.expire()
    assert processes() == []


def test_what_is_stopped_runs_no_query(host: SlotHost, tmp_path: Path) -> None:
    events: list[SlotEvent] = []
    host.stop()
    wanted = replace(unit(0, tmp_path / "note"), id="stopped")
    host.run(wanted, events.append)
    assert [type(one) for one in events] == [UnitEnded]


def test_an_interrupted_unit_is_neither_an_error_nor_a_counted_loss(
    host: SlotHost, tmp_path: Path
) -> None:
    events: list[SlotEvent] = []
    host.interrupt()
    host.run(unit(0, tmp_path / "note"), events.append)
    assert events == [UnitLost("0", "the session was interrupted", counted=False)]
