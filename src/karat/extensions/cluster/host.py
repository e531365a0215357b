"""The worker side of remote executors: sessions of all drivers in this process, kept by slot.

A driver sends heartbeats. Its sessions end without heartbeats for some time, and when they have
been idle. Functions here are called by name from another machine; they import neither Dask nor Ray.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from time import monotonic, sleep

from karat.errors import KaratError
from karat.experiments.workers import announce
from karat.experiments.workers.plan import SnapshotQueries
from karat.extensions.cluster.assets import has_asset, localized, missing_source, revision_of
from karat.extensions.cluster.session import SlotHost
from karat.extensions.cluster.unit import AssetNeeded, QueryEnded, SlotEvent, SlotRejected, Unit

# A driver sends a heartbeat every HEARTBEAT_S; after LEASE_S without one it counts as dead.
HEARTBEAT_S, LEASE_S = 2.0, 20.0
WATCH_S = 0.5
# How long a unit waits for an asset, and how often it looks.
ASSET_S, ASSET_POLL_S = 1800.0, 0.2
# Events within this time are sent as one batch.
BATCH_S = 0.01


@dataclass(slots=True)
class _Driver:
    """The slots that a driver uses in this process, and the time of its last heartbeat."""

    lease_s: float
    seen: float = field(default_factory=monotonic)
    slots: dict[str, SlotHost] = field(default_factory=dict)


_drivers: dict[str, _Driver] = {}
_lock = threading.Lock()


def run_on_slot(
    driver: str,
    slot: str,
    unit: Unit,
    send: Callable[[Sequence[SlotEvent]], None],
    *,
    lease_s: float = LEASE_S,
) -> None:
    """Run *unit* in the session of *slot*, and pass its events to *send* in batches."""
    outbox = _Outbox(send)
    try:
        host = _host(driver, slot, lease_s)
        emit = _with_names(unit, outbox.put)
        try:
            unit = _localized(unit, host, emit)
            reason = missing_source(snapshot.source for snapshot in unit.snapshots)
        except KaratError as error:
            reason = str(error)
        if reason:
            outbox.put(SlotRejected(unit.id, reason))
            return
        # Runs that measure latency on this machine wait for the unit; one that measures latency
        # itself announces that when it has its turn.
        with nullcontext() if unit.timing else announce("unit of another machine"):
            host.run(unit, emit)
    finally:
        outbox.close()


def _localized(unit: Unit, host: SlotHost, emit: Callable[[SlotEvent], None]) -> Unit:
    """Return *unit* with sources of this machine; wait for assets that the driver has to send."""

    def lacking() -> str:
        for snapshot in unit.snapshots:
            known = unit.assets.get(snapshot.source.path)
            if known and missing_source([localized(snapshot.source, unit.assets)]):
                return known.id
        return ""

    requested: set[str] = set()
    while (asset := lacking()) and asset not in requested:
        requested.add(asset)
        emit(AssetNeeded(unit.id, asset))
        deadline = monotonic() + ASSET_S
        while not has_asset(asset) and not host.stopped and monotonic() < deadline:
            sleep(ASSET_POLL_S)
    return replace(
        unit,
        snapshots=tuple(
            SnapshotQueries(localized(source, unit.assets), rows) for source, rows in unit.snapshots
        ),
        ahead=tuple(localized(source, unit.assets) for source in unit.ahead),
    )


def _with_names(unit: Unit, emit: Callable[[SlotEvent], None]) -> Callable[[SlotEvent], None]:
    """Return *emit* for results that name revisions as the driver does, not by their commits."""
    names = {
        localized_revision: one.source.revision
        for one in unit.snapshots
        if (localized_revision := revision_of(one.source, unit.assets)) != one.source.revision
    }
    if not names:
        return emit

    def renamed(event: SlotEvent) -> None:
        if isinstance(event, QueryEnded):
            answer = event.result.answer
            name = names.get(str(answer.extra.get("revision", "")))
            if name is not None:
                answer = answer._replace(extra={**answer.extra, "revision": name})
                event = event._replace(result=event.result._replace(answer=answer))
        emit(event)

    return renamed


def heartbeat(driver: str) -> None:
    """Note that *driver* is alive."""
    if known := _drivers.get(driver):
        known.seen = monotonic()


def stop_driver(driver: str) -> None:
    """Start no further query of *driver*."""
    if known := _drivers.get(driver):
        for host in list(known.slots.values()):
            host.stop()


def close_driver(driver: str) -> None:
    """End all sessions of *driver*; a running query is interrupted."""
    with _lock:
        known = _drivers.pop(driver, None)
    for host in known.slots.values() if known else ():
        # Also a slot that waits for an asset and has no session yet.
        host.stop()
        if not host.expire(0.0):
            host.interrupt()
    for host in known.slots.values() if known else ():
        host.close()


def _host(driver: str, slot: str, lease_s: float) -> SlotHost:
    with _lock:
        if not _drivers:
            threading.Thread(target=_watch, name="karat-sessions", daemon=True).start()
        known = _drivers.setdefault(driver, _Driver(lease_s))
        known.seen = monotonic()
        return known.slots.setdefault(slot, SlotHost())


def _watch() -> None:
    """End sessions that are idle and those of dead drivers, as long as there are any."""
    while True:
        sleep(WATCH_S)
        with _lock:
            dead = [
                driver
                for driver, known in _drivers.items()
                if monotonic() - known.seen > known.lease_s
            ]
            hosts = [host for known in _drivers.values() for host in known.slots.values()]
        for driver in dead:
            close_driver(driver)
        for host in hosts:
            host.expire()
        with _lock:
            if not _drivers:
                return


class _Outbox:
    """Sends events from a thread of its own, so that no query waits for the network."""

    def __init__(self, send: Callable[[Sequence[SlotEvent]], None]) -> None:
        self._send = send
        self._events: SimpleQueue[SlotEvent | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="karat-events", daemon=True)
        self._thread.start()

    def put(self, event: SlotEvent) -> None:
        self._events.put(event)

    def close(self) -> None:
        """Send all events, then return."""
        self._events.put(None)
        self._thread.join()

    def _work(self) -> None:
        ended = False
        while not ended:
            batch = [self._events.get()]
            until = monotonic() + BATCH_S
            with suppress(Empty):
                while batch[-1] is not None and (left := until - monotonic()) > 0:
                    batch.append(self._events.get(timeout=left))
            ended = batch[-1] is None
            if sent := [event for event in batch if event is not None]:
                self._send(sent)
