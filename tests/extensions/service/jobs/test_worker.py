"""Benchmarks done by a worker: in this process, and by processes that a service keeps alive."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Event, Thread

import pytest

from karat.errors import ProcessError
from karat.experiments.store import RunStatus
from karat.extensions.service.jobs.worker import WorkerPool, work_on
from karat.extensions.service.results import results_key, scored
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import JobKind, JobStatus, ServiceStore
from karat.extensions.service.views import full_results
from karat.system.processes import ChildProcess
from tests.counting import count_calls
from tests.extensions.service.jobs.conftest import (
    QUESTIONS,
    RUNS,
    held_up,
    make_benchmark,
    run_to_its_end,
    until,
)

pytestmark = pytest.mark.usefixtures("explained_here")


@pytest.fixture
def worker(store: ServiceStore, settings: ServiceSettings) -> Iterator[None]:
    """Let this process do jobs while a test runs."""
    stopping = Event()
    thread = Thread(target=work_on, args=(store, settings), kwargs={"stopping": stopping})
    thread.start()
    yield
    stopping.set()
    thread.join()


def test_a_benchmark_is_run(store: ServiceStore, benchmark: str, worker: None) -> None:
    operation = store.benchmarks.start(benchmark).operation
    assert run_to_its_end(store, benchmark) == "completed"
    done = store.benchmarks.get(benchmark)
    assert (done.completed_runs, done.failed_runs) == (RUNS, 0)
    assert done.experiment
    for run in store.results.show(done.experiment).runs:
        assert (run.status, run.answers) == (RunStatus.COMPLETED, QUESTIONS)
        scores = {summary.measure: summary for summary in store.results.scores(run.id)}
        assert scores["precision@1"].mean == 1.0
        assert scores["precision@1"].interval
    assert operation
    until(lambda: store.jobs.get(operation).status.ended)
    events = store.events.after(0, operation=operation)
    assert [event.data["completed_runs"] for event in events][-1] == RUNS
    last = events[-2].data["last_completed_run"]
    assert isinstance(last, dict)
    assert last["metrics_flat"]["precision@1"] == 1.0
    assert events[-1].data["status"] == "completed"


def test_each_run_is_read_once_and_scored_once(
    store: ServiceStore, benchmark: str, worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = count_calls(monkeypatch)
    store.benchmarks.start(benchmark)
    assert run_to_its_end(store, benchmark) == "completed"
    assert counts["read"] == RUNS * QUESTIONS
    judged = {name: times for name, times in counts.items() if name.startswith("judged ")}
    assert len(judged) == RUNS
    assert set(judged.values()) == {1}


def test_the_stored_results_equal_a_new_computation(
    store: ServiceStore, benchmark: str, worker: None
) -> None:
    store.benchmarks.start(benchmark)
    assert run_to_its_end(store, benchmark) == "completed"
    ended = store.benchmarks.get(benchmark)
    stored = store.benchmarks.stored_results(benchmark, results_key(store, ended))
    assert stored is not None
    assert stored == full_results(store, scored(store, ended)).model_dump_json().encode()


def test_what_was_cancelled_continues(store: ServiceStore, benchmark: str, worker: None) -> None:
    with held_up():
        operation = store.benchmarks.start(benchmark).operation
        assert operation
        until(lambda: store.benchmarks.get(benchmark).experiment)
        store.benchmarks.cancel(benchmark)
        assert store.benchmarks.get(benchmark).status == "cancelled"
        # Who works on it needs a moment to notice.
        until(lambda: store.jobs.get(operation).status.ended)
    store.benchmarks.start(benchmark)
    assert run_to_its_end(store, benchmark) == "completed"
    assert store.benchmarks.get(benchmark).completed_runs == RUNS


def test_a_benchmark_that_cannot_run(
    store: ServiceStore, benchmark: str, worker: None, tmp_path: Path
) -> None:
    for note in (tmp_path / "notes").iterdir():
        note.unlink()
    store.benchmarks.start(benchmark)
    assert run_to_its_end(store, benchmark) == "failed"
    assert "targets of notes is in" in store.benchmarks.get(benchmark).error
    until(lambda: [event.data["status"] for event in store.events.after(0)] == ["failed"])


def test_collections_and_mappings_are_jobs(
    store: ServiceStore, benchmark: str, worker: None
) -> None:
    made = store.benchmarks.get(benchmark)
    for kind, subject in (
        (JobKind.INDEX, made.collection),
        (JobKind.RESOLVE, made.mapping),
        (JobKind.INDEX, made.mapping),
    ):
        job = store.jobs.add(kind, subject, owner="local")
        until(lambda: store.jobs.get(job.id).status.ended)  # noqa: B023 - asked at once
        ended = store.jobs.get(job.id).status
        # The last one is of a collection that there is not.
        expected = (
            JobStatus.FAILED if subject != made.collection and kind == "index" else "completed"
        )
        assert ended == expected
    collection = store.collections.get(made.collection)
    assert (collection.status, collection.facts["documents"]) == ("ready", 12)
    assert store.collections.documents(collection.id).total == 12
    assert store.mappings.get(made.mapping).status == "resolved"
    stages = [event.data["stage"] for event in store.events.after(0)]
    assert stages == ["reading", "completed", "resolving", "completed", "failed"]


def test_a_worker_that_dies_is_replaced(
    store: ServiceStore, benchmark: str, settings: ServiceSettings
) -> None:
    workers = WorkerPool(settings, count=1)
    workers.start()
    try:
        with held_up():
            store.benchmarks.start(benchmark)
            until(lambda: store.benchmarks.get(benchmark).experiment)
            first = workers.pids
            os.kill(first[0], signal.SIGKILL)
        assert run_to_its_end(store, benchmark) == "completed"
        assert workers.pids != first
    finally:
        workers.stop()
    assert store.benchmarks.get(benchmark).completed_runs == RUNS


def test_a_worker_that_cannot_be_replaced_at_once_is_later(
    settings: ServiceSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, times = WorkerPool._start_worker, count(1)

    def second_in_vain(workers: WorkerPool) -> ChildProcess:
        if next(times) == 2:
            raise ProcessError("cannot start: Cannot allocate memory")
        return started(workers)

    monkeypatch.setattr(WorkerPool, "_start_worker", second_in_vain)
    monkeypatch.setattr("karat.extensions.service.jobs.worker.SHORT_LIFE_S", 0.0)
    workers = WorkerPool(settings, count=1)
    workers.start()
    try:
        first = workers.pids
        os.kill(first[0], signal.SIGKILL)
        until(lambda: workers.pids != first)
    finally:
        workers.stop()
    assert next(times) == 4


def test_a_service_that_stops_hands_jobs_back(
    store: ServiceStore, benchmark: str, settings: ServiceSettings
) -> None:
    workers = WorkerPool(settings, count=1)
    workers.start()
    with held_up():
        operation = store.benchmarks.start(benchmark).operation
        assert operation
        until(lambda: store.benchmarks.get(benchmark).experiment)
        workers.stop()
    left = store.jobs.get(operation)
    assert (left.status, left.worker) == (JobStatus.QUEUED, None)
    assert store.benchmarks.get(benchmark).status == "running"
    again = WorkerPool(settings, count=1)
    again.start()
    assert run_to_its_end(store, benchmark) == "completed"
    again.stop()


def test_in_postgres(address: str, settings: ServiceSettings, tmp_path: Path) -> None:
    shared = replace(settings, store=address)
    with ServiceStore(address) as store:
        benchmark = make_benchmark(store, tmp_path / "notes")
        workers = WorkerPool(shared, count=2)
        workers.start()
        try:
            with held_up():
                store.benchmarks.start(benchmark)
                until(lambda: store.benchmarks.get(benchmark).experiment)
                os.kill(workers.pids[0], signal.SIGKILL)
            assert run_to_its_end(store, benchmark) == "completed"
        finally:
            workers.stop()
        assert store.benchmarks.get(benchmark).completed_runs == RUNS
