"""The Dask executor: a slot is a thread of a Dask worker, a unit is a task.

Events return through the scheduler, in the log of the driver's client, which the scheduler clears
when the client is gone. Heartbeats and the flag to stop are plain calls on the workers: a running
task of Dask cannot be cancelled. Each worker gets separate calls, so that one that does not answer
delays no other. Losses are counted by Karat, because Dask's own count includes tasks that merely
ran beside the cause.
"""

import asyncio
import logging
import pickle
import platform
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, wait
from concurrent.futures import Future as Call
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from karat.errors import InputError, MissingExtra, ProcessError
from karat.extensions.cluster import host
from karat.extensions.cluster.assets import AssetPart, add_part, has_asset
from karat.extensions.cluster.executor import SlotExecutor
from karat.extensions.cluster.fingerprint import Fingerprint, fingerprint
from karat.extensions.cluster.pool import Slot
from karat.extensions.cluster.unit import LAST_EVENTS, SlotEvent, Unit, UnitLost

if TYPE_CHECKING:
    from distributed import Client, Future


CONNECT_S = 10.0
LOOK_S = 1.0
# Seconds that the scheduler, a worker that closes its sessions, and one that receives a part of a
# file may take.
SCHEDULER_S, CLOSE_S, PART_S = 3.0, 3.0, 60.0
# Seconds after which a worker that cannot run Karat is probed again.
PROBE_AGAIN_S = 10.0
PORT = 8786
CERTIFICATES = ", ".join(
    f"DASK_DISTRIBUTED__COMM__TLS__{name}" for name in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY")
)


@dataclass(frozen=True, slots=True)
class DaskExecutor(SlotExecutor):
    """Runs engines on the workers of the Dask scheduler at *address*, such as tcp://host:8786."""

    address: str
    lease_s: float = host.LEASE_S

    @property
    def warning(self) -> str:
        """Return that others could run code on the workers, unless TLS or loopback is used."""
        if self.address.startswith("tls://") or is_loopback(urlsplit(self.address).hostname or ""):
            return ""
        return (
            f"{self.address} is neither encrypted nor authenticated: anyone who reaches it can run "
            "code on all workers; use dask+tls:// (see Security in the docs)"
        )

    @contextmanager
    def connect(self) -> Iterator["DaskSlots"]:
        """Return the slots of all workers."""
        try:
            from distributed import Client
        except ImportError as error:
            raise MissingExtra("distributed", extra="dask", purpose="the executor dask") from error
        if self.address.startswith("tls://"):
            _check_certificates()
        try:
            client = Client(self.address, timeout=CONNECT_S, set_as_default=False, name="karat")
            pool = DaskSlots(client, self.address, self.lease_s)
        except (OSError, TimeoutError, ValueError) as error:
            raise ProcessError(
                f"no Dask scheduler answers at {self.address} ({error}); start one with: "
                "dask scheduler"
            ) from error
        # Quiet until it is closed: only then Dask gives up a scheduler that is lost.
        with _quiet():
            try:
                yield pool
            finally:
                pool.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Leave it to Karat to say that the scheduler is lost; Dask prints a traceback."""
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)


def _check_certificates() -> None:
    """Raise InputError if Dask's settings name no certificates, or files that cannot be read."""
    from distributed import Security

    problem = "Dask's settings name none"
    try:
        if Security().get_connection_args("client")["ssl_context"]:
            return
    except OSError as error:
        problem = str(error)
    raise InputError(
        f"executor dask+tls: no certificates ({problem}); expected {CERTIFICATES} in the "
        "environment (see Security in the docs)"
    )


class _Worker(NamedTuple):
    """A worker as the scheduler lists it; after a restart its *folder* is another one."""

    host: str
    threads: int
    gpus: int
    folder: str


@dataclass(slots=True)
class _Probe:
    """The fingerprint of *worker*: None until it has answered, a text if Karat cannot run there."""

    worker: _Worker
    call: "Call[Any]"
    since: float
    outcome: Fingerprint | str | None = None
    machine: str = ""


