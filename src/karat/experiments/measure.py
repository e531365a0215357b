"""Measure the hits of engine groups: announced, with the queries divided by an executor."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from karat.experiments.executors.base import CompleteGroup, Executor, QualityPass
from karat.experiments.executors.local import LocalExecutor
from karat.experiments.workers import (
    QUALITY,
    Callbacks,
    Group,
    RunSettings,
    SnapshotQueries,
    announce,
)
from karat.experiments.workers.timing import freeze_heap
from karat.model import Dataset
from karat.model.timings import RunResult


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
    complete = measure_groups(
        groups,
        dataset,
        snapshots,
        executor=executor,
        settings=settings,
        callbacks=callbacks,
        announcements=announcements,
    )
    return [run for group in sorted(complete) for run in group.runs]


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
    return alone. *executor* divides the queries of all groups, by default to one worker of this
    machine, neighbouring snapshots to the same one; the hits do not depend on it. After a cancel or
    Ctrl-C the results so far are returned; the notes of a run have its status. The run is announced
    in the folder *announcements*, so that runs that measure latency see it; it never waits.
    """
    callbacks = callbacks or Callbacks()
    hits = QualityPass(groups, dataset, snapshots, settings=settings, callbacks=callbacks)
    try:
        if not callbacks.cancelled():
            with announce(callbacks.command, announcements), freeze_heap():
                for collectors in hits.collectors:
                    for collector in collectors:
                        collector.report("started", {"pass": "quality"})
                for group, collectors in enumerate(hits.collectors):
                    if not any(collector.total for collector in collectors):
                        yield hits.complete(group)
                if hits.left:
                    yield from (executor or LocalExecutor()).collect(hits)
    except KeyboardInterrupt:
        pass
    for group in list(hits.left):
        yield hits.complete(group)
