"""State that routes share: settings, store, caller, page ranges, and responses that are kept."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, TypedDict
from uuid import UUID

from fastapi import Depends, Header, Request, Response

from karat.errors import TooManyJobs
from karat.extensions.service.analysts.pool import AnalystPool
from karat.extensions.service.analysts.warm_up import SearchWarmUp
from karat.extensions.service.collections import SearcherCache
from karat.extensions.service.events import EventBus
from karat.extensions.service.logs import correlation_id
from karat.extensions.service.metrics import ServiceMetrics
from karat.extensions.service.recent import RecentValues
from karat.extensions.service.results import results_key
from karat.extensions.service.schemas.base import Page, PerPage
from karat.extensions.service.settings import DiskSpace, ServiceSettings
from karat.extensions.service.store import Benchmark, Job, ServiceStore
from karat.model import Dataset

MAX_RESPONSES = 64
LOCAL = "local"


class ResponseCache:
    """An LRU cache of JSON responses; concurrent requests for one key share one computation."""

    def __init__(self, *, max_entries: int = MAX_RESPONSES) -> None:
        """Start empty."""
        self._tasks = RecentValues[str, asyncio.Task[bytes]](max_entries)

    async def get(
        self, key: str, make: Callable[[], Awaitable[bytes]], *, keep: bool = True
    ) -> bytes:
        """Return the response for *key*, made by *make* on a cache miss.

        An error is raised to every request that waits for it, and is not cached. Without *keep*
        only requests that wait at the same time share the response.
        """
        task = self._tasks.get(key, lambda: asyncio.create_task(_made(make)))
        try:
            # A client that disconnects must not cancel the work for the others.
            body = await asyncio.shield(task)
        except Exception:
            self._tasks.forget(key, task)
            raise
        if not keep:
            self._tasks.forget(key, task)
        return body


async def _made(make: Callable[[], Awaitable[bytes]]) -> bytes:
    return await make()


class Caller(NamedTuple):
    """The owner of a request; *token* is "" for a local request that needs none.

    Where *shared*, the owners see what all of them have.
    """

    owner: str
    scopes: tuple[str, ...]
    token: str = ""
    shared: bool = False

    @property
    def share(self) -> str:
        """Return the owner whose share of the analysts a request uses; "" for none."""
        return self.owner if self.token else ""

    @property
    def sees(self) -> str | None:
        """Return the owner whose resources are visible; None for all owners."""
        return None if self.shared or "admin" in self.scopes else self.owner


@dataclass(frozen=True, slots=True)
class Service:
    """The service as it runs."""

    settings: ServiceSettings
    store: ServiceStore
    metrics: ServiceMetrics
    searchers: SearcherCache
    event_bus: EventBus
    analysts: AnalystPool
    warm_up: SearchWarmUp | None
    disk: DiskSpace
    shared: bool = False
    responses: ResponseCache = field(default_factory=ResponseCache)

    def gold(self, digest: str) -> Dataset:
        """Return a dataset by its digest, from an LRU cache."""
        return _gold(self.store, digest)

    def lets_in(self, caller: Caller) -> bool:
        """Return whether the token of *caller* is still valid; it may expire during a stream."""
        return not caller.token or self.store.tokens.opens(caller.token)

    def most_jobs(self, caller: Caller) -> int | None:
        """Return how many unfinished jobs *caller* may have; None is any number."""
        return self.settings.limits.active_jobs if caller.token else None

    def own(self, caller: Caller) -> str | None:
        """Return the owner whose example is that of *caller*; None for that of everybody."""
        return None if self.shared else caller.owner

    def begin(self, kind: str, subject: str, caller: Caller) -> Job:
        """Queue work on *subject* for *caller*; TooManyJobs where there is no room for it."""
        return self.store.jobs.add(
            kind,
            subject,
            owner=caller.owner,
            correlation=correlation_id(),
            most=self.most_jobs(caller),
        )

    def check_quota(self, caller: Caller) -> None:
        """Raise TooManyJobs before work that would be rejected; the store checks it again."""
        most = self.most_jobs(caller)
        if most is not None and self.store.jobs.active(caller.owner) >= most:
            raise TooManyJobs(most)


# A gold set never changes, and a large one takes a second to read.
@lru_cache(maxsize=8)
def _gold(store: ServiceStore, digest: str) -> Dataset:
    return store.datasets.gold(digest)


# Async although they do not wait: FastAPI would run plain functions in a thread.
async def _serving(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _asking(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


CurrentService = Annotated[Service, Depends(_serving)]
CurrentCaller = Annotated[Caller, Depends(_asking)]


class Paging(NamedTuple):
    """The requested page of a list, from 1."""

    page: int
    per_page: int

    @property
    def part(self) -> "PageRange":
        """Return the same as limit and offset."""
        return {"limit": self.per_page, "offset": (self.page - 1) * self.per_page}


class PageRange(TypedDict):
    """How many items, after how many."""

    limit: int
    offset: int


async def _paging(page: Page = 1, per_page: PerPage = 50) -> Paging:
    return Paging(page, per_page)


RequestedPage = Annotated[Paging, Depends(_paging)]


NOT_MODIFIED: dict[int | str, dict[str, Any]] = {
    304: {"description": "Nothing has changed since the version in If-None-Match"}
}
# Clients may cache it, but must revalidate it.
REVALIDATED = "private, no-cache"

KnownVersions = Annotated[str | None, Header(alias="If-None-Match", max_length=1000)]


@dataclass(frozen=True, slots=True)
class VersionedBenchmark:
    """A benchmark, with a *key* that changes whenever its results may have changed.

    *seen* are the versions that the client has cached, *share* is :attr:`Caller.share`.
    """

    benchmark: Benchmark
    key: str
    seen: str | None
    share: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """Return the version as HTTP headers."""
        return {"ETag": f'"{self.key[:32]}"', "Cache-Control": REVALIDATED}

    @property
    def is_seen(self) -> bool:
        """Return whether the client has this version."""
        known = {each.strip().removeprefix("W/") for each in (self.seen or "").split(",")}
        return bool(known & {"*", self.headers["ETag"]})

    @property
    def unchanged(self) -> Response:
        """Return the response for a client that has this version."""
        return Response(status_code=304, headers=self.headers)

    async def analysed(self, serving: Service, operation: str, **arguments: object) -> Response:
        """Return the result of *operation*, computed by an analyst."""
        what = f"{operation} {arguments}"
        return await self.answered(
            serving, what, lambda: self.analysis(serving, operation, **arguments)
        )

    def analysis(self, serving: Service, operation: str, **arguments: Any) -> Awaitable[bytes]:
        """Let an analyst compute *operation*, with all that it has of the benchmark in memory."""
        benchmark = self.benchmark.id
        return serving.analysts.request(
            operation,
            subject=f"statistics {benchmark}",
            owner=self.share,
            benchmark=benchmark,
            **arguments,
        )

    async def answered(
        self, serving: Service, what: str, make: Callable[[], Awaitable[bytes]]
    ) -> Response:
        """Return the response *what* of this version, computed once, unless the client has it."""
        if self.is_seen:
            return self.unchanged
        body = await serving.responses.get(f"{self.key} {what}", make)
        return Response(body, media_type="application/json", headers=self.headers)


def find(
    serving: CurrentService,
    caller: CurrentCaller,
    benchmark_id: UUID,
    if_none_match: KnownVersions = None,
) -> VersionedBenchmark:
    """Return a benchmark with the version of its results; UnknownName for another owner's."""
    benchmark = serving.store.benchmarks.get(str(benchmark_id), owner=caller.sees)
    key = results_key(serving.store, benchmark)
    return VersionedBenchmark(benchmark, key, if_none_match, caller.share)


RequestedBenchmark = Annotated[VersionedBenchmark, Depends(find)]
