"""Measure latency on one slot that does nothing else."""

import platform
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from math import inf
from time import monotonic

from karat.errors import ProcessError
from karat.experiments.workers import Callbacks, Configuration, RunSettings, SnapshotQueries
from karat.experiments.workers.run_collector import RunCollector
from karat.extensions.cluster.assets import assets_of
from karat.extensions.cluster.driver import (
    GRACE_S,
    LOOK_S,
    NO_SLOT_S,
    POLL_S,
    AssetSender,
    check_slot,
)
from karat.extensions.cluster.fingerprint import used_extensions
from karat.extensions.cluster.pool import Slot, SlotPool
from karat.extensions.cluster.unit import (
    AssetNeeded,
    QueryEnded,
    RunNews,
    SlotEvent,
    SlotRejected,
    TimedMachine,
    TimingTurn,
    Unit,
    UnitEnded,
    UnitLost,
)
from karat.model import Dataset
from karat.model.timings import RunResult
from karat.system.packs import remote_environment

TIMING_UNIT = "timing"


def measure_latency_on(
    name: str,
    configurations: Sequence[Configuration],
    dataset: Dataset,
    snapshots: Sequence[SnapshotQueries],
    *,
    connect: Callable[[], AbstractContextManager[SlotPool]],
    settings: RunSettings,
    callbacks: Callbacks,
) -> list[RunResult]:
    """Return the run and the timings of each configuration, measured on the slot *name*.

    *name* is the id of a slot, or the name of its machine, in the pool that *connect* opens. The
    slot does what
    :func:`karat.experiments.workers.measure_latency` does on this machine, and waits for the karat
    runs that are announced there. Results arrive one by one, so that those of a slot that is lost
    are not; ProcessError is raised then. The notes of each run have the machine as ``timed_on``.
    """
    collectors = [
        RunCollector(configuration, dataset, snapshots, settings=settings, callbacks=callbacks)
        for configuration in configurations
    ]
    turn = TimingTurn(f"{callbacks.command} of {platform.node()}", callbacks.wait)
    unit = _unit(collectors, dataset, snapshots, settings, turn)
    timed = _TimedUnit(unit, collectors, callbacks)
    machine = ""
    if unit.snapshots and not callbacks.cancelled():
        with connect() as pool:
            try:
                slot = _await_slot(pool, name, used_extensions(one.spec for one in configurations))
                machine = slot.machine
                timed.run(pool, slot)
            except KeyboardInterrupt:
                pool.close()
                timed.add_rest(pool)
    done = [one.measured(timed=True, alone=timed.machine.alone) for one in collectors]
    notes = {"load": timed.machine.load, "timed_on": machine or name}
    return [replace(one, notes={**one.notes, **notes}) for one in done]


class _TimedUnit:
    """The unit on its slot; its events reach the collectors in the thread of the caller."""

    def __init__(
        self, unit: Unit, collectors: Sequence[RunCollector], callbacks: Callbacks
    ) -> None:
        self._unit = unit
        self._collectors = collectors
        self._callbacks = callbacks
        self.machine = TimedMachine(alone=False, load=None)
        self._ended = False

    def run(self, pool: SlotPool, slot: Slot) -> None:
        """Run the unit to its end; after a cancel, running queries may take a little time."""
        assets = assets_of(one.source for one in self._unit.snapshots)
        unit = replace(
            self._unit,
            assets={path: one.reference for path, one in assets.items()},
            environment=remote_environment(),
        )
        sender = AssetSender(pool.provide, assets.values())
        look, deadline = monotonic() + LOOK_S, inf
        try:
            pool.send(slot.id, unit)
            while not self._ended and (now := monotonic()) < deadline:
                event = pool.receive(POLL_S)
                if isinstance(event, AssetNeeded):
                    sender.send(slot.id, event.asset)
                elif isinstance(event, UnitLost | SlotRejected):
                    raise _lost(slot, event.reason)
                elif event:
                    self._handle(event)
                elif now >= look:
                    look = now + LOOK_S
                    for _, reason in sender.failures():
                        raise _lost(slot, reason)
                    if slot.id not in {one.id for one in pool.slots()}:
                        raise _lost(slot, "the slot is gone")
                if deadline == inf and self._callbacks.cancelled():
                    deadline = monotonic() + GRACE_S
                    pool.stop()
        finally:
            sender.close()

    def add_rest(self, pool: SlotPool) -> None:
        """Add the results that had arrived before an interruption, which ended the engines."""
        while (event := pool.receive(0)) is not None:
            if isinstance(event, QueryEnded):
                self._handle(event)

    def _handle(self, event: SlotEvent) -> None:
        if isinstance(event, QueryEnded):
            self._collectors[event.member].add(event.result)
        elif isinstance(event, RunNews):
            self._collectors[event.member].report(event.kind, event.detail)
        elif isinstance(event, UnitEnded):
            self._ended = True
            self.machine = event.timed or self.machine
            for collector, usage in zip(self._collectors, event.usage, strict=True):
                collector.use(event.session, usage)


