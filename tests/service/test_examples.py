"""The example benchmark: created by one request, repeated until it runs."""

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from karat.app.demo import first_version
from karat.service.settings import ServiceSettings

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
    assert started == made | {"status": "running"}
    do_jobs(settings)
    assert create(client) == made | {"status": "completed"}
    totals = [
        client.get(f"/api/v2/{place}").json()["total"]
        for place in ("collections", "benchmark-datasets", "benchmarks")
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


def test_what_was_deleted_is_created_again(
    client: TestClient, settings: ServiceSettings, do_jobs: Work
) -> None:
    made = create(client)
    do_jobs(settings)
    for place, name in (
        ("benchmarks", "benchmark_id"),
        ("benchmark-datasets", "dataset_id"),
        ("collections", "collection_id"),
    ):
        assert client.delete(f"/api/v2/{place}/{made[name]}").status_code == 204
    again = create(client)
    assert again["status"] == "indexing"
    assert set(again.values()).isdisjoint(set(made.values()) - {"indexing"})


def test_a_failed_index_is_reported(
    client: TestClient, settings: ServiceSettings, do_jobs: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object, **_named: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("karat.service.jobs.collection.index_collection", fail)
    create(client)
    do_jobs(settings)
    answer = client.post(EXAMPLES)
    assert answer.status_code == 409
    assert "is failed" in answer.json()["detail"]
