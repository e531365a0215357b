"""Services to ask: one for this machine only, and one that others can reach."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from typing import NamedTuple

import pytest

pytest.importorskip("fastapi")

import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from karat.extensions.service.analysts import pool as analyst_pool
from karat.extensions.service.analysts.analyst import answers
from karat.extensions.service.api.app import create_app
from karat.extensions.service.jobs.job import load_handlers, perform
from karat.extensions.service.run import Server
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from karat.extensions.service.store.service import create_token
from karat.system.processes import Message

ROOT = Path(__file__).resolve().parents[3]
# How long anything may take that ends by itself, on however slow a machine.
PATIENCE_S = 300.0


@pytest.fixture
def settings(tmp_path: Path) -> ServiceSettings:
    """Return settings of a service on the loopback, with a folder for collections."""
    root = tmp_path / "root"
    root.mkdir()
    return ServiceSettings(
        store=str(tmp_path / "karat.db"), data=tmp_path / "data", roots=(root,), warm_up=False
    )


class LocalAnalyst:
    """An analyst in this process, for tests that do not need a process of their own."""

    pid = 0

    def __init__(self) -> None:
        self._requests: deque[Message] = deque()
        self._answers = answers(iter(self._requests.popleft, None))
        self._body = b""

    def request(self, message: Message, _timeout_s: float) -> Message:
        self._requests.append(message)
        answer = next(self._answers)
        if "body" in answer:
            self._body = answer["body"]
            answer = {**answer, "body": len(self._body)}
        return answer

    def receive_bytes(self, _count: int, _deadline: float) -> bytes:
        return self._body

    def close_input(self) -> None:
        pass

    def close(self) -> None:
        self._answers.close()


@pytest.fixture(autouse=True)
def analysts_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute analyses in this process; a process takes a second to start."""
    monkeypatch.setattr(analyst_pool, "start_analyst", LocalAnalyst)


@pytest.fixture
def private(settings: ServiceSettings) -> None:
    """Let each token of the service see only what its owner has."""
    with ServiceStore(settings.store) as store:
        store.settings.sharing(asked=False)


@pytest.fixture
def client(settings: ServiceSettings) -> Iterator[TestClient]:
    """Return a client at the same machine, who needs no token."""
    with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
        yield client


@pytest.fixture(scope="session")
def do_jobs() -> Callable[[ServiceSettings], None]:
    """Return what does all jobs that are waiting at a service, as a worker would."""

    def do(settings: ServiceSettings) -> None:
        with ServiceStore(settings.store) as store:
            while job := store.jobs.claim("test"):
                perform(
                    job,
                    "test",
                    store=store,
                    settings=settings,
                    handlers=load_handlers(),
                    stopping=Event(),
                )

    return do


@pytest.fixture
def work(
    settings: ServiceSettings, do_jobs: Callable[[ServiceSettings], None]
) -> Callable[[], None]:
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
            yield ready.get(timeout=PATIENCE_S)
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)
            assert not thread.is_alive(), "the service did not stop"

    return listen


@pytest.fixture
def token(settings: ServiceSettings) -> Callable[..., str]:
    """Return what makes a token and gives its secret back."""

    def make(owner: str = "ada", *, scope: str = "run", days: int = 1) -> str:
        with ServiceStore(settings.store) as store:
            issued = create_token(
                store.tokens, owner, scope=scope, days=days, now=datetime.now(UTC)
            )
        return issued.secret

    return make


class Served(NamedTuple):
    """A service as a process, and where it answers."""

    process: "subprocess.Popen[str]"
    address: str


@contextmanager
def served(
    folder: Path,
    *options: str,
    end: signal.Signals = signal.SIGTERM,
    karat: Sequence[str] = (sys.executable, "-m", "karat"),
    environment: Mapping[str, str] = os.environ,
) -> Iterator[Served]:
    """Start a service with a worker, each a process, as a user would; in the end none is left.

    What it keeps is in *folder*, its cache included: while times are taken there, no other service
    has to wait. *end* is how it is told to stop, *karat* the command that starts it.
    """
    command = [*karat, "serve", "--port", "0", *options]
    with (
        (folder / "log").open("a", encoding="utf-8") as log,
        subprocess.Popen(
            command,
            cwd=folder,
            env={**environment, "KARAT_CACHE": str(folder / "cache")},
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stderr is not None
        for line in process.stderr:
            if announced := re.search(r"Karat is running at (\S+)", line):
                break
        else:
            pytest.fail("the service did not start")
        # What it logs must go somewhere, or it would wait.
        drain = Thread(target=shutil.copyfileobj, args=(process.stderr, log), daemon=True)
        drain.start()
        try:
            yield Served(process, announced[1])
        finally:
            process.send_signal(end)
            # Its workers log to the same pipe, which ends with the last of them.
            drain.join(PATIENCE_S)
            assert not drain.is_alive(), "a process of the service is left"


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a service that may read the project."""
    with served(tmp_path_factory.mktemp("started"), "--root", str(ROOT)) as service:
        yield service.address
