"""Measure hits on the slots of an executor, and latency on one slot that does nothing else."""

import platform
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from karat.engines.engine_group import embeds_locally
from karat.errors import InputError, ProcessError
from karat.experiments.executors.base import Executor, Slot, SlotPool
from karat.experiments.executors.driver import (
    GRACE_S,
    LOOK_S,
    NO_SLOT_S,
    POLL_S,
    AssetSender,
    Driver,
    DriverEvent,
    SlotCounts,
    check_slot,
)
from karat.experiments.executors.fingerprint import used_extensions
from karat.experiments.executors.local import LocalExecutor
from karat.experiments.executors.schedule import MOST_LOSSES, GroupWork, LostQueries, Schedule
from karat.experiments.workers import (
    QUALITY,
    Callbacks,
    Configuration,
    Group,
    RunSettings,
    SnapshotQueries,
    announce,
)
from karat.experiments.workers.process import EngineFailure
from karat.experiments.workers.run_collector import RunCollector, query_result
from karat.experiments.workers.sources import assets_of
from karat.experiments.workers.timing import freeze_heap
from karat.experiments.workers.unit import (
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
from karat.model import Dataset, Outcome
from karat.model.timings import RunResult
from karat.system.packs import remote_environment

TIMING_UNIT = "timing"


class CompleteGroup(NamedTuple):
    """The group at the index *place*, with the run of each of its configurations."""

    place: int
    runs: tuple[RunResult, ...]


def measure_quality(
    groups: Sequence[Group],
    dataset: Dataset,
    snapshots: Sequence[SnapshotQueries],
    *,
    executor: Executor | None = None,
    settings: RunSettings = QUALITY,
    callbacks: Callbacks | None = None,
    announcements: Path | None = None,
) -> list[RunResult]:
    """Return the run of each configuration, group after group, without timings."""
    found = measure_groups(
        groups,
        dataset,
        snapshots,
        executor=executor,
        settings=settings,
        callbacks=callbacks,
        announcements=announcements,
    )
    return [run for group in sorted(found) for run in group.runs]


def measure_groups(
    groups: Sequence[Group],
    dataset: Dataset,
    snapshots: Sequence[SnapshotQueries],
    *,
    executor: Executor | None = None,
    settings: RunSettings = QUALITY,
    callbacks: Callbacks | None = None,
    announcements: Path | None = None,
) -> Iterator[CompleteGroup]:
    """Yield each group as soon as all its queries have ended.

    All engines of a group run a query together and share work; each returns the hits that it would
    return alone. The queries of all groups are divided among the slots of *executor*, one slot of
    this machine by default, neighbouring snapshots to the same one; the hits do not depend on their
    number. After a cancel or Ctrl-C the results so far are returned; the notes of a run have its
    status. The run is announced in the folder *announcements*, so that runs that measure latency
    see it; it never waits.
    """
    callbacks = callbacks or Callbacks()
    executor = executor or LocalExecutor()
    collection = _Collection(
        groups,
        dataset,
        snapshots,
        settings=settings,
        callbacks=callbacks,
        travels=executor.travels,
    )
    try:
        if not callbacks.cancelled():
            with announce(callbacks.command, announcements), freeze_heap():
                yield from collection.run(executor)
    except KeyboardInterrupt:
        pass
    yield from collection.unfinished()


class _Collection:
    """The collectors of all runs, and the groups that are complete."""

    def __init__(
        self,
        groups: Sequence[Group],
        dataset: Dataset,
        snapshots: Sequence[SnapshotQueries],
        *,
        settings: RunSettings,
        callbacks: Callbacks,
        travels: bool,
    ) -> None:
        self._dataset = dataset
        self._callbacks = callbacks
        self._collectors = [
            [
                RunCollector(one, dataset, snapshots, settings=settings, callbacks=callbacks)
                for one in group
            ]
            for group in groups
        ]
        queries = dict(enumerate(zip(dataset.query_ids, dataset.texts, strict=True)))
        environment = remote_environment() if travels else {}
        work = [
            _group_work(group, collectors, snapshots, settings, embeds=bool(environment))
            for group, collectors in zip(groups, self._collectors, strict=True)
        ]
        self._assets = assets_of(one.source for one in snapshots) if travels else {}
        references = {place: asset.reference for place, asset in self._assets.items()}
        self._schedule = Schedule(work, queries, references, environment)
        specs = (configuration.spec for group in groups for configuration in group)
        self._used = used_extensions(specs) if travels else ()
        self._left = dict.fromkeys(range(len(groups)))
        self._driver: Driver | None = None
        self._shown = SlotCounts(0, 0, 0, 0, 0)

    def run(self, executor: Executor) -> Iterator[CompleteGroup]:
        """Run all queries; results, events and errors reach the caller in its own thread."""
        for collectors in self._collectors:
            for collector in collectors:
                collector.report("started", {"pass": "quality"})
        yield from self._complete()
        if not self._left:
            return
        with executor.connect() as pool:
            driver = Driver(
                pool,
                self._schedule,
                on_result=self._on_result,
                assets=self._assets.values(),
                used=self._used,
                cancelled=self._callbacks.cancelled,
            )
            self._driver = driver
            try:
                for events in driver.events():
                    for event in events:
                        self._handle(event)
                    self._show(driver)
                    yield from self._complete()
            except KeyboardInterrupt:
                self._end(pool, driver)
                raise
            self._end(pool, driver)

    def unfinished(self) -> Iterator[CompleteGroup]:
        """Yield the groups that are not complete, as far as they have come."""
        for place in list(self._left):
            yield self._measured(place)

    def _end(self, pool: SlotPool, driver: Driver) -> None:
        pool.close()
        driver.add_rest()

    def _on_result(self, group: int, event: QueryEnded) -> None:
        self._collectors[group][event.place].add(event.result)

    def _show(self, driver: Driver) -> None:
        """Report units and slots of other machines, if they have changed."""
        counts = driver.counts()
        if driver.remote and counts != self._shown and self._left:
            self._shown = counts
            self._collectors[next(iter(self._left))][0].report("units", counts._asdict())

    def _complete(self) -> Iterator[CompleteGroup]:
        for place in [one for one in self._left if self._schedule.is_complete(one)]:
            yield self._measured(place)

    def _measured(self, place: int) -> CompleteGroup:
        del self._left[place]
        collectors = self._collectors[place]
        if self._driver:
            for collector in collectors:
                collector.slot_notes = self._driver.notes(collector.configuration.spec)
        return CompleteGroup(place, tuple(one.measured(timed=False) for one in collectors))

    def _handle(self, event: DriverEvent) -> None:
        if isinstance(event, LostQueries):
            self._fail(event)
            return
        news, collectors = event.event, self._collectors[event.group]
        if isinstance(news, RunNews):
            collectors[news.place].report(news.kind, news.detail)
        else:
            for collector, usage in zip(collectors, news.usage, strict=True):
                collector.use(news.session, usage)

    def _fail(self, lost: LostQueries) -> None:
        """Give each lost query a result that says why it has no hits."""
        message = f"its slot was lost {MOST_LOSSES} times; last reason: {lost.reason}"
        failure = EngineFailure(Outcome.ERROR, "agent_error", message, gone=True)
        for snapshot in lost.snapshots:
            for row in snapshot.rows:
                query_id = self._dataset.query_ids[row]
                result = query_result(query_id, snapshot, [failure], timed=False)
                for place in lost.missing[row]:
                    self._collectors[lost.group][place].add(result)


def _group_work(
    group: Group,
    collectors: Sequence[RunCollector],
    snapshots: Sequence[SnapshotQueries],
    settings: RunSettings,
    *,
    embeds: bool,
) -> GroupWork:
    """Return the queries that the runs of *group* lack; with *embeds*, after an embed stage."""
    rows = [row for snapshot in snapshots for row in snapshot.rows]
    skip = tuple(
        frozenset(row for row in rows if not collector.wants(row)) for collector in collectors
    )
    nobody = frozenset.intersection(*skip)
    wanted = (
        SnapshotQueries(source, tuple(row for row in rows if row not in nobody))
        for source, rows in snapshots
    )
    return GroupWork(
        group,
        settings,
        tuple(one for one in wanted if one.rows),
        skip,
        embeds=embeds and any(embeds_locally(one.spec) for one in group),
    )


def check_timed_on(executor: Executor, name: str) -> None:
    """Raise InputError unless *name* is a usable slot of *executor*, or a machine with one."""
    if not executor.travels:
        raise InputError(
            f"--timed-on {name}: all slots of the local executor are on this machine, where "
            "latency is measured by default; remove the option, or use a cluster (--executor)"
        )
    with executor.connect() as pool:
        if problem := _slot(pool.slots(), name)[1]:
            raise InputError(problem)


def measure_latency_on(
    name: str,
    configurations: Sequence[Configuration],
    dataset: Dataset,
    snapshots: Sequence[SnapshotQueries],
    *,
    executor: Executor,
    settings: RunSettings,
    callbacks: Callbacks,
) -> list[RunResult]:
    """Return the run and the timings of each configuration, measured on the slot *name*.

    *name* is the id of a slot or the name of its machine. The slot does what
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
        with executor.connect() as pool:
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
            assets={place: one.reference for place, one in assets.items()},
            environment=remote_environment(),
        )
        sender = AssetSender(pool, assets.values())
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
            self._collectors[event.place].add(event.result)
        elif isinstance(event, RunNews):
            self._collectors[event.place].report(event.kind, event.detail)
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
        slot, problem = _slot(pool.slots(), name, used)
        if slot:
            return slot
        if monotonic() >= deadline:
            raise ProcessError(problem)
        pool.receive(POLL_S)


def _slot(slots: Sequence[Slot], name: str, used: Collection[str] = ()) -> tuple[Slot | None, str]:
    """Return the first usable slot with this id or on this machine, or None and why not.

    *used* are the extensions that its engines need.

    >>> slots = [Slot("tcp://10.0.0.7:4001/1", "node7"), Slot("tcp://10.0.0.8:4001/1", "node8")]
    >>> _slot(slots, "node8")[0].id
    'tcp://10.0.0.8:4001/1'
    >>> print(_slot(slots, "node9")[1])
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
