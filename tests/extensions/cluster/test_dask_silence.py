"""Workers and schedulers that do not answer, seen by the pool of the Dask executor."""

import asyncio
import logging
import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest

from karat.errors import ProcessError
from karat.extensions.cluster import dask, host
from karat.extensions.cluster.dask import DaskSlots
from karat.extensions.cluster.fingerprint import fingerprint
from karat.extensions.cluster.unit import AssetNeeded, SlotEvent, SlotRejected, UnitLost
from tests.extensions.cluster.test_schedule import schedule, work

pytest.importorskip("distributed")
LONG_S = 60.0


class FakeClient:
    """A client whose calls to the workers in *frozen* are never answered."""

    id = "client"

    def __init__(self, loop: asyncio.AbstractEventLoop, *workers: str) -> None:
        self.loop = SimpleNamespace(asyncio_loop=loop)
        self.scheduler = self
        self.status = "running"
        self.workers = dict.fromkeys(workers, "folder")
        self.frozen: set[str] = set()
        self.failing: set[str] = set()
        self.called: list[tuple[str, Any]] = []

    async def identity(self, n_workers: int) -> dict[str, Any]:
        assert n_workers == -1
        described = {
            name: {"host": "machine", "nthreads": 1, "local_directory": folder}
            for name, folder in self.workers.items()
        }
        return {"workers": described}

    async def run(
        self, function: Any, *args: object, workers: Sequence[str], **options: object
    ) -> dict[str, object]:
        assert options == {"on_error": "return", "asynchronous": True}
        [worker] = workers
        self.called.append((worker, function))
        if worker in self.frozen:
            await asyncio.Event().wait()
        if worker in self.failing:
            return {worker: ModuleNotFoundError("karat")}
        return {worker: ("machine", tuple(fingerprint())) if function is dask._probe else None}

    def submit(self, *args: object, **options: object) -> None:
        raise RuntimeError(f"Client is {self.status}")

    def subscribe_topic(self, topic: str, handler: object) -> None:
        pass

    def unsubscribe_topic(self, topic: str) -> None:
        pass

    def close(self, timeout: float) -> None:
        assert timeout <= dask.CLOSE_S


@pytest.fixture
def client() -> Iterator[FakeClient]:
    """Return a client with two workers; its loop runs in a thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield FakeClient(loop, "a", "b")
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    # Tasks that were cancelled have to end.
    for task in asyncio.all_tasks(loop):
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
    loop.close()


@pytest.fixture
def connect(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., DaskSlots]]:
    """Return a function that connects; the test itself looks and sends heartbeats."""
    made: list[DaskSlots] = []
    monkeypatch.setattr(dask, "LOOK_S", LONG_S)
    monkeypatch.setattr(dask, "CLOSE_S", 0.05)
    monkeypatch.setattr(dask, "CONNECT_S", LONG_S)

    def connected(lease_s: float = LONG_S) -> DaskSlots:
        known: Any = client
        made.append(DaskSlots(known, "tcp://head:1", lease_s))
        return made[-1]

    yield connected
    for one in made:
        one.close()


def ids(pool: DaskSlots) -> list[str]:
    return [slot.id for slot in pool.slots()]


def test_dask_prints_no_traceback_of_its_own(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = logging.getLogger("distributed.client")
    before = log.level

    class Slots:
        def __init__(self, *_: object) -> None:
            pass

        def close(self) -> None:
            log.critical("Traceback of a scheduler that is given up")

    monkeypatch.setattr("distributed.Client", lambda *_, **__: None)
    monkeypatch.setattr(dask, "DaskSlots", Slots)
    with dask.DaskExecutor("tcp://head:1").connect():
        log.critical("Traceback of a lost scheduler")
    assert not caplog.records
    assert log.level == before


def test_a_frozen_worker_keeps_no_heartbeat_from_the_others(
    client: FakeClient, connect: Callable[..., DaskSlots]
) -> None:
    pool = connect()
    client.frozen.add("a")
    for _ in range(3):
        pool._send_heartbeats()
        pool._heartbeats["b"].result(LONG_S)
    beats = [worker for worker, function in client.called if function is host.heartbeat]
    assert (beats.count("a"), beats.count("b")) == (1, 3)


def test_a_worker_without_an_answer_for_the_time_of_a_lease_is_gone(
    client: FakeClient, connect: Callable[..., DaskSlots], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = connect()
    client.frozen.add("a")
    later = monotonic() + LONG_S + 1
    monkeypatch.setattr(dask, "monotonic", lambda: later)
    assert ids(pool) == []
    pool._send_heartbeats()
    pool._heartbeats["b"].result(LONG_S)
    pool._look()
    assert ids(pool) == ["b/1"]


def test_a_frozen_worker_delays_neither_connect_nor_stop_nor_close(
    client: FakeClient, connect: Callable[..., DaskSlots], monkeypatch: pytest.MonkeyPatch
) -> None:
    client.frozen.add("a")
    monkeypatch.setattr(dask, "CONNECT_S", 0.0)
    pool = connect()
    pool._look()
    assert ids(pool) == ["b/1"]
    pool.stop()
    pool.close()
    called = [one for one in client.called if one[1] in (host.stop_driver, dask._close_sessions)]
    assert sorted(worker for worker, _ in called) == ["a", "a", "b", "b"]


def test_a_probe_is_repeated_after_an_error_and_after_a_restart(
    client: FakeClient, connect: Callable[..., DaskSlots], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "PROBE_AGAIN_S", 0.0)
    client.failing.add("a")
    pool = connect()
    problems = {slot.id: slot.problem for slot in pool.slots()}
    assert problems == {"a/1": "cannot run Karat there: ModuleNotFoundError: karat", "b/1": ""}
    client.failing = {"b"}
    pool._look(LONG_S)
    assert [slot.problem for slot in pool.slots()] == ["", ""]
    client.workers["b"] = "another folder"
    del client.workers["a"]
    pool._look(LONG_S)
    [slot] = pool.slots()
    assert (slot.id, bool(slot.problem)) == ("b/1", True)


def test_a_scheduler_that_is_gone_is_named(
    client: FakeClient, connect: Callable[..., DaskSlots]
) -> None:
    pool = connect()
    [(_, unit)] = schedule(work(1)).assign(0.0)
    with pytest.raises(RuntimeError, match="Client is running"):
        pool.send("a/1", unit)
    client.status = "connecting"
    pool.send("a/1", unit)
    sentence = "the Dask scheduler at tcp://head:1 is lost; repeat the command to continue"
    assert pool.receive(0) == UnitLost(unit.id, sentence, counted=False)
    with pytest.raises(ProcessError) as raised:
        pool.slots()
    assert str(raised.value) == sentence


@pytest.mark.parametrize("last", [None, SlotRejected("1", "no folder")])
def test_a_task_without_a_last_event_fails(
    last: SlotEvent | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[SlotEvent] = []

    def log_event(topic: str, data: bytes) -> None:
        assert topic == "driver"
        logged.extend(pickle.loads(data))  # noqa: S301 - made by this test

    worker = SimpleNamespace(log_event=log_event)
    monkeypatch.setattr("distributed.get_worker", lambda: worker)
    sent: list[SlotEvent] = [AssetNeeded("1", "a1"), *([last] if last else [])]
    monkeypatch.setattr(host, "run_on_slot", lambda *args, **_: args[3](sent))
    with nullcontext() if last else pytest.raises(ProcessError, match="ended early"):
        dask._run_task("driver", "slot", pickle.dumps(None), 1.0)
    assert logged == sent