class DaskSlots:
    """The slots of all workers of the scheduler at *address*."""

    def __init__(self, client: "Client", address: str, lease_s: float) -> None:
        self._client = client
        self._address = address
        self._lease_s = lease_s
        self._events: SimpleQueue[SlotEvent] = SimpleQueue()
        self._tasks: dict[str, Future] = {}
        self._probes: dict[str, _Probe] = {}
        self._slots: list[Slot] = []
        # When the scheduler listed its workers, and when each of them answered a heartbeat.
        self._looked = monotonic()
        self._heard: dict[str, float] = {}
        self._heartbeats: dict[str, Call[Any]] = {}
        self._calls: set[Call[Any]] = set()
        self._part: Call[Any] | None = None
        self._stopped, self._closed = threading.Event(), threading.Event()
        client.subscribe_topic(client.id, self._on_events)
        self._look(CONNECT_S)
        self._thread = threading.Thread(target=self._beat, name="karat-heartbeat", daemon=True)
        self._thread.start()

    def slots(self) -> Sequence[Slot]:
        """Return a slot for each thread of each worker; ProcessError without a scheduler."""
        if self._client.status != "running" and not self._closed.is_set():
            raise ProcessError(self._gone)
        # Sessions have ended where no heartbeat arrived for so long.
        return self._slots if monotonic() - self._looked <= self._lease_s else []

    def send(self, slot: str, unit: Unit) -> None:
        """Submit *unit* as a task that only the worker of *slot* may run."""
        # As bytes: Dask looks for futures in everything else.
        data = pickle.dumps(unit)
        try:
            task = self._client.submit(
                _run_task,
                self._client.id,
                slot,
                data,
                self._lease_s,
                key=f"karat-unit-{self._client.id}-{unit.id}",
                workers=[slot.rpartition("/")[0]],
                allow_other_workers=False,
                pure=False,
                retries=0,
            )
        except Exception:
            if self._client.status == "running":
                raise
            self._events.put(UnitLost(unit.id, self._gone, counted=False))
            return
        self._tasks[unit.id] = task
        task.add_done_callback(lambda done: self._on_done(unit.id, done))

    def receive(self, timeout_s: float) -> SlotEvent | None:
        """Return the next event."""
        try:
            return self._events.get(timeout=timeout_s) if timeout_s else self._events.get_nowait()
        except Empty:
            return None

    def provide(self, slot: str, asset: str, parts: Iterable[AssetPart]) -> None:
        """Send *parts* to the worker of *slot*; stop early after :meth:`stop`."""
        worker = slot.rpartition("/")[0]
        with suppress(CancelledError):
            if not self._answer(worker, has_asset, asset):
                for part in parts:
                    # A call and not a task: the unit that waits for it may have the only thread.
                    self._answer(worker, _add_part, part)

    def stop(self) -> None:
        """Set the flag of all sessions, without waiting for answers."""
        self._stopped.set()
        if self._part:
            self._part.cancel()
        for worker in list(self._probes):
            self._call(worker, host.stop_driver, self._client.id)

    def close(self) -> None:
        """End all sessions and disconnect."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._thread.join(CLOSE_S)
        # Before the tasks are released: Dask would run those again that had not started.
        closing = [
            self._call(worker, _close_sessions, self._client.id) for worker in list(self._probes)
        ]
        wait(closing, CLOSE_S)
        for call in list(self._calls):
            call.cancel()
        with suppress(Exception):
            self._client.unsubscribe_topic(self._client.id)
        with suppress(Exception):
            self._client.close(timeout=CLOSE_S)

    @property
    def _gone(self) -> str:
        return f"the Dask scheduler at {self._address} is lost; repeat the command to continue"

    def _call(self, worker: str, function: Callable[..., object], *args: object) -> "Call[Any]":
        """Call *function* on *worker*; the answer is a mapping from its address."""
        return self._begin(
            lambda: self._client.run(
                function, *args, workers=[worker], on_error="return", asynchronous=True
            )
        )

    def _begin(self, ask: Callable[[], Coroutine[Any, Any, Any]]) -> "Call[Any]":
        """Start a request in the thread of the client."""

        async def asked() -> Any:
            return await ask()

        call = asyncio.run_coroutine_threadsafe(asked(), self._client.loop.asyncio_loop)
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        return call

    def _answer(self, worker: str, function: Callable[..., object], *args: object) -> Any:
        """Return what *function* returns on *worker*, or raise what it raises."""
        if self._stopped.is_set():
            raise CancelledError
        self._part = self._call(worker, function, *args)
        try:
            answer = self._part.result(PART_S)[worker]
        except TimeoutError as error:
            raise TimeoutError(f"no answer from {worker} for {PART_S:g} s") from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _beat(self) -> None:
        """Send heartbeats and look for workers, in a thread: the caller may be busy for long."""
        while not self._closed.wait(LOOK_S):
            # A scheduler that does not answer now may do so later.
            with suppress(Exception):
                self._send_heartbeats()
                self._look()

    def _send_heartbeats(self) -> None:
        """Send a heartbeat to each worker that has answered the one before."""
        for worker in self._probes:
            before = self._heartbeats.get(worker)
            if before is None or before.done():
                call = self._call(worker, host.heartbeat, self._client.id)
                self._heartbeats[worker] = call
                call.add_done_callback(partial(self._on_heartbeat, worker))

    def _on_heartbeat(self, worker: str, call: "Call[Any]") -> None:
        with suppress(Exception, CancelledError):
            if not isinstance(call.result()[worker], Exception):
                self._heard[worker] = monotonic()

    def _look(self, wait_s: float = 0.0) -> None:
        """List the workers, and probe those that are new; wait at most *wait_s* for answers."""
        call = self._begin(partial(self._client.scheduler.identity, n_workers=-1))
        try:
            listed = call.result(SCHEDULER_S)["workers"]
        finally:
            call.cancel()
        now = monotonic()
        probes = {}
        for address, one in listed.items():
            worker = _Worker(
                str(one["host"]),
                int(one["nthreads"]),
                int(one.get("resources", {}).get("GPU", 0)),
                str(one["local_directory"]),
            )
            probe = self._probes.get(address)
            if probe is None or probe.worker != worker:
                probe = _Probe(worker, self._call(address, _probe), now)
                self._heard[address] = now
            elif isinstance(probe.outcome, str) and now - probe.since >= PROBE_AGAIN_S:
                probe = _Probe(
                    worker, self._call(address, _probe), now, probe.outcome, probe.machine
                )
            probes[address] = probe
        wait([probe.call for probe in probes.values()], wait_s)
        for address, probe in probes.items():
            if probe.call.done():
                probe.machine, probe.outcome = _machine(address, probe)
        self._probes, self._looked = probes, now
        self._heard = {address: self._heard[address] for address in probes}
        self._heartbeats = {one: call for one, call in self._heartbeats.items() if one in probes}
        self._slots = [
            slot
            for address, probe in probes.items()
            if now - self._heard[address] <= self._lease_s
            for slot in _slots_of(address, probe)
        ]

    def _on_events(self, event: tuple[float, object]) -> None:
        """Queue the events of a batch; the scheduler logs entries of its own beside them."""
        _, message = event
        if isinstance(message, bytes):
            for one in pickle.loads(message):  # noqa: S301 - the cluster runs our code anyway
                self._events.put(one)

    def _on_done(self, unit: str, task: "Future") -> None:
        if task.status == "finished" or self._closed.is_set():
            return
        if task.status == "cancelled":
            # The connection to the scheduler was lost, and with it the topic.
            with suppress(Exception):
                self._client.subscribe_topic(self._client.id, self._on_events)
            self._events.put(UnitLost(unit, "Dask: cancelled", counted=False))
            return
        reason = task.status
        with suppress(Exception):
            reason = f"{task.exception(timeout=1)}"
        self._events.put(UnitLost(unit, f"Dask: {reason}"))


def _run_task(driver: str, slot: str, unit: bytes, lease_s: float) -> None:
    """Run a unit in a thread of a Dask worker."""
    from distributed import get_worker

    worker = get_worker()
    ended = False

    def send(events: Sequence[SlotEvent]) -> None:
        nonlocal ended
        worker.log_event(driver, pickle.dumps(list(events)))
        ended = ended or any(isinstance(event, LAST_EVENTS) for event in events)

    host.run_on_slot(driver, slot, pickle.loads(unit), send, lease_s=lease_s)  # noqa: S301
    if not ended:
        raise ProcessError("the event stream of the unit ended early")


def _probe() -> tuple[str, Fingerprint]:
    return platform.node(), fingerprint()


def _machine(address: str, probe: _Probe) -> tuple[str, Fingerprint | str]:
    """Return the answer of :func:`_probe`, or the host of the worker and why there is none."""
    try:
        answer = probe.call.result()[address]
    except (Exception, CancelledError) as error:  # noqa: BLE001 - whatever the scheduler sends
        answer = error
    if isinstance(answer, BaseException):
        reason = f"cannot run Karat there: {type(answer).__name__}: {answer}"
        return probe.worker.host, reason
    return str(answer[0]), Fingerprint(*answer[1])


def _slots_of(address: str, probe: _Probe) -> Iterator[Slot]:
    """Yield a slot for each thread of a worker that has answered."""
    if probe.outcome is not None:
        known, problem = (
            (None, probe.outcome) if isinstance(probe.outcome, str) else (probe.outcome, "")
        )
        for number in range(1, probe.worker.threads + 1):
            has_gpu = number <= probe.worker.gpus
            yield Slot(f"{address}/{number}", probe.machine, known, problem, gpu=has_gpu)


async def _add_part(part: AssetPart) -> None:
    await asyncio.to_thread(add_part, part)


async def _close_sessions(driver: str) -> None:
    await asyncio.to_thread(host.close_driver, driver)


def is_loopback(name: str) -> bool:
    """Return whether a host name is that of this machine alone.

    >>> [is_loopback(name) for name in ("127.0.0.1", "::1", "localhost", "10.0.0.7", "head")]
    [True, True, True, False, False]
    """
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def dask_executor(address: str, workers: int) -> DaskExecutor:  # noqa: ARG001 - a cluster has its own
    """Return the executor of ``dask://host:port``."""
    return DaskExecutor(f"tcp://{_checked(address, 'dask')}")


def dask_tls_executor(address: str, workers: int) -> DaskExecutor:  # noqa: ARG001 - as above
    """Return the executor of ``dask+tls://host:port``, with the certificates of Dask's settings."""
    return DaskExecutor(f"tls://{_checked(address, 'dask+tls')}")


def _checked(address: str, scheme: str) -> str:
    """Return host and port of *address*, what follows the colon of a URL."""
    parts = urlsplit(address)
    try:
        port = parts.port or PORT
    except ValueError:
        port = 0
    if not parts.hostname or not port or parts.path.strip("/"):
        raise InputError(
            f"executor '{scheme}:{address}': expected a host and a port, such as "
            f"{scheme}://127.0.0.1:{PORT}"
        )
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{name}:{port}"
