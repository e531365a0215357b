"""What every route may need: the settings, the store, who asks. One object per process."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from fastapi import Depends, HTTPException, Request

from karat.server.metrics import Metrics
from karat.server.settings import Settings
from karat.store.service import ServiceStore

__all__ = ["Asking", "Caller", "Paging", "Service", "Serving"]

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

    settings: Settings
    store: ServiceStore
    metrics: Metrics

    def check_quota(self, caller: Caller) -> None:
        """Raise 429 where *caller* has as many unfinished jobs as a token may have."""
        most = self.settings.limits.active_jobs
        if caller.token and self.store.jobs.active(caller.owner) >= most:
            raise HTTPException(429, f"{most} jobs are not finished yet; wait for one of them")

    @property
    def uploads(self) -> Path:
        """Return the folder of unpacked archives, each in a folder by the id of its collection."""
        return self.settings.data / "collections"


def _serving(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _asking(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


Serving = Annotated[Service, Depends(_serving)]
Asking = Annotated[Caller, Depends(_asking)]


class Paging(NamedTuple):
    """Which part of a list is asked for, counted from page 1."""

    page: int
    per_page: int

    @property
    def offset(self) -> int:
        """Return how many items come before."""
        return (self.page - 1) * self.per_page
