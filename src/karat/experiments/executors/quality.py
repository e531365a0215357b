"""Run queries of all configurations for their hits, on the slots of an executor."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.engines.engine_group import embeds_locally
from karat.experiments.executors.base import Executor, SlotPool
from karat.experiments.executors.driver import Driver, DriverEvent, SlotCounts
from karat.experiments.executors.local import LocalExecutor
from karat.experiments.executors.schedule import MOST_LOSSES, GroupWork, LostQueries, Schedule
from karat.experiments.workers import (
    QUALITY,
    Callbacks,
    Group,
    RunSettings,
    SnapshotQueries,
    announce,
)
from karat.experiments.workers.assets import assets_of
from karat.experiments.workers.process import EngineFailure
from karat.experiments.workers.run_collector import RunCollector, query_result
from karat.experiments.workers.timing import freeze_heap
from karat.experiments.workers.unit import QueryEnded, RunNews
from karat.model import Dataset, Outcome
from karat.model.timings import RunResult
from karat.system.packs import remote_environment

__all__ = ["CompleteGroup", "measure_groups", "measure_quality"]


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
