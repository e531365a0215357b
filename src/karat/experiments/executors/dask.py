"""The Dask executor: a slot is a thread of a Dask worker, a unit is a task.

Events return through the scheduler, in the log of the driver's client, which the scheduler clears
when the client is gone. Heartbeats and the flag to stop are plain calls on the workers: a running
task of Dask cannot be cancelled. Losses are counted by Karat, because Dask's own count includes
tasks that merely ran beside the cause.
"""

import pickle
import platform
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from karat.errors import InputError, MissingExtra, ProcessError
from karat.experiments.executors import host
from karat.experiments.executors.base import Slot
from karat.experiments.executors.fingerprint import Fingerprint, fingerprint
from karat.experiments.workers.assets import AssetPart, add_part, has_asset
from karat.experiments.workers.unit import SlotEvent, Unit, UnitLost

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["DaskExecutor", "dask_executor", "dask_tls_executor"]

CONNECT_S = 10.0
LOOK_S = 1.0
PORT = 8786
CERTIFICATES = ", ".join(
    f"DASK_DISTRIBUTED__COMM__TLS__{name}" for name in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY")
)


@dataclass(frozen=True, slots=True)
class DaskExecutor:
    """Runs engines on the workers of the Dask scheduler at *address*, such as tcp://host:8786."""

    address: str
    lease_s: float = host.LEASE_S

    @property
    def travels(self) -> bool:
        """Return that workers may be on other machines."""
        return True

    @property
    def warning(self) -> str:
        """Return that others could run code on the workers, unless TLS or loopback is used."""
        if self.address.startswith("tls://") or is_loopback(urlsplit(self.address).hostname or ""):
            return ""
        return (
            f"{self.address} is neither encrypted nor authenticated: whoever reaches it can run "
            "code on all workers; use dask+tls:// (docs/security.md)"
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
        except (OSError, TimeoutError, ValueError) as error:
            raise ProcessError(
                f"no Dask scheduler answers at {self.address} ({error}); expected one, such as by "
                "the command: dask scheduler"
            ) from error
        pool = DaskSlots(client, self.lease_s)
        try:
            yield pool
        finally:
            pool.close()


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
        "environment (docs/security.md)"
    )


