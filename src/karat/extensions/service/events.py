"""The event bus: each process reads new events once and passes them to all subscribers."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from karat.errors import KaratError
from karat.experiments.store.database import log_retry
from karat.extensions.service.progress import (
    BENCHMARK_EVENT,
    COLLECTION_EVENT,
    MAPPING_EVENT,
    OPERATION_EVENT,
    job_progress,
    standing,
)
from karat.extensions.service.schemas.base import ENDED
from karat.extensions.service.store import Benchmark, Job, JobKind, ServiceEvent, ServiceStore
from karat.extensions.service.store.jobs import EventTable

logger = logging.getLogger("karat.events")

POLL_S = 0.2
AWAY_S = 1.0
RETENTION = timedelta(days=30)
PAGE = 500
# A subscriber that lags further behind reads the stream from the store again.
MOST_WAITING = 200


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Selects the events of an *operation*, or of a *subject* in all operations."""

    operation: str | None = None
    subject: str | None = None

    def has(self, event: ServiceEvent) -> bool:
        """Return whether *event* is selected."""
        return self.operation in (None, event.operation) and self.subject in (None, event.subject)


@dataclass(slots=True)
class _Subscriber:
    """A subscriber: *news* is its queue, *lags* says that the queue was full."""

    followed: EventFilter
    news: "asyncio.Queue[ServiceEvent | None]" = field(
        default_factory=lambda: asyncio.Queue(MOST_WAITING + 1)
    )
    lags: bool = False

    def give(self, event: ServiceEvent | None) -> None:
        if event is not None and self.news.qsize() >= MOST_WAITING:
            self.lags = True
        else:
            self.news.put_nowait(event)


class EventBus:
    """Polls for new events once for all subscribers; *on_event* is called with each event."""

    def __init__(
        self, events: EventTable, *, on_event: Callable[[ServiceEvent], None] = lambda _: None
    ) -> None:
        """Read *events*; nothing is read before :meth:`run`."""
        self._events = events
        self._on_event = on_event
        self._followers: list[_Subscriber] = []
        self._closed = False

    @property
    def subscribers(self) -> int:
        """Return the number of subscribers."""
        return len(self._followers)

    async def run(self) -> None:
        """Pass new events on until the bus is closed; events older than 30 days are deleted."""
        last: int | None = None
        while not self._closed:
            try:
                if last is None:
                    last = await asyncio.to_thread(self._begin)
                events = await asyncio.to_thread(self._events.after, last, limit=PAGE)
            except KaratError as error:
                # The database may come back.
                log_retry(logger, "events cannot be read", error)
                await asyncio.sleep(AWAY_S)
                continue
            for event in events:
                last = event.id
                self._on_event(event)
                for subscriber in self._followers:
                    if subscriber.followed.has(event):
                        subscriber.give(event)
            if len(events) < PAGE:
                await asyncio.sleep(POLL_S)

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        for subscriber in self._followers:
            subscriber.give(None)

    async def subscribe(
        self, followed: EventFilter, *, after: int = 0
    ) -> AsyncIterator[ServiceEvent]:
        """Yield every event behind the one with the id *after*: stored ones, then each as it comes.

        The stream ends when the bus is closed, and after the final event of its subject. A subject
        that is started again has a new stream.
        """
        with self._following(followed) as subscriber:
            last, ended = after, False
            while not self._closed:
                subscriber.lags = False
                for event in await self._stored(followed, last):
                    yield event
                    last, ended = event.id, is_end(event)
                while not (ended or subscriber.lags or self._closed):
                    news = await subscriber.news.get()
                    if news is not None and news.id > last:
                        yield news
                        last, ended = news.id, is_end(news)
                if ended:
                    return

    def _begin(self) -> int:
        """Delete old events, and return the id of the last existing event."""
        self._events.drop_older(RETENTION)
        return self._events.last()

    async def _stored(self, followed: EventFilter, after: int) -> list[ServiceEvent]:
        def read() -> list[ServiceEvent]:
            events: list[ServiceEvent] = []
            last = after
            while page := self._events.after(
                last, operation=followed.operation, subject=followed.subject, limit=PAGE
            ):
                events += page
                last = page[-1].id
            return events

        return await asyncio.to_thread(read)

    @contextmanager
    def _following(self, followed: EventFilter) -> Iterator[_Subscriber]:
        subscriber = _Subscriber(followed)
        self._followers.append(subscriber)
        try:
            yield subscriber
        finally:
            self._followers.remove(subscriber)


def is_end(event: ServiceEvent) -> bool:
    """Return whether *event* is the final one of its subject."""
    return event.data.get("status") in ENDED


EVENTS: Mapping[str, str] = {JobKind.INDEX: COLLECTION_EVENT, JobKind.RESOLVE: MAPPING_EVENT}


def report_end(store: ServiceStore, followed: EventFilter) -> None:
    """Re-emit the final event of *followed* if it is lost, so that subscribers do not wait forever.

    UnknownName where its subject was deleted.
    """
    newest = store.events.newest(operation=followed.operation, subject=followed.subject)
    if newest is not None and is_end(newest):
        return
    if followed.operation is not None:
        job = store.jobs.get(followed.operation)
        if job.status.ended:
            _report_job(store, job)
    elif followed.subject is not None:
        benchmark = store.benchmarks.get(followed.subject)
        # The worker sends the final event before its job has ended.
        working = benchmark.operation and not store.jobs.get(benchmark.operation).status.ended
        if benchmark.status in ENDED and not working:
            report_outcome(store, benchmark)


def report_outcome(store: ServiceStore, benchmark: Benchmark) -> None:
    """Send the final event of *benchmark*; without a job its operation is its own id."""
    data = standing(benchmark, benchmark.status)
    store.events.add(benchmark.operation or benchmark.id, benchmark.id, BENCHMARK_EVENT, data)


def _report_job(store: ServiceStore, job: Job) -> None:
    status = job.status.value
    if job.kind == JobKind.BENCHMARK:
        benchmark = store.benchmarks.get(job.subject)
        if benchmark.operation != job.id or benchmark.status not in ENDED:
            # It was started again since, and has another status now.
            benchmark = replace(benchmark, operation=job.id, status=status)
        report_outcome(store, benchmark)
        return
    data = job_progress(job.subject, status, status, error=job.error)
    store.events.add(job.id, job.subject, EVENTS.get(job.kind, OPERATION_EVENT), data)
