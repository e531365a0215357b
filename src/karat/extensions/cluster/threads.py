"""Slots in threads of this process: a stand-in for a cluster, for tests and measurements."""

import platform
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue

from karat.extensions.cluster.assets import AssetPart
from karat.extensions.cluster.executor import SlotExecutor
from karat.extensions.cluster.pool import Slot
from karat.extensions.cluster.session import SlotHost
from karat.extensions.cluster.unit import SlotEvent, Unit

JOIN_S = 0.1


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
