"""The example benchmark: created by one request, repeated until it runs."""

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from fastapi.testclient import TestClient

from karat.experiments.store import open_store
from karat.extensions.mining.demo import first_version
from karat.extensions.service.api.app import create_app
from karat.extensions.service.settings import ServiceSettings

EXAMPLES = "/api/v2/examples"
Work = Callable[[ServiceSettings], None]


def create(client: TestClient) -> dict[str, str]:
    answer = client.post(EXAMPLES)
    assert answer.status_code == 200, answer.text
    made: dict[str, str] = answer.json()
    return made


def test_the_first_version_holds_every_target() -> None:
    files, gold = first_version()
    assert len(gold) >= 100
    assert {target.path for query in gold.queries() for target in query.targets} <= files.keys()
    # None of the later fixes is in it.
    assert "except Exception" not in files["kiosk/jobs/worker.py"]


def test_one_request_leads_to_a_result(
    client: TestClient, settings: ServiceSettings, do_jobs: Work
) -> None:
    made = create(client)
    assert made["status"] == "indexing"
    assert create(client) == made, "nothing is created twice"
    do_jobs(settings)
    started = create(client)
    assert started == made | {"status": "queued"}
    do_jobs(settings)
    assert create(client) == made | {"status": "completed"}
    totals = [
        client.get(f"/api/v2/{kind}").json()["total"]
        for kind in ("collections", "benchmark-datasets", "benchmarks")
    ]
    assert totals == [1, 1, 1]
    results = client.get(f"/api/v2/benchmarks/{made['benchmark_id']}/results").json()
    assert [run["status"] for run in results["runs"]] == ["completed"] * 3
    assert {run["config"]["search_mode"] for run in results["runs"]} == {
        "sparse",
        "dense",
        "hybrid",
    }
    assert all(run["metrics_flat"]["ndcg@10"] > 0.3 for run in results["runs"])


def test_the_first_steps_work_inside_a_checkout(
    settings: ServiceSettings, do_jobs: Work, project: Path
) -> None:
    # As `karat serve --root .` starts there: its store ignores all of its folder.
    own = project / ".karat"
    inside = replace(settings, store=str(own / "karat.db"), data=own, roots=(project,))
    open_store(inside.store, new=True).close()
    assert (own / ".gitignore").read_text() == "*\n"
    archive = BytesIO()
    with ZipFile(archive, "w") as packed:
        packed.writestr("handbook/keys.md", "# Keys\n\nA key opens a door.\n")
    with TestClient(create_app(inside), base_url="http://localhost:8080") as client:
        made = create(client)
        form = {"name": "Handbook", "index": '{"dense": false}'}
        files = {"file": ("handbook.zip", archive.getvalue())}
        uploaded = client.post("/api/v2/collections", files=files, data=form).json()
        do_jobs(inside)
        collection = client.get(f"/api/v2/collections/{uploaded['id']}").json()
        assert (collection["status"], collection["document_count"]) == ("ready", 1), collection[
            "error_message"
        ]
        assert create(client)["status"] == "queued"
        do_jobs(inside)
        assert create(client) == made | {"status": "completed"}


def test_what_was_deleted_is_created_again(
    client: TestClient, settings: ServiceSettings, do_jobs: Work
) -> None:
    made = create(client)
    do_jobs(settings)
    for kind, name in (
        ("benchmarks", "benchmark_id"),
        ("benchmark-datasets", "dataset_id"),
        ("collections", "collection_id"),
    ):
        assert client.delete(f"/api/v2/{kind}/{made[name]}").status_code == 204
    again = create(client)
    assert again["status"] == "indexing"
    assert set(again.values()).isdisjoint(set(made.values()) - {"indexing"})


def test_a_failed_index_is_reported(
    client: TestClient, settings: ServiceSettings, do_jobs: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object, **_named: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("karat.extensions.service.jobs.collection.index_collection", fail)
    create(client)
    do_jobs(settings)
    answer = client.post(EXAMPLES)
    assert answer.status_code == 409
    assert "is failed" in answer.json()["detail"]
