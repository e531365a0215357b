"""What every route may need: the settings, the store, who asks. One object per process."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, NamedTuple, TypedDict

from fastapi import Depends, Request

from karat.errors import TooManyJobs
from karat.model import Dataset
from karat.service.api.schemas.base import Page, PerPage
from karat.service.events import Hub
from karat.service.observability.correlation import correlation_id
from karat.service.observability.metrics import Metrics
from karat.service.searchers import Searchers
from karat.service.settings import ServiceSettings
from karat.service.statistics.analyst import Analyst, Answers
from karat.service.store import Job, JobKind, ServiceStore

__all__ = ["LOCAL", "Asking", "Caller", "Paged", "Paging", "Service", "Serving"]

LOCAL = "local"


class Caller(NamedTuple):
    """Who asks; *token* is "" for somebody at this machine who needs none."""

    owner: str
    scopes: tuple[str, ...]
    token: str = ""

    @property
    def sees(self) -> str | None:
        """Return whose things they may see; None is everybody's."""
        return None if "admin" in self.scopes else self.owner


@dataclass(frozen=True, slots=True)
class Service:
    """The service as it runs."""

    settings: ServiceSettings
    store: ServiceStore
    metrics: Metrics
    searchers: Searchers
    hub: Hub
    analyst: Analyst
    # A process of its own: nobody who judges waits for the statistics of somebody else.
    judging: Analyst
    answers: Answers = field(default_factory=Answers)

    def gold(self, digest: str) -> Dataset:
        """Return a gold set by its digest; the last ones asked for are at hand."""
        return _gold(self.store, digest)

    def lets_in(self, caller: Caller) -> bool:
        """Return whether *caller* may still ask: a token ends while a stream is open."""
        return not caller.token or self.store.tokens.opens(caller.token)

    def most_jobs(self, caller: Caller) -> int | None:
        """Return how many unfinished jobs *caller* may have; None is any number."""
        return self.settings.limits.active_jobs if caller.token else None

    def begin(self, kind: JobKind, subject: str, caller: Caller) -> Job:
        """Queue work on *subject* for *caller*; TooManyJobs where there is no room for it."""
        return self.store.jobs.add(
            kind,
            subject,
            owner=caller.owner,
            correlation=correlation_id(),
            most=self.most_jobs(caller),
        )

    def check_quota(self, caller: Caller) -> None:
        """Raise TooManyJobs ahead of work that would be in vain; the store has the last word."""
        most = self.most_jobs(caller)
        if most is not None and self.store.jobs.active(caller.owner) >= most:
            raise TooManyJobs(most)


# A gold set never changes, and a large one takes a second to read.
@lru_cache(maxsize=8)
def _gold(store: ServiceStore, digest: str) -> Dataset:
    return store.datasets.gold(digest)


# They do nothing that takes time; what is not async would be handed to a thread and back.
async def _serving(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _asking(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


Serving = Annotated[Service, Depends(_serving)]
Asking = Annotated[Caller, Depends(_asking)]


class Paging(NamedTuple):
    """Which part of a list is asked for, counted from page 1."""

    page: int
    per_page: int

    @property
    def part(self) -> "PageRange":
        """Return how a store is asked for it."""
        return {"limit": self.per_page, "offset": (self.page - 1) * self.per_page}


class PageRange(TypedDict):
    """How many items, after how many."""

    limit: int
    offset: int


async def _paging(page: Page = 1, per_page: PerPage = 50) -> Paging:
    return Paging(page, per_page)


Paged = Annotated[Paging, Depends(_paging)]
