"""Measure the latency of an engine under load, at several rates of queries.

Requests start by a schedule, whether or not earlier ones have ended, and a latency counts from
when its request was due. Sending one after the other instead would hide the waiting time of
queries behind a slow one (coordinated omission).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import replace
from itertools import cycle
from math import inf, isfinite
from pathlib import Path
from random import Random
from time import perf_counter, sleep
from typing import NamedTuple

from karat.corpus import Corpus, FileSelection
from karat.engines.base import Engine, Progress
from karat.engines.spec import build, parse_spec
from karat.errors import EngineError, InputError
from karat.experiments.workers import Configuration, Holder, Source
from karat.experiments.workers.announcements import measure_alone
from karat.experiments.workers.sources import EVERYTHING, Opener, corpus_source, load_corpus
from karat.model import Dataset
from karat.model.spec import Spec
from karat.report.table import Cell, Column, Table, milliseconds, number
from karat.scoring.stats.moments import interpolate, least_values

THREADS = 256
DRAIN_S = 30.0
# If queries were sent later than this, Karat itself was the bottleneck.
LATE_MS = 10.0


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
            wait_for([future for _, future in sent], drain_s)
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
    latencies = sorted(one.ended - one.due for one in sent if not one.error)
    late = sorted(one.sent - one.due for one in sent)

    def at(point: float) -> float | None:
        enough = len(latencies) >= least_values(point)
        latency = interpolate(latencies, point) if enough else inf
        # Between an answer and none, the percentile is as unknown as none.
        return latency * 1000 if isfinite(latency) else None

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


def load_table(points: Sequence[LoadPoint], *, engine: str, seconds: float) -> Table:
    """Return the table of *points*, each offered for *seconds*."""
    headings = ("offered/s", "answered/s", "p50 ms", "p90 ms", "p99 ms", "errors", "no answer")
    rows = tuple(
        (
            Cell(f"{point.rate:g}", point.rate),
            number(point.answered_per_s, digits=1),
            *(number(ms, digits=1) for ms in (point.p50_ms, point.p90_ms, point.p99_ms)),
            Cell(str(point.errors), point.errors),
            Cell(str(point.unanswered), point.unanswered),
        )
        for point in points
    )
    notes = [
        f"each rate lasts {seconds:g} s; latency is measured from the time when a query was due, "
        "so it includes the time in the queue"
    ]
    if any(point.disturbed for point in points):
        notes.append("disturbed: another karat run was active at the same time; repeat")
    late = [point for point in points if point.late_ms > LATE_MS]
    if late:
        rates = ", ".join(f"{point.rate:g}" for point in late)
        worst = max(point.late_ms for point in late)
        notes.append(
            f"Karat could not send {rates} queries per second: some were {worst:.0f} ms late"
        )
    columns = tuple(Column(heading, numeric=True) for heading in headings)
    return Table(
        f"{engine} under load",
        columns,
        rows,
        notes=tuple(notes),
        conclusion=load_verdict(points, engine),
    )


def load_verdict(points: Sequence[LoadPoint], engine: str) -> str:
    """Return the highest rate at which every query was answered, and what failed above it.

    Rates that Karat could not offer do not count.

    >>> calm = LoadPoint(5, 10, 10, 0, 0, 5.0, 1.0, 2.0, None, 0.0)
    >>> load_verdict([calm], "bm25")
    'bm25 answers 5 queries per second, half of them within 1.00 ms.'
    >>> load_verdict([LoadPoint(50, 100, 90, 3, 7, 45.0, 9.0, None, None, 0.0)], "bm25")
    'bm25: at 50 per second 10 of 100 fail.'
    """
    failed = [each for each in points if each.errors + each.unanswered]
    kept = [each for each in points if each not in failed and each.late_ms <= LATE_MS]
    parts = []
    if best := max(kept, key=lambda each: each.rate, default=None):
        time = milliseconds(best.p50_ms).text
        parts.append(
            f"{engine} answers {best.rate:g} queries per second, half of them within {time} ms"
        )
    if worst := min(failed, key=lambda each: each.rate, default=None):
        lost = worst.errors + worst.unanswered
        who = "" if parts else f"{engine}: "
        parts.append(f"{who}at {worst.rate:g} per second {lost:,} of {worst.sent:,} fail")
    return f"{'; '.join(parts)}." if parts else ""


def under_load(
    gold: Dataset,
    engine: Spec | str | Mapping[str, object],
    place: str,
    *,
    revision: str | None = None,
    selection: FileSelection = EVERYTHING,
    rates: Sequence[float],
    seconds: float,
    k: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
    reached: Callable[[LoadPoint], None] = lambda _: None,
    waiting: Callable[[Sequence[Holder]], None] = lambda _: None,
    opened: Callable[[Corpus], None] = lambda _: None,
    wait: bool = True,
) -> list[LoadPoint]:
    """Return the latencies of the queries of *gold* at each of *rates*, for *seconds* each.

    They are sent in random order (*seed*), again and again. *progress* receives how many texts are
    embedded before that; *reached* is called with each rate when it is done. Other karat runs are
    waited for, which *waiting* receives, unless *wait* is False. *opened* receives the corpus
    before the engine is started.
    """
    queries = [text for text in gold.texts if text.strip()]
    if not queries:
        raise InputError(f"{gold.name}: no query has a text")
    Random(f"{seed} load").shuffle(queries)
    spec = engine if isinstance(engine, Spec) else parse_spec(engine)
    source = corpus_source(place, revision=revision)
    opened(load_corpus(place, revision=revision, selection=selection))
    return measure_load(
        Configuration(spec.name, spec, k),
        replace(source, selection=selection),
        queries,
        rates=rates,
        seconds=seconds,
        seed=seed,
        progress=progress,
        reached=reached,
        waiting=waiting,
        wait=wait,
    )
