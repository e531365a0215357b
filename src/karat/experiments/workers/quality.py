"""Run queries of all configurations: first for their hits, then for their latency."""

import gc
import os
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import zip_longest
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from random import Random
from time import monotonic
from typing import NamedTuple

from karat.experiments.workers.announcements import (
    Holder,
    Turn,
    announce,
    holders_json,
    measure_alone,
)
from karat.experiments.workers.engine_worker import WorkerGroup
from karat.experiments.workers.plan import (
    Configuration,
    Group,
    RunSettings,
    SnapshotQueries,
    group_configurations,
    split_queries,
)
from karat.experiments.workers.run_collector import (
    Callbacks,
    EventKind,
    GroupEngine,
    QueryResult,
    RunCollector,
)
from karat.model import Dataset
from karat.model.timings import RunResult

__all__ = ["QUALITY", "freeze_heap", "measure_latency", "measure_quality"]


@contextmanager
def freeze_heap() -> Iterator[None]:
    """Freeze existing objects (`gc.freeze`) while engines run.

    A garbage collection over all modules would take tens of milliseconds between two queries.
    """
    if gc.get_freeze_count():
        # Frozen by a caller, who also unfreezes.
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


# Nothing is timed, so nothing needs to be warm.
QUALITY = RunSettings(warm_up=0, repetitions=1)
# More parts than processes, so that one with hard queries does not delay the end.
PARTS_EACH = 4
JOIN_S = 0.1
# Poll: a signal that arrives right before the wait does not wake it up.
POLL_S = 0.1
# Seconds that running queries may still take after a cancel.
GRACE_S = 2.0


def measure_quality(
    groups: Sequence[Group],
    dataset: Dataset,
    snapshots: Sequence[SnapshotQueries],
    *,
    workers: int = 1,
    settings: RunSettings = QUALITY,
    callbacks: Callbacks | None = None,
    announcements: Path | None = None,
) -> list[RunResult]:
    """Return the run of each configuration, group after group, without timings.

    All engines of a group run a query together and share work; each returns the hits that it would
    return alone. The queries are divided among *workers* processes, neighbouring snapshots to the
    same process; the hits do not depend on their number. Cancel works as in
    :func:`karat.experiments.workers.quality.measure_latency`. The run is announced in the folder
    *announcements*, so that runs that measure latency see it; it never waits.
    """
    callbacks = callbacks or Callbacks()
    done: list[RunResult] = []
    interrupted = False
    for group in groups:
        collectors = [
            RunCollector(configuration, dataset, snapshots, settings=settings, callbacks=callbacks)
            for configuration in group
        ]
        try:
            if not interrupted and not callbacks.cancelled():
                with announce(callbacks.command, announcements), freeze_heap():
                    for collector in collectors:
                        collector.report("started", {"pass": "quality"})
                    _WorkerPool(collectors, dataset, settings).run(snapshots, workers, callbacks)
        except KeyboardInterrupt:
            interrupted = True
        done += [collector.measured(timed=False) for collector in collectors]
    return done


class _WorkerMessage(NamedTuple):
    """A message from the thread of a worker: a query result, or an event of its process."""

    collector: RunCollector
    news: QueryResult | tuple[EventKind, Mapping[str, object]]


class _WorkerPool:
    """Worker processes for the runs of a group, a thread for each; one queue has all messages."""

    def __init__(
        self, collectors: Sequence[RunCollector], dataset: Dataset, settings: RunSettings
    ) -> None:
        self._collectors = collectors
        self._dataset = dataset
        self._settings = settings
        self._groups: list[WorkerGroup] = []
        self._parts: deque[list[SnapshotQueries]] = deque()
        self._messages: SimpleQueue[_WorkerMessage | BaseException | None] = SimpleQueue()
        self._stop = threading.Event()
        self._interrupted = False

    def run(self, snapshots: Sequence[SnapshotQueries], workers: int, callbacks: Callbacks) -> None:
        """Run all queries; results, events and errors reach the caller in its own thread."""
        wanted = [
            SnapshotQueries(source, tuple(row for row in rows if self._wanting(row)))
            for source, rows in snapshots
        ]
        self._parts.extend(split_queries(wanted, workers * PARTS_EACH))
        threads = [
            threading.Thread(
                target=self._work, args=(self._new_group(),), name="karat-worker", daemon=True
            )
            for _ in range(min(workers, len(self._parts)))
        ]
        for thread in threads:
            thread.start()
        running, deadline = len(threads), inf
        try:
            while running and monotonic() < deadline:
                try:
                    message = self._messages.get(timeout=POLL_S)
                except Empty:
                    pass
                else:
                    running -= self._handle(message)
                if not self._stop.is_set() and callbacks.cancelled():
                    self._stop.set()
                    deadline = monotonic() + GRACE_S
        except KeyboardInterrupt:
            self._end(threads)
            self._drain()
            raise
        finally:
            self._end(threads)
        self._drain()

    def _handle(self, message: _WorkerMessage | BaseException | None) -> bool:
        """Pass a *message* on to its collector, and return whether its thread has ended."""
        if isinstance(message, BaseException):
            raise message
        if message is None:
            return True
        if isinstance(message.news, QueryResult):
            message.collector.add(message.news)
        else:
            message.collector.report(*message.news)
        return False

    def _drain(self) -> None:
        """Add the results that arrived before the interruption and are still in the queue."""
        while not self._messages.empty():
            message = self._messages.get()
            if isinstance(message, _WorkerMessage) and isinstance(message.news, QueryResult):
                message.collector.add(message.news)

    def _wanting(self, row: int) -> list[int]:
        """Return the indexes of the runs that lack the query at *row* and have not failed."""
        return [
            place
            for place, collector in enumerate(self._collectors)
            if collector.wants(row) and not collector.failed
        ]

    def _new_group(self) -> WorkerGroup:
        def member(collector: RunCollector) -> GroupEngine:
            return collector.group_engine(
                lambda *news: self._messages.put(_WorkerMessage(collector, news))
            )

        group = WorkerGroup(
            list(map(member, self._collectors)), self._dataset, self._settings, timed=False
        )
        self._groups.append(group)
        return group

    def _work(self, group: WorkerGroup) -> None:
        try:
            for part in self._next_parts():
                self._run_part(group, part)
        except BaseException as error:  # noqa: BLE001 - raised again by the caller's thread
            self._messages.put(error)
        finally:
            group.close()
            self._messages.put(None)

    def _next_parts(self) -> Iterator[list[SnapshotQueries]]:
        """Yield parts that no other thread has result, until it is time to stop."""
        # Not checked before: another thread may take the last one.
        with suppress(IndexError):
            while not self._stop.is_set():
                yield self._parts.popleft()

    def _run_part(self, group: WorkerGroup, part: Sequence[SnapshotQueries]) -> None:
        group.set_plan(part)
        for snapshot in part:
            for row, after in zip_longest(snapshot.rows, snapshot.rows[1:]):
                wanting = self._wanting(row)
                if self._stop.is_set() or not wanting:
                    continue
                then = after if after is not None and self._wanting(after) == wanting else None
                for place, result in group.search(snapshot, row, wanting, then):
                    if not self._interrupted:
                        self._messages.put(_WorkerMessage(self._collectors[place], result))

    def _end(self, threads: Sequence[threading.Thread]) -> None:
        """Wait for the threads; those with a running query are interrupted."""
        if any(thread.is_alive() for thread in threads):
            self._interrupted = True
            self._stop.set()
        while alive := [thread for thread in threads if thread.is_alive()]:
            for group in self._groups:
                group.interrupt()
            alive[0].join(JOIN_S)


