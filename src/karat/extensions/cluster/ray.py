"""The Ray executor: a slot is an actor with one CPU; a thread fetches the events of its unit.

Actors end with their driver, so that no heartbeat is needed. Each call for events is answered
within a second, even if there are none: an actor that does not answer for LEASE_S is lost, before
Ray itself declares its node dead. A generator of Ray would need no calls, but does not exist behind
a Ray client (``ray://``).
"""

import platform
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from karat.errors import InputError, MissingExtra, ProcessError
from karat.extensions.cluster import host
from karat.extensions.cluster.assets import AssetPart, add_part, has_asset
from karat.extensions.cluster.executor import SlotExecutor
from karat.extensions.cluster.fingerprint import Fingerprint, fingerprint
from karat.extensions.cluster.host import LEASE_S
from karat.extensions.cluster.pool import Slot
from karat.extensions.cluster.unit import LAST_EVENTS, SlotEvent, Unit, UnitLost

# Calls that an actor answers at once: for events, for a part of a file, to stop, and to close.
CALLS = 4
# An actor answers a call for events after this time, also without an event.
EVENTS_S = 1.0
# Looks for an answer within LEASE_S: a driver that slept has missed one of them, not all.
LOOKS = 10
START_S = 60.0
CLOSE_S = 5.0
DRIVER = "ray"
CLIENT_ATTEMPTS = 3
NO_CLIENT_SERVER = "Starting Ray client server failed"


@dataclass(frozen=True, slots=True)
class RayExecutor(SlotExecutor):
    """Runs engines on a Ray cluster at *address*: ``auto``, host:port, or ray://host:port."""

    address: str

    @property
    def warning(self) -> str:
        """Return that a Ray cluster must be reachable by trusted users only."""
        if self.address == "auto":
            return ""
        return (
            f"{self.address}: anyone who reaches a Ray cluster can run code on all its machines "
            "(see Security in the docs)"
        )

    @property
    def _client_hint(self) -> str:
        """Return what a cluster that is reached through a client needs besides."""
        if not self.address.startswith("ray://"):
            return ""
        return " --ray-client-server-port=10001; RAY_AUTH_MODE=token sends a token that it demands"

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
                self._join(ray)
            except (ConnectionError, RuntimeError, TimeoutError, ValueError) as error:
                raise ProcessError(
                    f"no Ray cluster answers at {self.address} ({error}); start one with: "
                    f"ray start --head{self._client_hint}"
                ) from error
        pool = RaySlots(ray, self.address)
        try:
            yield pool
        finally:
            pool.close()
            if begun:
                ray.shutdown()

    def _join(self, ray: Any) -> None:
        """Connect to the cluster; try again where it could not start a process for this client.

        A head that has just started sometimes fails once.
        """
        for attempt in range(1, CLIENT_ATTEMPTS + 1):
            try:
                ray.init(address=self.address, log_to_driver=False, logging_level="ERROR")
            except ConnectionError as error:
                if attempt == CLIENT_ATTEMPTS or NO_CLIENT_SERVER not in str(error):
                    raise
            else:
                return


class RaySlots:
    """An actor for each free CPU of a Ray cluster."""

    def __init__(self, ray: Any, address: str) -> None:
        self._ray = ray
        self._address = address
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
        try:
            while len(self._slots) + len(self._begun) < self._count:
                self._begin()
            if self._begun:
                self._look(0)
        except ConnectionError as error:
            raise ProcessError(
                f"the Ray cluster at {self._address} is lost; repeat the command to continue"
            ) from error
        return list(self._slots.values())

    def send(self, slot: str, unit: Unit) -> None:
        """Let the actor of *slot* run *unit*; a thread waits for its events."""
        thread = threading.Thread(
            target=self._follow, args=(slot, unit), name="karat-events", daemon=True
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
            problem, machine, fingerprint = "", "", None
            try:
                machine, values = self._ray.get(answer)
                fingerprint = Fingerprint(*values)
            except Exception as error:  # noqa: BLE001 - whatever kept the actor from starting
                problem = f"cannot run Karat there: {type(error).__name__}: {error}"
            self._actors[slot] = actor
            self._slots[slot] = Slot(slot, machine, fingerprint, problem)

    def _follow(self, slot: str, unit: Unit) -> None:
        """Queue the events of a unit, and its loss if the actor dies or sends no last event."""
        ended, reason = False, "the events of the unit ended early"
        try:
            actor = self._actors[slot]
            actor.run.remote(unit)
            while (batch := self._answer(actor.events.remote(unit.id))) is not None:
                for event in batch:
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
            self._events.put(UnitLost(unit.id, f"Ray: {reason}"))

    def _answer(self, call: Any) -> Sequence[SlotEvent] | None:
        """Return what an actor answers to a call for events."""
        for _ in range(LOOKS):
            with suppress(TimeoutError):
                events: Sequence[SlotEvent] | None = self._ray.get(call, timeout=LEASE_S / LOOKS)
                return events
        raise ProcessError(f"no answer from the machine for {LEASE_S:g} s")


class _Actor:
    """The worker side of a slot."""

    def probe(self) -> tuple[str, tuple[str, ...]]:
        return platform.node(), tuple(fingerprint())

    def __init__(self) -> None:
        self._batches: dict[str, SimpleQueue[Sequence[SlotEvent] | BaseException | None]] = {}

    def run(self, unit: Unit) -> None:
        """Start *unit* in a thread, and return at once."""
        batches = self._of(unit.id)

        def work() -> None:
            try:
                host.run_on_slot(DRIVER, "", unit, batches.put, lease_s=float("inf"))
            except BaseException as error:  # noqa: BLE001 - raised by the call for events
                batches.put(error)
            finally:
                batches.put(None)

        threading.Thread(target=work, name="karat-unit", daemon=True).start()

    def events(self, unit: str) -> Sequence[SlotEvent] | None:
        """Return the next events of *unit*, none if it takes long, None after the last one."""
        try:
            batch = self._of(unit).get(timeout=EVENTS_S)
        except Empty:
            return ()
        if isinstance(batch, BaseException):
            raise batch
        if batch is None:
            del self._batches[unit]
        return batch

    def _of(self, unit: str) -> SimpleQueue[Sequence[SlotEvent] | BaseException | None]:
        # The call for events may come before that of the unit: they run in threads.
        return self._batches.setdefault(unit, SimpleQueue())

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
            f"executor 'ray:{address}': expected ray:auto for the cluster of this machine, or "
            "ray://head:10001"
        )
    return RayExecutor("auto" if name == "auto" else f"ray://{name}")
