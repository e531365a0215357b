"""Measure latency: engines take turns while nothing else runs."""

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

from karat.experiments.workers.announcements import Holder, Turn, holders_json, measure_alone
from karat.experiments.workers.plan import (
    Configuration,
    QueryTexts,
    RunSettings,
    SnapshotQueries,
    group_configurations,
)
from karat.experiments.workers.run_collector import (
    Callbacks,
    GroupEngine,
    QueryResult,
    RunCollector,
)
from karat.experiments.workers.supervised_worker import WorkerGroup
from karat.model import Dataset
from karat.model.frozen import EMPTY
from karat.model.timings import RunResult


@contextmanager
def freeze_heap() -> Iterator[None]:
    """Freeze existing objects (`gc.freeze`) while engines run.

    A garbage collection over all modules would take tens of milliseconds between two queries.
    """
    if gc.get_freeze_count():
        # Frozen by the caller, which also unfreezes.
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


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
    runs = [TimedRun(one.group_engine(), one.wants, one.add) for one in collectors]
    turns = TimedTurns(runs, QueryTexts.of(dataset), snapshots, settings)
    with suppress(KeyboardInterrupt):
        turns.take(
            callbacks.command,
            wait=callbacks.wait,
            cancelled=callbacks.cancelled,
            announcements=announcements,
        )
    done = [collector.measured(timed=True, alone=turns.alone) for collector in collectors]
    return [replace(one, notes={**one.notes, "load": turns.load}) for one in done]


class TimedRun(NamedTuple):
    """An engine whose latency is measured on the rows that it *wants*; *add* takes its results."""

    engine: GroupEngine
    wants: Callable[[int], bool]
    add: Callable[[QueryResult], None]


class TimedTurns:
    """The engines of *runs* in their own processes; they take turns, query by query.

    *load* is the load average of the machine before that. *alone* is known afterwards: whether no
    other announced run worked at the same time.
    """

    def __init__(
        self,
        runs: Sequence[TimedRun],
        queries: QueryTexts,
        snapshots: Sequence[SnapshotQueries],
        settings: RunSettings,
        environment: Mapping[str, str] = EMPTY,
    ) -> None:
        """Start no process yet; *environment* are variables that this machine may lack."""
        self._runs = runs
        self._snapshots = snapshots
        self._settings = settings
        self._groups: dict[str, tuple[WorkerGroup, int]] = {}
        self._turn = Turn()
        self.load = _load_average()
        engines = {run.engine.configuration.name: run.engine for run in runs}
        for alike in group_configurations([run.engine.configuration for run in runs]):
            members = [engines[one.name] for one in alike]
            group = WorkerGroup(members, queries, settings, timed=True, environment=environment)
            group.set_plan(snapshots)
            for member, one in enumerate(alike):
                self._groups[one.name] = (group, member)

    @property
    def alone(self) -> bool:
        """Return whether the latencies are undisturbed."""
        return self._turn.alone

    def take(
        self,
        command: str,
        *,
        wait: bool,
        cancelled: Callable[[], bool],
        announcements: Path | None = None,
    ) -> None:
        """Run all queries; with *wait*, after the karat runs that were announced earlier."""

        def waiting(holders: Sequence[Holder]) -> None:
            for run in self._runs:
                run.engine.report("waiting", {"holders": holders_json(holders)})

        def disturbed(holders: Sequence[Holder]) -> None:
            for run in self._runs:
                run.engine.report("disturbed", {"holders": holders_json(holders), "waited": wait})

        with (
            measure_alone(
                command,
                waiting=waiting,
                disturbed=disturbed,
                cancelled=cancelled,
                wait=wait,
                folder=announcements,
            ) as self._turn,
            freeze_heap(),
        ):
            try:
                self._run(cancelled)
            finally:
                self.close()

    def interrupt(self) -> None:
        """Kill the processes from another thread; the running query has no result."""
        for group, _ in self._groups.values():
            group.interrupt()

    def close(self) -> None:
        """End the processes."""
        for group, _ in self._groups.values():
            group.close()

    def _run(self, cancelled: Callable[[], bool]) -> None:
        for run in self._runs:
            run.engine.report("started", {"pass": "timing"})
        for run, snapshot, row in self._turns():
            if cancelled():
                break
            if not run.engine.usage.failed:
                group, member = self._groups[run.engine.configuration.name]
                for _, result in group.search(snapshot, row, [member]):
                    run.add(result)

    def _turns(self) -> Iterator[tuple[TimedRun, SnapshotQueries, int]]:
        """Yield which run gets which query, snapshot by snapshot; every run gets it in turn."""
        chance = Random(f"{self._settings.seed} turns")
        for snapshot in self._snapshots:
            for row in snapshot.rows:
                turns = [run for run in self._runs if run.wants(row)]
                chance.shuffle(turns)
                for run in turns:
                    yield run, snapshot, row


def _load_average() -> float | None:
    """Return the load average of the last minute; None where the system has none."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None
