"""Measure latency: engines take turns while nothing else runs, or answer queries at given rates.

Under load, requests start by a schedule, whether or not earlier ones have ended, and a latency
counts from when its request was due. Sending one after the other instead would hide the waiting
time of queries behind a slow one (coordinated omission).
"""

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import cycle
from math import inf, isfinite
from pathlib import Path
from random import Random
from time import perf_counter, sleep
from typing import NamedTuple

from karat.engines.base import Engine, Progress, SupportsClose, SupportsProgress
from karat.engines.spec import build
from karat.errors import EngineError, InputError
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
from karat.experiments.workers.sources import Opener, Source
from karat.experiments.workers.supervised_worker import WorkerGroup
from karat.model import Dataset
from karat.model.frozen import EMPTY
from karat.model.timings import RunResult

__all__ = [
    "LoadPoint",
    "TimedRun",
    "TimedTurns",
    "arrivals",
    "freeze_heap",
    "measure_latency",
    "measure_load",
]

THREADS = 256
DRAIN_S = 30.0


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
            for place, one in enumerate(alike):
                self._groups[one.name] = (group, place)

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
                group, place = self._groups[run.engine.configuration.name]
                for _, result in group.search(snapshot, row, [place]):
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


class LoadPoint(NamedTuple):
    """The latencies at *rate* queries per second.

    Percentiles are over all queries but *errors*; one without an answer within the time left
    counts as endless, and a percentile that is endless is None. *late_ms* is the 99th percentile
    of how late the queries were sent: where it is not small, Karat could not offer the rate. A
    percentile that needs more queries than there were is None as well. *disturbed* says that other
    karat runs worked meanwhile, or may have.
    """

    rate: float
    sent: int
    answered: int
    errors: int
    unanswered: int
    answered_per_s: float
    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    late_ms: float
    disturbed: bool = False


class _SentQuery(NamedTuple):
    """One query, in seconds since the first could be due; *ended* is endless without an answer."""

    due: float
    sent: float
    ended: float = inf
    error: bool = False


def measure_load(
    configuration: Configuration,
    source: Source,
    queries: Sequence[str],
    *,
    rates: Sequence[float],
    seconds: float,
    seed: int = 0,
    threads: int = THREADS,
    drain_s: float = DRAIN_S,
    progress: Progress | None = None,
    reached: Callable[[LoadPoint], None] = lambda _: None,
    waiting: Callable[[Sequence[Holder]], None] = lambda _: None,
    wait: bool = True,
    announcements: Path | None = None,
) -> list[LoadPoint]:
    """Return the latencies of *queries* at each of *rates* (per second), for *seconds* each.

    The engine runs in this process and must be safe for threads, as those behind HTTP are; more
    than *threads* queries are never under way at once, and those beyond wait their turn. Answers
    may come until *drain_s* after the last query was due. *progress* receives how many texts are
    embedded; *reached* is called with each rate when it is done. Karat runs that were announced
    earlier are waited for, which *waiting* receives; without *wait* they are not.
    """
    if not queries or not rates or min(rates) <= 0 or seconds <= 0:
        raise InputError("load needs queries, rates above 0 and a time above 0")
    engine = build(configuration.spec)
    if not engine.thread_safe:
        raise InputError(
            f"{engine.name} answers one query at a time; its latency under load cannot be measured"
        )
    if isinstance(engine, SupportsProgress):
        engine.watch(progress)
    opener = Opener()
    try:
        engine.index(opener.open(source))
        engine.search(queries[0], configuration.k)
        points = []
        with measure_alone(
            "load",
            waiting=waiting,
            cancelled=lambda: False,
            wait=wait,
            folder=announcements,
        ) as turn:
            for rate in rates:
                due = arrivals(rate, seconds, Random(f"{seed} {rate}"))
                plan = zip(due, cycle(queries), strict=False)
                service = _Service(engine, configuration.k, threads=threads)
                points.append(_point(rate, seconds, service.offer(plan, drain_s)))
                reached(points[-1])
        return [point._replace(disturbed=not turn.alone) for point in points]
    finally:
        if isinstance(engine, SupportsClose):
            engine.close()
        opener.close()


def arrivals(rate: float, seconds: float, rng: Random) -> Iterator[float]:
    """Yield when queries are due: independent of each other, *rate* a second on average.

    >>> [round(due, 2) for due in arrivals(2, 2, Random(0))]
    [0.93, 1.64, 1.91]
    """
    due = rng.expovariate(rate)
    while due < seconds:
        yield due
        due += rng.expovariate(rate)


class _Service:
    """An engine that several threads query at once."""

    def __init__(self, engine: Engine, k: int, *, threads: int) -> None:
        self._engine = engine
        self._k = k
        self._threads = threads
        self._begun = 0.0

    def offer(self, plan: Iterable[tuple[float, str]], drain_s: float) -> list[_SentQuery]:
        """Send every query of *plan* when it is due, and wait for the answers."""
        sent = []
        pool = ThreadPoolExecutor(self._threads)
        self._begun = perf_counter()
        try:
            for due, query in plan:
                sleep(max(due - self._now(), 0.0))
                one = _SentQuery(due, self._now())
                sent.append((one, pool.submit(self._search, one, query)))
            wait([future for _, future in sent], drain_s)
            ended = [future.done() for _, future in sent]
        finally:
            # Running queries must not slow down the next rate.
            pool.shutdown(cancel_futures=True)
        return [
            future.result() if in_time else one
            for (one, future), in_time in zip(sent, ended, strict=True)
        ]

    def _search(self, sent: _SentQuery, query: str) -> _SentQuery:
        try:
            self._engine.search(query, self._k)
        except EngineError as error:
            endless = isinstance(error.__cause__, TimeoutError)
            return sent if endless else sent._replace(error=True)
        return sent._replace(ended=self._now())

    def _now(self) -> float:
        return perf_counter() - self._begun


def _point(rate: float, seconds: float, sent: Sequence[_SentQuery]) -> LoadPoint:
    """Return the figures of the *sent* queries."""
    from karat.scoring.stats.moments import interpolate, least_values

    latencies = sorted(one.ended - one.due for one in sent if not one.error)
    late = sorted(one.sent - one.due for one in sent)

    def at(point: float) -> float | None:
        enough = len(latencies) >= least_values(point)
        found = interpolate(latencies, point) if enough else inf
        # Between an answer and none, the percentile is as unknown as none.
        return found * 1000 if isfinite(found) else None

    answered = sum(map(isfinite, latencies))
    ended = max((one.ended for one in sent if isfinite(one.ended)), default=seconds)
    return LoadPoint(
        rate=rate,
        sent=len(sent),
        answered=answered,
        errors=len(sent) - len(latencies),
        unanswered=len(latencies) - answered,
        answered_per_s=answered / max(seconds, ended),
        p50_ms=at(50),
        p90_ms=at(90),
        p99_ms=at(99),
        late_ms=interpolate(late, 99) * 1000 if late else 0.0,
    )
