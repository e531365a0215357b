"""Executors with slots: a driver sends units of queries to them and follows their events."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from karat.engines.engine_group import embeds_locally
from karat.errors import InputError
from karat.experiments.executors import CompleteGroup, Executor, QualityPass
from karat.experiments.workers import Callbacks, Configuration, RunSettings, SnapshotQueries
from karat.experiments.workers.process import EngineFailure
from karat.experiments.workers.run_collector import query_result
from karat.extensions.cluster.assets import assets_of
from karat.extensions.cluster.driver import Driver, DriverEvent, SlotCounts
from karat.extensions.cluster.fingerprint import used_extensions
from karat.extensions.cluster.latency import find_slot, measure_latency_on
from karat.extensions.cluster.pool import SlotPool
from karat.extensions.cluster.schedule import MOST_LOSSES, GroupWork, LostQueries, Schedule
from karat.extensions.cluster.unit import QueryEnded, RunNews
from karat.model import Dataset, Outcome
from karat.model.timings import RunResult
from karat.system.packs import remote_environment


class SlotExecutor(Executor):
    """Runs units of queries on the slots that :meth:`connect` opens.

    The contract of the slots is that of :class:`karat.extensions.cluster.pool.SlotPool`.
    """

    travels = True

    def connect(self) -> AbstractContextManager[SlotPool]:
        """Return the slots as a context, which closes them; ProcessError where that fails."""
        raise NotImplementedError

    def collect(self, hits: QualityPass) -> Iterator[CompleteGroup]:
        """Run all queries; results, events and errors reach the caller in its own thread."""
        yield from _SlotPass(hits, travels=self.travels).run(self)

    def check_timed_on(self, name: str) -> None:
        """Raise InputError unless *name* is a usable slot, or a machine with one."""
        with self.connect() as pool:
            if problem := find_slot(pool.slots(), name)[1]:
                raise InputError(problem)

    def measure_latency(
        self,
        name: str,
        configurations: Sequence[Configuration],
        dataset: Dataset,
        snapshots: Sequence[SnapshotQueries],
        *,
        settings: RunSettings,
        callbacks: Callbacks,
    ) -> list[RunResult]:
        """Return the run and the timings of each configuration, measured on the slot *name*."""
        return measure_latency_on(
            name,
            configurations,
            dataset,
            snapshots,
            connect=self.connect,
            settings=settings,
            callbacks=callbacks,
        )


class _SlotPass:
    """The schedule of a pass, and its driver; the collectors receive what the slots report."""

    def __init__(self, hits: QualityPass, *, travels: bool) -> None:
        self._hits = hits
        dataset = hits.dataset
        snapshots = [hits.snapshots(group) for group in range(len(hits.collectors))]
        queries = dict(enumerate(zip(dataset.query_ids, dataset.texts, strict=True)))
        environment = remote_environment() if travels else {}
        work = [
            _group_work(hits, group, some, embeds=bool(environment))
            for group, some in enumerate(snapshots)
        ]
        sources = [one.source for some in snapshots for one in some]
        self._assets = assets_of(sources) if travels else {}
        references = {path: asset.reference for path, asset in self._assets.items()}
        self._schedule = Schedule(work, queries, references, environment)
        specs = [one.configuration.spec for group in hits.collectors for one in group]
        self._used = used_extensions(specs) if travels else ()
        self._reported = SlotCounts(0, 0, 0, 0, 0)

    def run(self, executor: SlotExecutor) -> Iterator[CompleteGroup]:
        """Run all queries, and yield each group that is complete."""
        hits = self._hits
        with executor.connect() as pool:
            driver = Driver(
                pool,
                self._schedule,
                on_result=self._on_result,
                assets=self._assets.values(),
                used=self._used,
                cancelled=hits.callbacks.cancelled,
            )
            try:
                for events in driver.events():
                    for event in events:
                        self._handle(event)
                    self._show(driver)
                    for group in [one for one in hits.left if self._schedule.is_complete(one)]:
                        self._note(driver, group)
                        yield hits.complete(group)
            except KeyboardInterrupt:
                self._end(pool, driver)
                raise
            self._end(pool, driver)

    def _end(self, pool: SlotPool, driver: Driver) -> None:
        pool.close()
        driver.add_rest()
        for group in self._hits.left:
            self._note(driver, group)

    def _note(self, driver: Driver, group: int) -> None:
        for collector in self._hits.collectors[group]:
            collector.slot_notes = driver.notes(collector.configuration.spec)

    def _on_result(self, group: int, event: QueryEnded) -> None:
        self._hits.collectors[group][event.member].add(event.result)

    def _show(self, driver: Driver) -> None:
        """Report units and slots of other machines, if they have changed."""
        counts, left = driver.counts(), self._hits.left
        if driver.remote and counts != self._reported and left:
            self._reported = counts
            self._hits.collectors[next(iter(left))][0].report("units", counts._asdict())

    def _handle(self, event: DriverEvent) -> None:
        if isinstance(event, LostQueries):
            self._fail(event)
            return
        news, collectors = event.event, self._hits.collectors[event.group]
        if isinstance(news, RunNews):
            collectors[news.member].report(news.kind, news.detail)
        else:
            for collector, usage in zip(collectors, news.usage, strict=True):
                collector.use(news.session, usage)

    def _fail(self, lost: LostQueries) -> None:
        """Give each lost query a result that says why it has no hits."""
        message = f"its slot was lost {MOST_LOSSES} times; last reason: {lost.reason}"
        failure = EngineFailure(Outcome.ERROR, "agent_error", message, gone=True)
        for snapshot in lost.snapshots:
            for row in snapshot.rows:
                query_id = self._hits.dataset.query_ids[row]
                result = query_result(query_id, snapshot, [failure], timed=False)
                for member in lost.missing[row]:
                    self._hits.collectors[lost.group][member].add(result)


def _group_work(
    hits: QualityPass, group: int, snapshots: Sequence[SnapshotQueries], *, embeds: bool
) -> GroupWork:
    """Return the queries that the runs of *group* lack; with *embeds*, after an embed stage."""
    collectors = hits.collectors[group]
    rows = [row for snapshot in snapshots for row in snapshot.rows]
    configurations = tuple(one.configuration for one in collectors)
    return GroupWork(
        configurations,
        hits.settings,
        tuple(snapshots),
        tuple(frozenset(row for row in rows if not one.wants(row)) for one in collectors),
        embeds=embeds and any(embeds_locally(one.spec) for one in configurations),
    )
