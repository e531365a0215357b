"""The Ray executor: a slot is an actor with one CPU, events are the items of its generator.

Actors end with their driver, so that no heartbeat is needed. An actor that dies fails the generator
of its unit.
"""

import platform
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from karat.errors import InputError, MissingExtra, ProcessError
from karat.experiments.executors import host
from karat.experiments.executors.base import Fingerprint, Slot, fingerprint
from karat.experiments.workers.sources import AssetPart, add_part, has_asset
from karat.experiments.workers.unit import LAST_EVENTS, SlotEvent, Unit, UnitLost

__all__ = ["RayExecutor", "ray_executor"]

# Actors have a thread for the unit and one for calls beside it.
CALLS = 3
START_S = 60.0
CLOSE_S = 5.0
DRIVER = "ray"


@dataclass(frozen=True, slots=True)
class RayExecutor:
    """Runs engines on a Ray cluster at *address*: ``auto``, host:port, or ray://host:port."""

    address: str

    @property
    def travels(self) -> bool:
        """Return that actors may be on other machines."""
        return True

    @property
    def warning(self) -> str:
        """Return that a Ray cluster must be reachable by trusted users only."""
        if self.address == "auto":
            return ""
        return (
            f"{self.address}: anyone who reaches a Ray cluster can run code on all its machines "
            "(docs/security.md)"
        )

    @contextmanager
    def connect(self) -> Iterator["RaySlots"]:
        """Return a slot for each CPU of the cluster."""
        try:
            import ray
        except ImportError as error:
            raise MissingExtra("ray", extra="ray", purpose="the executor ray") from error
        begun = not ray.is_initialized()
        if begun:
            try:
                ray.init(address=self.address, log_to_driver=False, logging_level="ERROR")
            except (ConnectionError, RuntimeError, TimeoutError, ValueError) as error:
                raise ProcessError(
                    f"no Ray cluster answers at {self.address} ({error}); start one with: "
                    "ray start --head"
                ) from error
        pool = RaySlots(ray)
        try:
            yield pool
        finally:
            pool.close()
            if begun:
                ray.shutdown()


