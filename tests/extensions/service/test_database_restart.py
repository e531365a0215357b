"""A PostgreSQL that stops and starts: requests say so meanwhile, and nothing is lost."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any, NoReturn
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from karat.experiments.store.database import AWAY
from karat.extensions.service.analysts.analyst import answers
from karat.extensions.service.api.app import create_app
from karat.extensions.service.jobs import loss_reasons
from karat.extensions.service.jobs.job import load_handlers, perform
from karat.extensions.service.jobs.loss_reasons import loss_request
from karat.extensions.service.jobs.worker import open_when_up, work_on
from karat.extensions.service.results import scored
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from tests.conftest import postgres_server, store_address
from tests.extensions.service.jobs.conftest import RUNS, make_benchmark

API = "/api/v2"
ROUTES = (
    "/me",
    "/benchmarks",
    "/collections",
    "/benchmark-datasets",
    f"/trend?dataset={UUID(int=1)}",
)


@pytest.fixture(scope="module")
def server(missing: Callable[[str], NoReturn]) -> Iterator[Any]:
    """Return a server that the test may stop and start again."""
    with postgres_server(missing) as server:
        yield server


@pytest.fixture
def settings(settings: ServiceSettings, server: Any, tmp_path: Path) -> ServiceSettings:
    server.psql(f"CREATE DATABASE {tmp_path.name.replace('-', '_')};")
    address = store_address(server.get_uri(database=tmp_path.name.replace("-", "_")))
    return replace(settings, store=address, roots=(tmp_path,), hosts=("karat.example",))


def restart(server: Any) -> None:
    server.stop()
    server.ensure_postgres_running()


def test_a_request_says_that_the_database_is_away(
    server: Any,
    settings: ServiceSettings,
    token: Callable[..., str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    headers = {"Authorization": f"Bearer {token()}"}
    open_to_all = replace(settings, hosts=())
    with (
        TestClient(create_app(settings), base_url="http://karat.example", headers=headers) as known,
        TestClient(create_app(open_to_all), base_url="http://localhost:8080") as local,
    ):
        before = [known.get(API + path).status_code for path in ROUTES]
        server.stop()
        try:
            for client in (known, local):
                # Who asks and what the limits are is known without the database.
                for path in ROUTES if client is known else ROUTES[1:]:
                    answer = client.get(API + path)
                    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5"), path
                    assert answer.json()["detail"].startswith("the database does not answer")
            posted = local.post(f"{API}/examples")
            assert (posted.status_code, posted.headers["Retry-After"]) == (503, "5")
            assert local.get("/readyz").json()["checks"]["database"] == "does not answer"
            assert local.get("/healthz").status_code == 200
            # A traceback would name the host and the user of the database.
            assert [record.getMessage() for record in caplog.records if record.exc_info] == []
        finally:
            server.ensure_postgres_running()
        assert [known.get(API + path).status_code for path in ROUTES] == before


def test_a_benchmark_after_a_restart_completes(
    server: Any, settings: ServiceSettings, tmp_path: Path
) -> None:
    with ServiceStore(settings.store) as store:
        for number in range(2):
            name = f"Number {number}"
            benchmark = make_benchmark(store, tmp_path / "notes", name=name)
            store.benchmarks.start(benchmark)
            do_next(store, settings)
            stored = store.benchmarks.get(benchmark)
            assert (stored.status, stored.completed_runs) == ("completed", RUNS), stored.error
            assert stored.experiment
            assert {run.error for run in store.results.show(stored.experiment).runs} == {""}
            restart(server)


def test_the_log_names_no_database_that_is_away(
    server: Any, settings: ServiceSettings, caplog: pytest.LogCaptureFixture
) -> None:
    stopping = Event()
    with ServiceStore(settings.store) as store:
        assert store.jobs.claim("test") is None
        server.stop()
        working = Thread(target=work_on, args=(store, settings), kwargs={"stopping": stopping})
        working.start()
        try:
            while not caplog.records:
                assert working.is_alive()
                stopping.wait(0.05)
        finally:
            server.ensure_postgres_running()
            stopping.set()
            working.join()
    assert {(record.getMessage(), bool(record.exc_info)) for record in caplog.records} == {
        (
            "jobs cannot be claimed; retrying: the database does not answer; try again in a moment",
            False,
        )
    }


def test_processes_wait_for_the_database(
    server: Any,
    settings: ServiceSettings,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is started while the database is away: for a worker, an analysis and loss reasons."""
    with ServiceStore(settings.store) as store:
        benchmark = make_benchmark(store, tmp_path / "notes")
        store.benchmarks.start(benchmark)
        do_next(store, settings)
        request = loss_request(settings.store, scored(store, store.benchmarks.get(benchmark)))
    context = {"store": settings.store, "roots": [], "uploads": str(tmp_path)}
    asked = {**context, "operation": "details", "arguments": {"benchmark": benchmark}}
    analyst = answers(iter([asked, asked]))

    class Returning(Event):
        """The database answers again before anybody has waited."""

        def wait(self, timeout: float | None = None) -> bool:
            server.ensure_postgres_running()
            return False

    server.stop()
    try:
        assert next(analyst) == {"error": "StoreUnavailable", "message": AWAY}
        opened = open_when_up(settings.store, stopping=Returning())
        assert opened
        opened.close()
        server.stop()
        monkeypatch.setattr(loss_reasons, "sleep", Returning().wait)
        assert loss_reasons.explained(request)
    finally:
        server.ensure_postgres_running()
    assert "body" in next(analyst)
    analyst.close()
    assert {(record.getMessage(), bool(record.exc_info)) for record in caplog.records} >= {
        (f"the store cannot be opened; retrying: {AWAY}", False),
        (f"loss reasons cannot be stored; retrying: {AWAY}", False),
    }
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


def do_next(store: ServiceStore, settings: ServiceSettings) -> None:
    job = store.jobs.claim("test")
    assert job
    perform(job, "test", store=store, settings=settings, handlers=load_handlers(), stopping=Event())
