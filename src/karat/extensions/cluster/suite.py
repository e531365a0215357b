"""The contract of executors with slots, as tests that any of them inherits, and a stand-in.

class TestMyExecutor(SlotExecutorSuite):
    @pytest.fixture
    def executor(self):
        return MyExecutor(...)
"""

# A suite of tests asserts outside of tests/, too.
# ruff: noqa: S101

import platform
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue

import pytest

from karat.errors import ProcessError
from karat.experiments.workers import Callbacks, RunSettings, all_queries_on
from karat.extensions.cluster.assets import AssetPart
from karat.extensions.cluster.executor import SlotExecutor
from karat.extensions.cluster.fingerprint import fingerprint
from karat.extensions.cluster.pool import Slot
from karat.extensions.cluster.session import SlotHost
from karat.extensions.cluster.unit import SlotEvent, Unit
from karat.testing.executor import QUERIES, ExecutorSuite, Recording

JOIN_S = 0.1


class SlotExecutorSuite(ExecutorSuite):
    """The contract of executors with slots; a subclass provides the fixture ``executor``."""

    def test_latency_is_measured_on_one_slot(self, executor: SlotExecutor) -> None:
        """The run says which machine that was; the hits are the same."""
        recording = Recording()
        with executor.connect() as pool:
            slot = pool.slots()[-1]
        found = executor.measure_latency(
            slot.id,
            self.configurations,
            QUERIES,
            all_queries_on(QUERIES, self.source, seed=0),
            settings=RunSettings(warm_up=1, repetitions=2),
            callbacks=Callbacks(listen=recording.listen, on_result=recording.on_result, wait=False),
        )
        self.check_hits(recording)
        assert recording.threads == {threading.get_ident()}
        for one in found:
            assert one.notes["status"] == "completed"
            assert one.notes["timed_on"] == slot.machine
            assert one.timings
            assert [len(sample.warm_ns) for sample in one.timings.samples] == [1] * len(QUERIES)
            assert one.timings.index_ns > 0
            assert one.timings.peak_bytes > 0

    def test_a_slot_with_another_version_is_rejected(
        self, executor: SlotExecutor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Unless it is in the installation of this process."""
        with executor.connect() as pool:
            remote = [slot.id for slot in pool.slots() if slot.fingerprint]
        here = fingerprint()._replace(karat="0.0.1 (of the test)")
        monkeypatch.setattr("karat.extensions.cluster.driver.fingerprint", lambda: here)
        recording = Recording()
        if not remote:
            self.measure(executor, recording)
            self.check_all(recording)
            return
        with pytest.raises(ProcessError, match=r"expected 0\.0\.1 .of the test.") as raised:
            self.measure(executor, recording)
        assert all(slot in str(raised.value) for slot in remote)
        assert not recording.answers


class ThreadExecutor(SlotExecutor):
    """Stands in for a cluster: its slots are threads of this process, as many as *workers*.

    *slots* describes them otherwise.
    """

    def __init__(self, workers: int = 1, slots: Sequence[Slot] = ()) -> None:
        """Start no thread yet."""
        self.travels = bool(slots)
        self._slots = slots or [
            Slot(f"{number}", platform.node()) for number in range(1, workers + 1)
        ]

    @contextmanager
    def connect(self) -> Iterator["ThreadSlots"]:
        """Return the slots; a thread starts with its first unit."""
        pool = ThreadSlots(self._slots)
        try:
            yield pool
        finally:
            pool.close()


class ThreadSlots:
    """Slots of this process; events of all of them are in one queue."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        """Start no thread yet."""
        self._slots = slots
        self._events: SimpleQueue[SlotEvent | BaseException] = SimpleQueue()
        self._threads: dict[str, _SlotThread] = {}

    def slots(self) -> Sequence[Slot]:
        """Return all slots."""
        return self._slots

    def send(self, slot: str, unit: Unit) -> None:
        """Let the thread of *slot* run *unit*."""
        if slot not in self._threads:
            self._threads[slot] = _SlotThread(self._events)
            self._threads[slot].start()
        self._threads[slot].units.put(unit)

    def receive(self, timeout_s: float) -> SlotEvent | None:
        """Return the next event; an error in a thread is raised here."""
        try:
            event = self._events.get(timeout=timeout_s) if timeout_s else self._events.get_nowait()
        except Empty:
            return None
        if isinstance(event, BaseException):
            raise event
        return event

    def provide(self, slot: str, asset: str, parts: Iterable[AssetPart]) -> None:
        """Do nothing: a slot of this machine reads the original."""

    def stop(self) -> None:
        """Start no further query."""
        for thread in self._threads.values():
            thread.host.stop()

    def close(self) -> None:
        """End all threads; those with a running query are interrupted."""
        for thread in self._threads.values():
            thread.units.put(None)
        while alive := [one for one in self._threads.values() if one.is_alive()]:
            # One whose unit has just ended closes its engines in order.
            alive[0].join(JOIN_S)
            for thread in alive:
                if thread.busy:
                    thread.host.interrupt()


class _SlotThread(threading.Thread):
    """Runs the units of one slot."""

    def __init__(self, events: "SimpleQueue[SlotEvent | BaseException]") -> None:
        super().__init__(name="karat-slot", daemon=True)
        self.host = SlotHost()
        self.units: SimpleQueue[Unit | None] = SimpleQueue()
        self.busy = False
        self._events = events

    def run(self) -> None:
        """Run units until None comes."""
        try:
            while (unit := self.units.get()) is not None:
                self.busy = True
                self.host.run(unit, self._events.put)
                self.busy = False
        except BaseException as error:  # noqa: BLE001 - raised again by the caller's thread
            self._events.put(error)
        finally:
            self.host.close()
