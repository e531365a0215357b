"""A service and its workers that are killed at any moment, and a database that never shows it."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Event
from time import monotonic

import pytest

from karat.experiments.store import RunStatus
from karat.extensions.service.jobs.job import MOST_ATTEMPTS
from karat.extensions.service.jobs.worker import WorkerPool
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import JobStatus, ServiceStore
from karat.model import Answer
from tests.extensions.service.conftest import served
from tests.extensions.service.jobs.conftest import (
    QUESTIONS,
    RUNS,
    held_up,
    make_benchmark,
    run_to_its_end,
    until,
)

# So many workers are killed before the service is: six deaths in all.
LIVES = (1, 0, 2)


@contextmanager
def mortal(settings: ServiceSettings) -> Iterator["subprocess.Popen[str]"]:
    """Start a service as a user would, and kill it in the end."""
    folder = Path(settings.store).parent
    options = ("--store", settings.store, "--data", str(settings.data), "--root", str(folder))
    with served(folder, *options, end=signal.SIGKILL) as service:
        yield service.process


def answers_of(store: ServiceStore, benchmark: str) -> list[list[Answer]]:
    """Return what each run found, without how long it took."""
    experiment = store.benchmarks.get(benchmark).experiment
    assert experiment
    by_run = []
    for run in store.results.show(experiment).runs:
        assert (run.status, run.answers) == (RunStatus.COMPLETED, QUESTIONS)
        answers = store.results.measured(run.id).run.answers()
        bare = [answer._replace(latency_ns=0, extra={}) for answer in answers]
        by_run.append(sorted(bare, key=lambda answer: answer.query_id))
    return by_run


def scores_of(store: ServiceStore, benchmark: str) -> str:
    experiment = store.benchmarks.get(benchmark).experiment
    assert experiment
    scores = [store.results.scores(run.id) for run in store.results.show(experiment).runs]
    # As text, since no NaN equals another.
    return repr([[replace(summary) for summary in row] for row in scores])


def worker_of(store: ServiceStore, benchmark: str) -> int | None:
    """Return the process that works on *benchmark*, None where none does."""
    operation = store.benchmarks.get(benchmark).operation
    job = store.jobs.get(operation) if operation else None
    if job is None or job.status is not JobStatus.RUNNING or job.worker is None:
        return None
    with store.database.reading() as connection:
        dead = store.leases.dead(connection, [job.worker])
    return None if dead else int(job.worker.split(":")[1])


def outlasts_a_death(store: ServiceStore, benchmark: str) -> bool:
    """Return whether *benchmark* is not given up when one more worker dies on it."""
    operation = store.benchmarks.get(benchmark).operation
    assert operation
    job = store.jobs.get(operation)
    return job.status.ended or job.attempts < MOST_ATTEMPTS


def test_killed_at_any_moment(
    store: ServiceStore, benchmark: str, settings: ServiceSettings, tmp_path: Path
) -> None:
    workers = WorkerPool(settings, count=1)
    workers.start()
    store.benchmarks.start(benchmark)
    until(lambda: worker_of(store, benchmark))
    begun = monotonic()
    assert run_to_its_end(store, benchmark) == "completed"
    whole_s = monotonic() - begun
    workers.stop()
    rng = Random(11)
    benchmarks: list[str] = []

    def met_at_work() -> int | None:
        """Return the worker at no certain point of its work; None where that has just ended."""
        if not benchmarks or store.benchmarks.get(benchmarks[-1]).status != "running":
            benchmarks.append(make_benchmark(store, tmp_path / "notes"))
            store.benchmarks.start(benchmarks[-1])
        until(lambda: worker_of(store, benchmarks[-1]))
        Event().wait(rng.uniform(0.0, whole_s))
        until(lambda: outlasts_a_death(store, benchmarks[-1]))
        return worker_of(store, benchmarks[-1])

    for workers_first in LIVES:
        with mortal(settings) as service:
            for _ in range(workers_first):
                worker = None
                while worker is None:
                    worker = met_at_work()
                os.kill(worker, signal.SIGKILL)
            met_at_work()
            assert service.poll() is None
    with mortal(settings):
        for each in benchmarks:
            assert run_to_its_end(store, each) == "completed"
    expected, scores = answers_of(store, benchmark), scores_of(store, benchmark)
    for each in benchmarks:
        stored = store.benchmarks.get(each)
        assert (stored.completed_runs, stored.failed_runs) == (RUNS, 0)
        assert answers_of(store, each) == expected
        assert scores_of(store, each) == scores
        until(lambda: worker_of(store, each) is None)  # noqa: B023 - asked at once


@pytest.mark.parametrize("victim", ["worker", "service"])
def test_cancelled_and_killed(
    victim: str, store: ServiceStore, benchmark: str, settings: ServiceSettings
) -> None:
    """One that was cancelled stays so, and its job does not wait for ever."""
    operation = store.benchmarks.start(benchmark).operation
    assert operation
    with held_up(), mortal(settings) as service:
        until(lambda: worker_of(store, benchmark))
        worker = worker_of(store, benchmark)
        assert worker
        store.benchmarks.cancel(benchmark)
        os.kill(worker if victim == "worker" else service.pid, signal.SIGKILL)
        if victim == "worker":
            until(lambda: store.jobs.get(operation).status.ended)
    with mortal(settings):
        until(lambda: store.jobs.get(operation).status is JobStatus.CANCELLED)
    assert store.benchmarks.get(benchmark).status == "cancelled"
