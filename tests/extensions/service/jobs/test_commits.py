"""A benchmark knows which commit it has searched, and the course of time tells it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from karat.app.index import commit_of
from karat.extensions.service.api.app import create_app
from karat.extensions.service.collections import AllowedFolders, index_collection
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import JobKind, ServiceStore
from tests.extensions.service.jobs.conftest import RUNS, make_benchmark, write_notes

pytestmark = pytest.mark.usefixtures("explained_here")

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


def test_over_commits(
    store: ServiceStore, settings: ServiceSettings, notes: Path, work: Callable[[], None], git: Git
) -> None:
    first = make_benchmark(store, notes)
    made = store.benchmarks.get(first)
    store.jobs.add(JobKind.INDEX, made.collection, owner="local")
    work()
    store.benchmarks.start(first)
    work()
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
    work()
    expected = {
        "id": git(notes, "rev-parse", "HEAD"),
        "subject": "Notes on words",
        "committed_at": "2024-01-01T00:00:00Z",
    }
    with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
        trend = client.get("/api/v2/trend", params={"dataset": made.dataset}).json()
        benchmarks = [client.get(f"/api/v2/benchmarks/{each}").json() for each in (first, second)]
    assert [each["status"] for each in benchmarks] == ["completed"] * 2
    assert [each["commit"] for each in benchmarks] == [expected, None]
    commits = [(point["benchmark_id"], point["commit"]) for point in trend["points"]]
    assert commits == [(first, expected)] * RUNS + [(second, None)] * RUNS


@pytest.mark.parametrize("kind", ["folder", "upload"])
def test_what_was_uploaded_is_no_checkout(kind: str, notes: Path, tmp_path: Path) -> None:
    index = {"dense": False, "sparse": True, "chunker": "auto", "model": "static"}
    with ServiceStore(tmp_path / "karat.db") as store:
        source = {"kind": kind, "path": str(notes)}
        made = store.collections.add("ann", "Docs", description="", source=source, index=index)
        (tmp_path / "uploads").mkdir()
        if kind == "upload":
            notes.rename(tmp_path / "uploads" / made.id)
        facts = index_collection(made, AllowedFolders((tmp_path,), tmp_path / "uploads")).facts
    assert facts.get("commit") == (commit_of(notes) if kind == "folder" else None)
    assert ("commit" in facts) is (kind == "folder")
