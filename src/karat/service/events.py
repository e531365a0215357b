"""The stream of events, read once by each process and handed to everybody who follows it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from karat.errors import KaratError
from karat.service.api.schemas.events import JobProgress
from karat.service.jobs.collection import INDEX_EVENT, RESOLVE_EVENT
from karat.service.jobs.progress import EVENT, standing
from karat.service.store import Benchmark, Job, JobKind, ServiceEvent, ServiceStore
from karat.service.store.events import Events

__all__ = ["ENDS", "EventFilter", "Hub", "is_end", "tell_end", "tell_outcome"]

logger = logging.getLogger("karat.events")

# The statuses in which nothing more happens by itself.
ENDS = frozenset({"completed", "failed", "cancelled"})
POLL_S = 0.2
AWAY_S = 1.0
KEPT = timedelta(days=30)
PAGE = 500
# Who falls back further reads the stream from the store again.
MOST_WAITING = 200


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Whose events are meant: those of an *operation*, or of a *subject* in all operations."""

    operation: str | None = None
    subject: str | None = None

    def has(self, event: ServiceEvent) -> bool:
        """Return whether *event* is one of them."""
        return self.operation in (None, event.operation) and self.subject in (None, event.subject)


@dataclass(slots=True)
class _Follower:
    """Somebody who waits for events: *news* are those not taken yet, *lags* says some are lost."""

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


class Hub:
    """Looks for new events once for all followers; *heard* is told of each, once a process."""

    def __init__(
        self, events: Events, *, heard: Callable[[ServiceEvent], None] = lambda _: None
    ) -> None:
        """Read *events*; nothing is read before :meth:`run`."""
        self._events = events
        self._heard = heard
        self._followers: list[_Follower] = []
        self._closed = False

    @property
    def followers(self) -> int:
        """Return how many follow the stream now."""
        return len(self._followers)

    async def run(self) -> None:
        """Hand out what is new until the hub is closed; what is very old is removed."""
        last: int | None = None
        while not self._closed:
            try:
                if last is None:
                    last = await asyncio.to_thread(self._begin)
                found = await asyncio.to_thread(self._events.after, last, limit=PAGE)
            except KaratError:
                # The database may come back.
                logger.exception("no event could be read")
                await asyncio.sleep(AWAY_S)
                continue
            for event in found:
                last = event.id
                self._heard(event)
                for follower in self._followers:
                    if follower.followed.has(event):
                        follower.give(event)
            if len(found) < PAGE:
                await asyncio.sleep(POLL_S)

    def close(self) -> None:
        """Let every stream come to its end."""
        self._closed = True
        for follower in self._followers:
            follower.give(None)

    async def follow(self, followed: EventFilter, *, after: int = 0) -> AsyncIterator[ServiceEvent]:
        """Yield every event behind the one with the id *after*: those kept, then each as it comes.

        It ends with the hub, and with an event that says that its subject has ended; whoever
        starts that once more begins another stream.
        """
        with self._following(followed) as follower:
            last, ended = after, False
            while not self._closed:
                follower.lags = False
                for event in await self._kept(followed, last):
                    yield event
                    last, ended = event.id, is_end(event)
                while not (ended or follower.lags or self._closed):
                    news = await follower.news.get()
                    if news is not None and news.id > last:
                        yield news
                        last, ended = news.id, is_end(news)
                if ended:
                    return

    def _begin(self) -> int:
        """Remove what is very old, and return the last event that is no news."""
        self._events.drop_older(KEPT)
        return self._events.last()

    async def _kept(self, followed: EventFilter, after: int) -> list[ServiceEvent]:
        def read() -> list[ServiceEvent]:
            found: list[ServiceEvent] = []
            last = after
            while page := self._events.after(
                last, operation=followed.operation, subject=followed.subject, limit=PAGE
            ):
                found += page
                last = page[-1].id
            return found

        return await asyncio.to_thread(read)

    @contextmanager
    def _following(self, followed: EventFilter) -> Iterator[_Follower]:
        follower = _Follower(followed)
        self._followers.append(follower)
        try:
            yield follower
        finally:
            self._followers.remove(follower)


def is_end(event: ServiceEvent) -> bool:
    """Return whether nothing more happens to the subject of *event* by itself."""
    return event.data.get("status") in ENDS


EVENTS = {JobKind.INDEX: INDEX_EVENT, JobKind.RESOLVE: RESOLVE_EVENT}


def tell_end(store: ServiceStore, followed: EventFilter) -> None:
    """Tell that *followed* has ended, if it has and its stream does not say so.

    UnknownName where what it was about is there no more.
    """
    newest = store.events.newest(operation=followed.operation, subject=followed.subject)
    if newest is not None and is_end(newest):
        return
    if followed.operation is not None:
        job = store.jobs.get(followed.operation)
        if job.status.ended:
            _tell_job(store, job)
    elif followed.subject is not None:
        benchmark = store.benchmarks.get(followed.subject)
        # The worker tells the end before its job has ended.
        working = benchmark.operation and not store.jobs.get(benchmark.operation).status.ended
        if benchmark.status in ENDS and not working:
            tell_outcome(store, benchmark)


def tell_outcome(store: ServiceStore, benchmark: Benchmark) -> None:
    """Tell how *benchmark* has ended; one that was never started is its own operation."""
    data = standing(benchmark, benchmark.status)
    store.events.add(benchmark.operation or benchmark.id, benchmark.id, EVENT, data)


def _tell_job(store: ServiceStore, job: Job) -> None:
    status = job.status.value
    if job.kind is JobKind.BENCHMARK:
        benchmark = store.benchmarks.get(job.subject)
        if benchmark.operation != job.id or benchmark.status not in ENDS:
            # Started once more since, it stands elsewhere now.
            benchmark = replace(benchmark, operation=job.id, status=status)
        tell_outcome(store, benchmark)
        return
    data = JobProgress(
        subject_id=job.subject,
        status=status,
        stage=status,
        done=0,
        total=0,
        error_message=job.error or None,
    )
    store.events.add(job.id, job.subject, EVENTS[job.kind], data.model_dump(mode="json"))
