"""A collection whose documents have changed is indexed once more."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore

API = "/api/v2"
QUERIES = [
    {"query_key": "q1", "query_text": "letters", "relevant_docs": ["mail.md"]},
    {"query_key": "q2", "query_text": "doors", "relevant_docs": ["door.md"]},
]
SEARCH = {"query": "doors", "modes": ["sparse"]}
Work = Callable[[], None]


@pytest.fixture
def folder(settings: ServiceSettings) -> Path:
    """Return a folder of documents below the root."""
    folder = settings.roots[0] / "docs"
    folder.mkdir()
    (folder / "mail.md").write_text("# Mail\n\nLetters are sent.\n", encoding="utf-8")
    (folder / "key.md").write_text("# Key\n\nIt opens doors.\n", encoding="utf-8")
    return folder


class Asked:
    """A service that is asked; what it answers is as expected, or the test fails."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def __call__(self, path: str, status: int = 200, **sent: Any) -> Any:
        method = "POST" if sent or path.endswith(("/resolve", "/start", "/reindex")) else "GET"
        answer = self.client.request(method, f"{API}/{path}", **sent)
        assert answer.status_code == status, answer.text
        return answer.json()


@pytest.fixture
def ask(client: TestClient) -> Asked:
    return Asked(client)


@pytest.fixture
def collection(ask: Asked, folder: Path, work: Work) -> str:
    source = {"kind": "folder", "path": str(folder)}
    asked = {"name": "Docs", "source": source, "index": {"dense": False}}
    made = ask("collections", 201, json=asked)
    work()
    return str(made["id"])


@pytest.fixture
def mapping(ask: Asked, collection: str) -> str:
    """Return the path of a mapping in which one reference was bound by hand."""
    file = {"file": ("gold.json", json.dumps({"queries": QUERIES}))}
    made = ask("benchmark-datasets", 201, files=file, data={"name": "G"})
    mappings = f"benchmark-datasets/{made['id']}/mappings"
    path = f"{mappings}/{ask(mappings, 201, json={'collection_id': collection})['id']}"
    (lost,) = ask(f"{path}/resolve")["unresolved"]
    bound = {"query_id": "q2", "doc_ref_hash": lost["doc_ref_hash"], "path": "key.md"}
    assert ask(f"{path}/references", json=bound)["mapping_status"] == "resolved"
    return path


@pytest.fixture
def benchmark(ask: Asked, mapping: str) -> str:
    matrix = {"search_modes": ["sparse"]}
    asked = {"name": "B", "mapping_id": mapping.rpartition("/")[2], "config_matrix": matrix}
    return f"benchmarks/{ask('benchmarks', 201, json=asked)['id']}"


def test_documents_that_have_changed(
    ask: Asked, collection: str, mapping: str, benchmark: str, folder: Path, work: Work
) -> None:
    ask(f"{benchmark}/start")
    work()
    before = ask(f"collections/{collection}")
    (folder / "key.md").rename(folder / "gate.md")
    refused = ask(f"collections/{collection}/search", 409, json=SEARCH)
    assert "have changed since they were indexed; reindex it" in refused["detail"]
    begun = ask(f"collections/{collection}/reindex", 202)
    assert begun["status"] == "pending"
    assert begun["operation_uuid"] != before["operation_uuid"]
    # Until the job has ended, all is known as it was.
    assert (begun["snapshot"], begun["document_count"]) == (before["snapshot"], 2)
    assert (
        "the collection is being indexed" in ask(f"collections/{collection}/reindex", 409)["detail"]
    )
    work()
    after = ask(f"collections/{collection}")
    assert after["status"] == "ready"
    assert after["snapshot"] not in (None, before["snapshot"])
    listed = ask(f"collections/{collection}/documents")["documents"]
    assert [document["path"] for document in listed] == ["gate.md", "mail.md"]
    answer = ask(f"collections/{collection}/search", json=SEARCH)
    assert answer["results"][0]["hits"][0]["path"] == "gate.md"
    # What was measured was measured on other documents, and says so.
    (run,) = ask(f"{benchmark}/results")["runs"]
    assert run["snapshot"] == before["snapshot"]
    # What a reference means must be found out again; a choice that is gone is none.
    assert ask(mapping)["mapping_status"] == "pending"
    (lost,) = ask(f"{mapping}/resolve")["unresolved"]
    assert (lost["query_id"], ask(mapping)["mapping_status"]) == ("q2", "partial")
    bound = {"query_id": "q2", "doc_ref_hash": lost["doc_ref_hash"], "path": "gate.md"}
    assert ask(f"{mapping}/references", json=bound)["mapping_status"] == "resolved"


def test_a_mapping_must_be_resolved_again_before_anything_runs(
    ask: Asked, collection: str, mapping: str, benchmark: str, folder: Path, work: Work
) -> None:
    (folder / "new.md").write_text("# New\n", encoding="utf-8")
    ask(f"collections/{collection}/reindex", 202)
    assert "the collection is being indexed" in ask(f"{benchmark}/start", 409)["detail"]
    work()
    assert ask(f"{benchmark}/start", 409)["detail"] == "Mapping must be resolved"
    ask(f"{mapping}/resolve")
    ask(f"{benchmark}/start")
    running = ask(f"collections/{collection}/reindex", 409)["detail"]
    assert "is running on this collection" in running
    work()
    # Nothing has changed since: what was resolved stays so.
    ask(f"collections/{collection}/reindex", 202)
    work()
    assert ask(mapping)["mapping_status"] == "resolved"


def test_a_branch_that_has_moved_on(
    ask: Asked, folder: Path, work: Work, git: Callable[..., str]
) -> None:
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    made = {}
    for revision in ("main", git(folder, "rev-parse", "HEAD")):
        source = {"kind": "git", "path": str(folder), "revision": revision}
        asked = {"name": revision, "source": source, "index": {"dense": False}}
        made[revision] = ask("collections", 201, json=asked)["id"]
    work()
    first = git(folder, "rev-parse", "HEAD")
    (folder / "new.md").write_text("# New\n\nAll is new.\n", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "two")
    for collection in made.values():
        ask(f"collections/{collection}/reindex", 202)
    work()
    moved, stays = (ask(f"collections/{collection}") for collection in made.values())
    assert (moved["source"]["revision"], moved["document_count"]) == (
        git(folder, "rev-parse", "HEAD"),
        3,
    )
    assert (stays["source"]["revision"], stays["document_count"]) == (first, 2)


def test_one_that_failed_is_tried_again(
    ask: Asked, collection: str, folder: Path, work: Work, settings: ServiceSettings
) -> None:
    away = folder.rename(folder.parent / "away")
    refused = ask(f"collections/{collection}/search", 400, json=SEARCH)["detail"]
    assert "is not a folder at or below an allowed --root (" in refused
    ask(f"collections/{collection}/reindex", 202)
    work()
    failed = ask(f"collections/{collection}")
    assert failed["status"] == "failed"
    away.rename(folder)
    ask(f"collections/{collection}/reindex", 202)
    work()
    assert (ask(f"collections/{collection}")["status"], failed["document_count"]) == ("ready", 2)
    with ServiceStore(settings.store) as store:
        assert store.collections.documents(collection).total == 2
