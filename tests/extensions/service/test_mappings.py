"""Mappings over HTTP: references resolved at once, by a job, and by hand."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from karat.extensions.service.api.app import create_app
from karat.extensions.service.settings import RequestLimits, ServiceSettings

Work = Callable[[], None]
FILES = {"docs/a.md": "A", "docs/b.md": "B", "x/same.md": "1", "y/same.md": "2"}
REFERENCES: dict[str, list[object]] = {
    "q1": [{"doc_ref": {"uri": "file:///srv/docs/a.md"}}, {"doc_ref": {"file_name": "b.md"}}],
    "q2": ["file:///gone.md", {"doc_ref": {"file_name": "same.md"}}],
}


@pytest.fixture
def folder(settings: ServiceSettings) -> Path:
    root = settings.roots[0]
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def mapped(client: TestClient, folder: Path) -> str:
    """Return the address of a new mapping, whose collection is not indexed yet."""
    queries = [
        {"query_key": key, "query_text": key, "relevant_docs": docs}
        for key, docs in REFERENCES.items()
    ]
    file = {"file": ("gold.json", json.dumps({"queries": queries}))}
    dataset = client.post("/api/v2/benchmark-datasets", files=file, data={"name": "G"}).json()
    source = {"kind": "folder", "path": str(folder)}
    asked = {"name": "C", "source": source, "index": {"dense": False}}
    collection = client.post("/api/v2/collections", json=asked).json()
    mappings = f"/api/v2/benchmark-datasets/{dataset['id']}/mappings"
    answer = client.post(mappings, json={"collection_id": collection["id"]})
    assert answer.status_code == 201, answer.text
    again = client.post(mappings, json={"collection_id": collection["id"]})
    assert again.status_code == 409
    return f"{mappings}/{answer.json()['id']}"


def test_resolving_at_once(client: TestClient, folder: Path, work: Work) -> None:
    mapping = mapped(client, folder)
    before = client.get(mapping).json()
    assert (before["mapping_status"], before["mapped_count"]) == ("pending", 0)
    assert before["resolved_at"] is None
    assert client.post(f"{mapping}/resolve").status_code == 409, "it is not indexed yet"
    work()
    answer = client.post(f"{mapping}/resolve")
    assert answer.status_code == 200
    resolution = answer.json()
    assert (
        resolution["mapping_status"],
        resolution["mapped_count"],
        resolution["total_count"],
    ) == (
        *("partial", 2),
        4,
    )
    assert resolution["operation_uuid"] is None
    reasons = {next(iter(each["doc_ref"].values())): each for each in resolution["unresolved"]}
    assert reasons["file:///gone.md"]["reason"] == "not_found"
    assert reasons["same.md"]["reason"] == "ambiguous"
    assert client.get(f"{mapping}/unresolved").json() == resolution
    assert client.get(mapping).json()["mapping_status"] == "partial"


def test_binding_by_hand(client: TestClient, folder: Path, work: Work) -> None:
    mapping = mapped(client, folder)
    work()
    resolution = client.post(f"{mapping}/resolve").json()
    for each, path in zip(resolution["unresolved"], ["docs/b.md", "x/same.md"], strict=True):
        asked = {"query_id": each["query_id"], "doc_ref_hash": each["doc_ref_hash"]}
        assert client.post(f"{mapping}/references", json={**asked, "path": "no"}).status_code == 404
        resolution = client.post(f"{mapping}/references", json={**asked, "path": path}).json()
    assert (resolution["mapping_status"], resolution["mapped_count"]) == ("resolved", 4)
    assert client.post(f"{mapping}/references", json={**asked, "path": path}).status_code == 404


def test_many_references_are_a_job(settings: ServiceSettings, folder: Path, work: Work) -> None:
    lazy = replace(settings, limits=RequestLimits(resolve_at_once=3))
    with TestClient(create_app(lazy), base_url="http://localhost") as client:
        mapping = mapped(client, folder)
        work()
        answer = client.post(f"{mapping}/resolve")
        assert (answer.status_code, answer.json()["mapping_status"]) == (202, "pending")
        assert answer.json()["operation_uuid"]
        assert client.post(f"{mapping}/resolve").status_code == 409, "one job at a time"
        work()
        assert client.get(mapping).json()["mapped_count"] == 2


def test_what_does_not_belong_together(client: TestClient, folder: Path) -> None:
    mapping = mapped(client, folder)
    other = mapped(client, folder)
    foreign = f"{mapping.rpartition('/')[0]}/{other.rpartition('/')[2]}"
    assert client.get(foreign).status_code == 404
    assert client.post(f"{foreign}/resolve").status_code == 404
    mappings = mapping.rpartition("/")[0]
    assert client.post(mappings, json={"collection_id": str(uuid4())}).status_code == 404
    assert client.get(mappings).json()["total"] == 1


@pytest.mark.usefixtures("private")
def test_the_collection_of_another_owner(
    client: TestClient, folder: Path, token: Callable[..., str]
) -> None:
    mapping = mapped(client, folder)
    bob = {"Authorization": f"Bearer {token('bob')}"}
    assert client.get(mapping, headers=bob).status_code == 404
    assert client.post(f"{mapping}/resolve", headers=bob).status_code == 404
    collection = client.get(mapping).json()["collection_id"]
    file = {"file": ("g.csv", "query_key,query_text,uri\nq,t,a\n")}
    mine = client.post(
        "/api/v2/benchmark-datasets", files=file, data={"name": "G"}, headers=bob
    ).json()
    answer = client.post(
        f"/api/v2/benchmark-datasets/{mine['id']}/mappings",
        json={"collection_id": collection},
        headers=bob,
    )
    assert answer.status_code == 404


def test_only_so_many_jobs_at_once(
    settings: ServiceSettings, folder: Path, token: Callable[..., str], work: Work
) -> None:
    few = replace(settings, limits=RequestLimits(active_jobs=2))
    ada = {"Authorization": f"Bearer {token('ada')}"}
    with TestClient(create_app(few), base_url="http://localhost", headers=ada) as client:
        source = {"kind": "folder", "path": str(folder)}
        asked = {"name": "C", "source": source, "index": {"dense": False}}
        statuses = [client.post("/api/v2/collections", json=asked).status_code for _ in range(3)]
        assert statuses == [201, 201, 429]
        assert client.get("/api/v2/collections").json()["total"] == 2
        work()
        assert client.post("/api/v2/collections", json=asked).status_code == 201


def test_a_folder_of_another_name(
    client: TestClient, settings: ServiceSettings, work: Work
) -> None:
    """What every "zip this folder" makes: one more folder on top of all paths."""
    root = settings.roots[0]
    for name in ("a.md", "deep/b.md"):
        (root / "handbook" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "handbook" / name).write_text(name)
    queries = [
        {"query_key": "q1", "query_text": "a", "relevant_docs": ["file:///docs/a.md"]},
        {"query_key": "q2", "query_text": "b", "relevant_docs": ["file:///docs/deep/b.md"]},
    ]
    datasets = "/api/v2/benchmark-datasets"
    file = {"file": ("gold.json", json.dumps({"queries": queries}))}
    dataset = client.post(datasets, files=file, data={"name": "Questions"}).json()["id"]
    source = {"kind": "folder", "path": str(root)}
    asked = {"name": "Notes", "source": source, "index": {"dense": False}}
    collection = client.post("/api/v2/collections", json=asked).json()["id"]
    mappings = f"{datasets}/{dataset}/mappings"
    mapping = client.post(mappings, json={"collection_id": collection}).json()["id"]
    work()
    resolution = client.post(f"{mappings}/{mapping}/resolve").json()
    moved = {"reference_folder": "docs/", "collection_folder": "handbook/"}
    assert (resolution["mapped_count"], resolution["moved_folder"]) == (
        0,
        {**moved, "reference_count": 2},
    )

    matrix = {"search_modes": ["sparse"]}
    body = {"name": "B", "mapping_id": mapping, "config_matrix": matrix}
    refused = client.post("/api/v2/benchmarks", json=body)
    assert refused.status_code == 409
    assert refused.json()["detail"] == (
        "none of the 2 references of dataset 'Questions' is a document of collection 'Notes', so "
        "every score would be 0; 2 references would be resolved if all of docs/ is handbook/ "
        "there: confirm it on the page of the dataset (Collections)"
    )
    wrong = client.post(f"{mappings}/{mapping}/folders", json={**moved, "reference_folder": "x/"})
    assert wrong.status_code == 400
    assert "no unresolved reference below 'x/' is a document below 'handbook/'" in wrong.text

    bound = client.post(f"{mappings}/{mapping}/folders", json=moved).json()
    assert (bound["mapping_status"], bound["mapped_count"]) == ("resolved", 2)
    assert (bound["unresolved"], bound["moved_folder"]) == ([], None)
    assert client.post(f"{mappings}/{mapping}/resolve").json()["mapped_count"] == 2
    assert client.post("/api/v2/benchmarks", json=body).status_code == 201


def test_nothing_that_fits(client: TestClient, folder: Path, work: Work) -> None:
    mapping = mapped(client, folder)
    work()
    assert client.post(f"{mapping}/resolve").json()["moved_folder"] is None
