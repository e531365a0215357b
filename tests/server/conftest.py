"""Services to ask: one for this machine only, and one that others can reach."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from threading import Event, Thread

import pytest

pytest.importorskip("fastapi")

import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from karat.app.tokens import create_token
from karat.server.app import create_app
from karat.server.job_kinds import HANDLERS
from karat.server.jobs import perform
from karat.server.run import Server
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


@pytest.fixture(scope="session")
def do_jobs() -> Callable[[Settings], None]:
    """Return what does all jobs that are waiting at a service, as a worker would."""

    def do(settings: Settings) -> None:
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
def work(settings: Settings, do_jobs: Callable[[Settings], None]) -> Callable[[], None]:
    """Return what does all jobs that are waiting."""
    return lambda: do_jobs(settings)


@pytest.fixture(scope="session")
def listening() -> Callable[[FastAPI], AbstractContextManager[str]]:
    """Return what lets a service really listen, in a thread, and gives its address."""

    @contextmanager
    def listen(app: FastAPI) -> Iterator[str]:
        ready: Queue[str] = Queue()
        config = uvicorn.Config(app, port=0, log_config=None, timeout_graceful_shutdown=1)
        server = Server(config, ready.put)
        thread = Thread(target=server.run, name="service", daemon=True)
        thread.start()
        try:
            yield ready.get(timeout=60)
        finally:
            server.should_exit = True
            thread.join(60)

    return listen


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