def _unit(
    collectors: Sequence[RunCollector],
    dataset: Dataset,
    snapshots: Sequence[SnapshotQueries],
    settings: RunSettings,
    turn: TimingTurn,
) -> Unit:
    """Return all work as one unit, without the snapshots that no configuration needs."""
    rows = [row for snapshot in snapshots for row in snapshot.rows]
    needed = {row for row in rows if any(one.wants(row) for one in collectors)}
    return Unit(
        TIMING_UNIT,
        TIMING_UNIT,
        tuple(one.configuration for one in collectors),
        settings,
        tuple(one for one in snapshots if needed.intersection(one.rows)),
        # All of them: queries of other snapshots are for the warm-up.
        dict(enumerate(zip(dataset.query_ids, dataset.texts, strict=True))),
        tuple(frozenset(row for row in rows if not one.wants(row)) for one in collectors),
        timing=turn,
    )


def _await_slot(pool: SlotPool, name: str, used: Collection[str]) -> Slot:
    """Return the slot *name*; a cluster may start its worker again within a short time."""
    deadline = monotonic() + NO_SLOT_S
    while True:
        slot, problem = find_slot(pool.slots(), name, used)
        if slot:
            return slot
        if monotonic() >= deadline:
            raise ProcessError(problem)
        pool.receive(POLL_S)


def find_slot(
    slots: Sequence[Slot], name: str, used: Collection[str] = ()
) -> tuple[Slot | None, str]:
    """Return the first usable slot with this id or on this machine, or None and why not.

    *used* are the extensions that its engines need.

    >>> slots = [Slot("tcp://10.0.0.7:4001/1", "node7"), Slot("tcp://10.0.0.8:4001/1", "node8")]
    >>> find_slot(slots, "node8")[0].id
    'tcp://10.0.0.8:4001/1'
    >>> print(find_slot(slots, "node9")[1])
    --timed-on node9: no such slot or machine; the slots are
    tcp://10.0.0.7:4001/1  node7
    tcp://10.0.0.8:4001/1  node8
    """
    named = [slot for slot in slots if name in (slot.id, slot.machine)]
    for slot in named:
        if not check_slot(slot, used):
            return slot, ""
    if named:
        reasons = (f"slot {slot.id}: {check_slot(slot, used)}" for slot in named)
        return None, "\n".join([f"--timed-on {name}: the slot cannot be used", *reasons])
    lines = [f"{slot.id}  {slot.machine}" for slot in slots] or ["none"]
    return None, "\n".join([f"--timed-on {name}: no such slot or machine; the slots are", *lines])


def _lost(slot: Slot, reason: str) -> ProcessError:
    return ProcessError(
        f"--timed-on: slot {slot.id} on {slot.machine} was lost while latency was measured "
        f"({reason}); results so far are stored, and the same command continues"
    )
