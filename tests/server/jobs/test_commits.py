"""A benchmark knows which commit it has searched, and the course of time tells it."""

from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from fastapi.testclient import TestClient

from karat.server.app import create_app
from karat.server.job_kinds import HANDLERS
from karat.server.jobs import perform
from karat.server.settings import Settings
from karat.store.environment import this_worker
from karat.store.service import JobKind, ServiceStore
from tests.server.jobs.conftest import RUNS, make_benchmark, write_notes

Git = Callable[..., str]


@pytest.fixture
def notes(tmp_path: Path, git: Git) -> Path:
    """Return the notes as a checkout of one commit."""
    folder = tmp_path / "notes"
    write_notes(folder)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Notes on words")
    return folder


@pytest.fixture
def do_all(store: ServiceStore, settings: Settings) -> Callable[[], None]:
    """Return what does all jobs that are waiting."""

    def do() -> None:
        while job := store.jobs.claim(this_worker()):
            perform(
                job,
                this_worker(),
                store=store,
                settings=settings,
                handlers=HANDLERS,
                stopping=Event(),
            )

    return do


def test_over_commits(
    store: ServiceStore, settings: Settings, notes: Path, do_all: Callable[[], None], git: Git
) -> None:
    first = make_benchmark(store, notes)
    made = store.benchmarks.get(first)
    store.jobs.add(JobKind.INDEX, made.collection, owner="local")
    do_all()
    store.benchmarks.start(first)
    do_all()
    # What was indexed is no longer what is there: which commit that is, nobody knows.
    (notes / "new.md").write_text("# mango\n", encoding="utf-8")
    second = store.benchmarks.add(
        "local",
        "Later",
        description="",
        mapping=made.mapping,
        config=made.config,
        total_runs=RUNS,
    ).id
    store.benchmarks.start(second)
    do_all()
    expected = {
        "id": git(notes, "rev-parse", "HEAD"),
        "subject": "Notes on words",
        "committed_at": "2024-01-01T00:00:00Z",
    }
    with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
        trend = client.get("/api/v2/trend", params={"dataset": made.dataset}).json()
        shown = [client.get(f"/api/v2/benchmarks/{each}").json() for each in (first, second)]
    assert [each["status"] for each in shown] == ["completed"] * 2
    assert [each["commit"] for each in shown] == [expected, None]
    commits = [(point["benchmark_id"], point["commit"]) for point in trend["points"]]
    assert commits == [(first, expected)] * RUNS + [(second, None)] * RUNS