def measure_latency(
    configurations: Sequence[Configuration],
    dataset: Dataset,
    snapshots: Sequence[SnapshotQueries],
    *,
    settings: RunSettings | None = None,
    callbacks: Callbacks | None = None,
    announcements: Path | None = None,
) -> list[RunResult]:
    """Return the run and the timings of each configuration.

    The engines run each query in turn, in a random order, so that a machine that slows down slows
    all of them; only one searches at a time. It waits for the karat runs that were announced
    earlier, in the folder *announcements*, unless the callbacks say not to wait. The timings say
    whether it was alone. Engines that can share an index run in one process, but each does all of
    its search itself. After a cancel or Ctrl-C the results so far are returned; the notes of a run
    have its status: completed, cancelled or failed.
    """
    settings, callbacks = settings or RunSettings(), callbacks or Callbacks()
    collectors = [
        RunCollector(configuration, dataset, snapshots, settings=settings, callbacks=callbacks)
        for configuration in configurations
    ]
    load = _load()
    turn = Turn()

    def waiting(holders: Sequence[Holder]) -> None:
        for collector in collectors:
            collector.report("waiting", {"holders": holders_json(holders)})

    try:
        with measure_alone(
            callbacks.command,
            waiting=waiting,
            cancelled=callbacks.cancelled,
            wait=callbacks.wait,
            folder=announcements,
        ) as turn:
            runs = _timed_runs(collectors, dataset, snapshots, settings=settings)
            with freeze_heap():
                _take_turns(runs, snapshots, settings, callbacks)
    except KeyboardInterrupt:
        pass
    done = [collector.measured(timed=True, alone=turn.alone) for collector in collectors]
    return [replace(one, notes={**one.notes, "load": load}) for one in done]


class _TimedRun(NamedTuple):
    """The collector of a run, its worker group, and the index of its engine in the group."""

    collector: RunCollector
    group: WorkerGroup
    place: int


def _timed_runs(
    collectors: Sequence[RunCollector],
    dataset: Dataset,
    snapshots: Sequence[SnapshotQueries],
    *,
    settings: RunSettings,
) -> list[_TimedRun]:
    of = {collector.configuration.name: collector for collector in collectors}
    runs = {}
    for alike in group_configurations([collector.configuration for collector in collectors]):
        engines = [of[configuration.name].group_engine() for configuration in alike]
        group = WorkerGroup(engines, dataset, settings, timed=True)
        group.set_plan(snapshots)
        for place, configuration in enumerate(alike):
            runs[configuration.name] = _TimedRun(of[configuration.name], group, place)
    return [runs[collector.configuration.name] for collector in collectors]


def _take_turns(
    runs: Sequence[_TimedRun],
    snapshots: Sequence[SnapshotQueries],
    settings: RunSettings,
    callbacks: Callbacks,
) -> None:
    try:
        for run in runs:
            run.collector.report("started", {"pass": "timing"})
        for (collector, group, place), snapshot, row in _turns(runs, snapshots, settings.seed):
            if callbacks.cancelled():
                break
            if not collector.failed:
                for _, result in group.search(snapshot, row, [place]):
                    collector.add(result)
    finally:
        for run in runs:
            run.group.close()


def _turns(
    runs: Sequence[_TimedRun], snapshots: Sequence[SnapshotQueries], seed: int
) -> Iterator[tuple[_TimedRun, SnapshotQueries, int]]:
    """Yield which run gets which query, snapshot by snapshot; every run gets a query in turn."""
    chance = Random(f"{seed} turns")
    for snapshot in snapshots:
        for row in snapshot.rows:
            turns = [run for run in runs if run.collector.wants(row)]
            chance.shuffle(turns)
            for run in turns:
                yield run, snapshot, row


def _load() -> float | None:
    """Return the load average of the last minute; None where the system has none."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None