class RaySlots:
    """An actor for each free CPU of a Ray cluster."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._events: SimpleQueue[SlotEvent] = SimpleQueue()
        self._actors: dict[str, Any] = {}
        self._slots: dict[str, Slot] = {}
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._actor_class = ray.remote(num_cpus=1, max_restarts=0, max_concurrency=CALLS)(_Actor)
        # Actors that have not answered yet, with their slots.
        self._begun: dict[Any, tuple[str, Any]] = {}
        self._number = 0
        self._count = int(ray.cluster_resources().get("CPU", 0))
        for _ in range(self._count):
            self._begin()
        if self._begun:
            self._look(START_S)

    def slots(self) -> Sequence[Slot]:
        """Return the slots whose actor is alive; dead ones are replaced."""
        while len(self._slots) + len(self._begun) < self._count:
            self._begin()
        if self._begun:
            self._look(0)
        return list(self._slots.values())

    def send(self, slot: str, unit: Unit) -> None:
        """Let the actor of *slot* run *unit*; a thread waits for its events."""
        generator = self._actors[slot].run.options(num_returns="streaming").remote(unit)
        thread = threading.Thread(
            target=self._follow, args=(slot, unit.id, generator), name="karat-events", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def receive(self, timeout_s: float) -> SlotEvent | None:
        """Return the next event."""
        try:
            return self._events.get(timeout=timeout_s) if timeout_s else self._events.get_nowait()
        except Empty:
            return None

    def provide(self, slot: str, asset: str, parts: Iterable[AssetPart]) -> None:
        """Send *parts* to the actor of *slot*."""
        actor = self._actors[slot]
        if not self._ray.get(actor.has_asset.remote(asset)):
            for part in parts:
                self._ray.get(actor.add_part.remote(part))

    def stop(self) -> None:
        """Set the flag of all sessions."""
        for actor in self._actors.values():
            actor.stop.remote()

    def close(self) -> None:
        """End all sessions and their actors."""
        if self._closed:
            return
        self._closed = True
        with suppress(Exception):
            self._ray.get(
                [actor.close.remote() for actor in self._actors.values()], timeout=CLOSE_S
            )
        for actor in (*self._actors.values(), *(actor for _, actor in self._begun.values())):
            self._ray.kill(actor)
        for thread in self._threads:
            thread.join(CLOSE_S)

    def _begin(self) -> None:
        """Start one more actor; its slot is there when it has answered."""
        self._number += 1
        actor = self._actor_class.remote()
        self._begun[actor.probe.remote()] = (f"{self._number}", actor)

    def _look(self, timeout_s: float) -> None:
        """Add the slots of actors that have answered."""
        answers = list(self._begun)
        ready, _ = self._ray.wait(answers, num_returns=len(answers), timeout=timeout_s)
        for answer in ready:
            slot, actor = self._begun.pop(answer)
            problem, machine, found = "", "", None
            try:
                machine, values = self._ray.get(answer)
                found = Fingerprint(*values)
            except Exception as error:  # noqa: BLE001 - whatever kept the actor from starting
                problem = f"cannot run Karat there: {type(error).__name__}: {error}"
            self._actors[slot] = actor
            self._slots[slot] = Slot(slot, machine, found, problem)

    def _follow(self, slot: str, unit: str, generator: Any) -> None:
        """Queue the events of a unit, and its loss if the actor dies or sends no last event."""
        ended, reason = False, "the event stream of the unit ended early"
        try:
            for batch in generator:
                for event in self._ray.get(batch):
                    self._events.put(event)
                    ended = ended or isinstance(event, LAST_EVENTS)
        except Exception as error:  # noqa: BLE001 - of Ray, of the unit, or of a lost object
            cause = getattr(error, "cause", None) or error
            reason = f"{type(cause).__name__}: {cause}".partition("\n")[0]
            if not self._closed:
                self._slots.pop(slot, None)
                # An actor that is alive would keep the CPU that its replacement needs.
                with suppress(Exception):
                    self._ray.kill(self._actors[slot])
        if not ended and not self._closed:
            self._events.put(UnitLost(unit, f"Ray: {reason}"))


class _Actor:
    """The worker side of a slot."""

    def probe(self) -> tuple[str, tuple[str, ...]]:
        return platform.node(), tuple(fingerprint())

    def run(self, unit: Unit) -> Iterator[Sequence[SlotEvent]]:
        """Yield the events of *unit* in batches."""
        batches: SimpleQueue[Sequence[SlotEvent] | None] = SimpleQueue()

        errors: list[BaseException] = []

        def work() -> None:
            try:
                host.run_on_slot(DRIVER, "", unit, batches.put, lease_s=float("inf"))
            except BaseException as error:  # noqa: BLE001 - raised again below
                errors.append(error)
            finally:
                batches.put(None)

        threading.Thread(target=work, name="karat-unit", daemon=True).start()
        while (batch := batches.get()) is not None:
            yield batch
        for error in errors:
            raise error

    def has_asset(self, asset: str) -> bool:
        return has_asset(asset)

    def add_part(self, part: AssetPart) -> None:
        add_part(part)

    def stop(self) -> None:
        host.stop_driver(DRIVER)

    def close(self) -> None:
        host.close_driver(DRIVER)


def ray_executor(address: str, workers: int) -> RayExecutor:  # noqa: ARG001 - a cluster has its own
    """Return the executor of ``ray:auto``, ``ray://auto`` or ``ray://host:port``."""
    name = address.removeprefix("//").strip("/")
    if not name:
        raise InputError(
            f"executor ray:{address}: expected ray:auto for the cluster of this machine, or "
            "ray://head:10001"
        )
    return RayExecutor("auto" if name == "auto" else f"ray://{name}")
