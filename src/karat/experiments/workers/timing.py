"""Measure latency: engines take turns, while nothing else runs."""

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

from karat.experiments.workers.announcements import (
    Holder,
    Turn,
    holders_json,
    measure_alone,
)
from karat.experiments.workers.engine_worker import WorkerGroup
from karat.experiments.workers.plan import (
    Configuration,
    QueryTexts,
    RunSettings,
    SnapshotQueries,
    group_configurations,
)
from karat.experiments.workers.run_collector import (
    Callbacks,
    RunCollector,
)
from karat.model import Dataset
from karat.model.timings import RunResult

__all__ = ["freeze_heap", "measure_latency"]


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
        group = WorkerGroup(engines, QueryTexts.of(dataset), settings, timed=True)
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