class DaskSlots:
    """The slots of all workers of a scheduler."""

    def __init__(self, client: "Client", lease_s: float) -> None:
        self._client = client
        self._lease_s = lease_s
        self._events: SimpleQueue[SlotEvent] = SimpleQueue()
        self._tasks: dict[str, Future] = {}
        # By the address of a worker: the name of its machine, and what is installed there.
        self._probed: dict[str, tuple[str, Fingerprint | str]] = {}
        # By the address of a worker: the number of its threads and of its GPUs.
        self._workers: dict[str, tuple[int, int]] = {}
        self._closed = threading.Event()
        client.subscribe_topic(client.id, self._on_events)
        self._look()
        self._thread = threading.Thread(target=self._beat, name="karat-heartbeat", daemon=True)
        self._thread.start()

    def slots(self) -> Sequence[Slot]:
        """Return a slot for each thread of each worker."""
        found = []
        for address, (threads, gpus) in self._workers.items():
            machine, probed = self._probed[address]
            known, problem = (None, probed) if isinstance(probed, str) else (probed, "")
            found += [
                Slot(f"{address}/{number}", machine, known, problem, gpu=number <= gpus)
                for number in range(1, threads + 1)
            ]
        return found

    def send(self, slot: str, unit: Unit) -> None:
        """Submit *unit* as a task that only the worker of *slot* may run."""
        task = self._client.submit(
            _run_task,
            self._client.id,
            slot,
            # As bytes: Dask looks for futures in everything else.
            pickle.dumps(unit),
            self._lease_s,
            key=f"karat-unit-{self._client.id}-{unit.id}",
            workers=[slot.rpartition("/")[0]],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )
        self._tasks[unit.id] = task
        task.add_done_callback(lambda done: self._on_done(unit.id, done))

    def receive(self, timeout_s: float) -> SlotEvent | None:
        """Return the next event."""
        try:
            return self._events.get(timeout=timeout_s) if timeout_s else self._events.get_nowait()
        except Empty:
            return None

    def provide(self, slot: str, asset: str, parts: Iterable[AssetPart]) -> None:
        """Send *parts* to the worker of *slot*."""
        worker = [slot.rpartition("/")[0]]
        if not any(self._client.run(has_asset, asset, workers=worker).values()):
            for part in parts:
                # A call and not a task: the unit that waits for it may have the only thread.
                self._client.run(_add_part, part, workers=worker)

    def stop(self) -> None:
        """Set the flag of all sessions."""
        self._call(host.stop_driver)

    def close(self) -> None:
        """End all sessions and disconnect."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._thread.join()
        # Before the tasks are released: Dask would run those again that had not started.
        self._call(_close_sessions)
        with suppress(Exception):
            self._client.unsubscribe_topic(self._client.id)
        self._client.close()

    def _call(self, function: Any) -> None:
        """Call *function* with the id of this driver on all workers that answer."""
        with suppress(Exception):
            self._client.run(function, self._client.id, on_error="ignore")

    def _beat(self) -> None:
        """Send heartbeats and look for workers, in a thread: the caller may be busy for long."""
        while not self._closed.wait(LOOK_S):
            self._call(host.heartbeat)
            # A scheduler that does not answer now may do so later.
            with suppress(Exception):
                self._look()

    def _look(self) -> None:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        if new := [address for address in workers if address not in self._probed]:
            found = self._client.run(_probe, workers=new, on_error="return")
            self._probed |= {
                address: _machine(answer, str(workers[address]["host"]))
                for address, answer in found.items()
            }
        self._workers = {
            address: (
                int(worker["nthreads"]),
                int(worker.get("resources", {}).get("GPU", 0)),
            )
            for address, worker in workers.items()
            if address in self._probed
        }

    def _on_events(self, event: tuple[float, object]) -> None:
        """Queue the events of a batch; the scheduler logs entries of its own beside them."""
        _, message = event
        if isinstance(message, bytes):
            for one in pickle.loads(message):  # noqa: S301 - the cluster runs our code anyway
                self._events.put(one)

    def _on_done(self, unit: str, task: "Future") -> None:
        if task.status != "finished" and not self._closed.is_set():
            reason = task.status
            with suppress(Exception):
                reason = f"{task.exception(timeout=1)}"
            self._events.put(UnitLost(unit, f"Dask: {reason}"))


def _run_task(driver: str, slot: str, unit: bytes, lease_s: float) -> None:
    """Run a unit in a thread of a Dask worker."""
    from distributed import get_worker

    worker = get_worker()

    def send(events: Sequence[SlotEvent]) -> None:
        worker.log_event(driver, pickle.dumps(list(events)))

    host.run_on_slot(driver, slot, pickle.loads(unit), send, lease_s=lease_s)  # noqa: S301


def _probe() -> tuple[str, Fingerprint]:
    return platform.node(), fingerprint()


def _machine(answer: object, host: str) -> tuple[str, Fingerprint | str]:
    """Return the answer of :func:`_probe`, or *host* and why there is none."""
    if isinstance(answer, Exception):
        return host, f"Karat does not run there: {type(answer).__name__}: {answer}"
    if isinstance(answer, tuple):
        return str(answer[0]), Fingerprint(*answer[1])
    return host, "no fingerprint"


async def _add_part(part: AssetPart) -> None:
    from asyncio import to_thread

    await to_thread(add_part, part)


async def _close_sessions(driver: str) -> None:
    from asyncio import to_thread

    await to_thread(host.close_driver, driver)


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
            f"executor {scheme}:{address}: expected a host and a port, such as "
            f"{scheme}://127.0.0.1:{PORT}"
        )
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{name}:{port}"
