"""Scores are there when the last query is answered; latency is measured after that, or never."""

from collections.abc import Callable, Iterator
from threading import Event as Signal
from threading import Thread
from typing import Any

import pytest
from fastapi.testclient import TestClient

from karat.extensions.service.api.app import create_app
from karat.extensions.service.benchmarks import TIMED
from karat.extensions.service.jobs.worker import work_on
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from tests.extensions.service.jobs.conftest import QUESTIONS, RUNS, held_up, run_to_its_end, until

pytestmark = pytest.mark.usefixtures("explained_here")

STATISTICS = ("best_runs", "comparison")


@pytest.fixture
def client(settings: ServiceSettings) -> Iterator[TestClient]:
    with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
        yield client


@pytest.fixture
def worker(store: ServiceStore, settings: ServiceSettings) -> Iterator[None]:
    """Work in a thread until the test has ended."""
    stopping = Signal()
    thread = Thread(target=work_on, args=(store, settings), kwargs={"stopping": stopping})
    thread.start()
    yield
    stopping.set()
    thread.join()


Get = Callable[[], Any]


@pytest.fixture
def results(client: TestClient, benchmark: str) -> Get:
    return lambda: client.get(f"/api/v2/benchmarks/{benchmark}/results").raise_for_status().json()


def told(store: ServiceStore, stage: str) -> list[Any]:
    return [event.data for event in store.events.after(0) if event.data["stage"] == stage]


@pytest.mark.usefixtures("worker")
def test_scores_do_not_wait_for_latency(store: ServiceStore, benchmark: str, results: Get) -> None:
    with held_up():
        store.benchmarks.start(benchmark)
        until(lambda: told(store, "waiting"))
        assert store.benchmarks.get(benchmark).status == "running"
        early = results()
        assert early["summary"]["completed_runs"] == RUNS
        for run in early["runs"]:
            assert (run["status"], run["timing_status"]) == ("completed", "pending")
            assert run["answered"] == QUESTIONS
            assert run["metrics_flat"]["ndcg@1"] is not None
            assert run["latency"]["measured"] is False
        # Their statistics were computed before anything is timed.
        assert all(early["summary"][name] for name in STATISTICS)
        assert early["runs"][2]["intervals"]["ndcg@5"]
    assert run_to_its_end(store, benchmark) == "completed"
    late = results()
    for before, after in zip(early["runs"], late["runs"], strict=True):
        assert (after["status"], after["timing_status"]) == ("completed", "done")
        assert after["latency"]["samples"] == TIMED["sample"]
        assert after["metrics_flat"] == before["metrics_flat"]
        assert after["intervals"] == before["intervals"]


@pytest.mark.usefixtures("worker")
def test_each_run_is_told_with_its_scores(store: ServiceStore, benchmark: str) -> None:
    store.benchmarks.start(benchmark)
    assert run_to_its_end(store, benchmark) == "completed"
    counted: dict[tuple[int, str], int] = {}
    for event in store.events.after(0):
        data: Any = event.data
        if run := data["last_completed_run"]:
            assert run["stage"] == "completed"
            assert run["metrics"]["ndcg"]["1"] is not None
            # An event repeats the last run until the next one is scored or timed.
            known = run["run_order"], run["timing_status"]
            counted.setdefault(known, data["completed_runs"])
    orders = range(1, RUNS + 1)
    assert list(counted) == [
        *((order, "pending") for order in orders),
        *((order, "done") for order in orders),
    ]
    assert list(counted.values())[:RUNS] == list(orders)
    assert not told(store, "explaining")[0]["current_run"]


@pytest.mark.usefixtures("worker")
def test_cancelled_while_it_waits_it_keeps_its_scores(
    store: ServiceStore, benchmark: str, client: TestClient, results: Get
) -> None:
    path = f"/api/v2/benchmarks/{benchmark}"
    with held_up():
        store.benchmarks.start(benchmark)
        until(lambda: told(store, "waiting"))
        early = results()
        answer = client.post(f"{path}/cancel").raise_for_status().json()
        assert answer["message"] == f"{RUNS} of {RUNS} runs are kept"
        operation = store.benchmarks.get(benchmark).operation
        assert operation
        until(lambda: store.jobs.get(operation).status.ended)
        cancelled = results()
        assert (cancelled["status"], cancelled["summary"]["completed_runs"]) == ("cancelled", RUNS)
        for before, after in zip(early["runs"], cancelled["runs"], strict=True):
            assert (after["status"], after["timing_status"]) == ("completed", "cancelled")
            assert after["metrics_flat"] == before["metrics_flat"]
        assert cancelled["summary"]["comparison"] == early["summary"]["comparison"]
    # Started again, it measures what is missing and asks for no hit twice.
    answers = [run["answered"] for run in cancelled["runs"]]
    client.post(f"{path}/start").raise_for_status()
    assert run_to_its_end(store, benchmark) == "completed"
    late = results()
    assert [run["timing_status"] for run in late["runs"]] == ["done"] * RUNS
    assert [run["answered"] for run in late["runs"]] == answers
    assert [run["metrics_flat"] for run in late["runs"]] == [
        run["metrics_flat"] for run in early["runs"]
    ]


def with_timing(client: TestClient, store: ServiceStore, benchmark: str, timing: str) -> str:
    """Return the id of a benchmark like *benchmark* that wants these latencies, started."""
    stored = store.benchmarks.get(benchmark)
    asked = {
        "name": timing,
        "mapping_id": stored.mapping,
        "config_matrix": stored.config["config_matrix"],
        "timing": timing,
    }
    made = client.post("/api/v2/benchmarks", json=asked)
    assert made.status_code == 201, made.text
    assert made.json()["timing"] == timing
    store.benchmarks.start(made.json()["id"])
    return str(made.json()["id"])


@pytest.mark.usefixtures("worker")
def test_without_latency_nobody_is_waited_for(
    store: ServiceStore, benchmark: str, client: TestClient
) -> None:
    with held_up():
        made = with_timing(client, store, benchmark, "none")
        assert run_to_its_end(store, made) == "completed"
    results = client.get(f"/api/v2/benchmarks/{made}/results").json()
    assert {run["timing_status"] for run in results["runs"]} == {"none"}
    assert {run["latency"]["measured"] for run in results["runs"]} == {False}
    assert results["summary"]["comparison"]
    assert not told(store, "waiting")


@pytest.mark.usefixtures("worker")
def test_all_latencies(store: ServiceStore, benchmark: str, client: TestClient) -> None:
    made = with_timing(client, store, benchmark, "all")
    assert run_to_its_end(store, made) == "completed"
    results = client.get(f"/api/v2/benchmarks/{made}/results").json()
    assert {run["latency"]["samples"] for run in results["runs"]} == {QUESTIONS}


def test_another_choice_is_refused(client: TestClient, store: ServiceStore, benchmark: str) -> None:
    stored = store.benchmarks.get(benchmark)
    asked = {
        "name": "x",
        "mapping_id": stored.mapping,
        "config_matrix": stored.config["config_matrix"],
        "timing": "sometimes",
    }
    assert client.post("/api/v2/benchmarks", json=asked).status_code == 422
