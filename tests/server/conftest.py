"""Services to ask: one for this machine only, and one that others can reach."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest

pytest.importorskip("fastapi")

from fastapi.testclient import TestClient

from karat.app.tokens import create_token
from karat.server.app import create_app
from karat.server.job_kinds import HANDLERS
from karat.server.jobs import perform
from karat.server.settings import Settings
from karat.store.service import ServiceStore


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings of a service on the loopback, with a folder for collections."""
    root = tmp_path / "root"
    root.mkdir()
    return Settings(store=str(tmp_path / "karat.db"), data=tmp_path / "data", roots=(root,))


@pytest.fixture
def client(settings: Settings) -> Iterator[TestClient]:
    """Return a client at the same machine, who needs no token."""
    with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
        yield client


@pytest.fixture
def work(settings: Settings) -> Callable[[], None]:
    """Return what does all jobs that are waiting, as a worker would."""

    def do() -> None:
        with ServiceStore(settings.store) as store:
            while job := store.jobs.claim("test"):
                perform(
                    job,
                    "test",
                    store=store,
                    settings=settings,
                    handlers=HANDLERS,
                    stopping=Event(),
                )

    return do


@pytest.fixture
def token(settings: Settings) -> Callable[..., str]:
    """Return what makes a token and gives its secret back."""

    def make(owner: str = "ada", *, scope: str = "run", days: int = 1) -> str:
        with ServiceStore(settings.store) as store:
            issued = create_token(
                store.tokens, owner, scope=scope, days=days, now=datetime.now(UTC)
            )
        return issued.secret

    return make
