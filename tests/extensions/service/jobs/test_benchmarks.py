"""Benchmarks over HTTP: what is refused, what is started once, what is kept."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from karat.extensions.service.api.app import create_app
from karat.extensions.service.settings import RequestLimits, ServiceSettings
from karat.extensions.service.store import JobStatus, ServiceStore
from tests.extensions.service.jobs.conftest import MATRIX, RUNS

URL = "/api/v2/benchmarks"
WORKER = "far:1"


@pytest.fixture
def client(settings: ServiceSettings) -> Iterator[TestClient]:
    with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
        yield client


@pytest.fixture
def mapping(store: ServiceStore, benchmark: str) -> str:
    return store.benchmarks.get(benchmark).mapping


def body(mapping: str, **changes: object) -> dict[str, object]:
    return {"name": "Modes", "mapping_id": mapping, "config_matrix": MATRIX, **changes}


def test_it_is_made(client: TestClient, mapping: str) -> None:
    made = client.post(URL, json=body(mapping, description="first", metrics_to_compute=["hit"]))
    assert made.status_code == 201
    answer = made.json()
    assert (answer["status"], answer["total_runs"], answer["warning"]) == ("pending", RUNS, None)
    assert (answer["description"], answer["owner_id"]) == ("first", "local")
    assert client.get(f"{URL}/{answer['id']}").json() == answer
    assert client.get(f"{URL}/latest").json() == answer
    results = client.get(f"{URL}/{answer['id']}/results").json()
    assert (results["runs"], results["total_runs"], results["primary_k"]) == ([], RUNS, 5)


@pytest.mark.parametrize(
    ("changes", "status", "says"),
    [
        ({"mapping_id": "0d5bd28f-1ff5-4b1c-9e80-1ff6f6a4f8a4"}, 404, "no mapping"),
        ({"config_matrix": {**MATRIX, "search_modes": ["dense"]}}, 400, "no dense index"),
        ({"config_matrix": {**MATRIX, "search_modes": ["hybrid"]}}, 400, "no dense index"),
        ({"config_matrix": {**MATRIX, "top_k_values": [5, 5]}}, 400, "5 appears more than once"),
        ({"config_matrix": {**MATRIX, "top_k_values": list(range(1, 27))}}, 422, "52 runs; at mo"),
        ({"config_matrix": {**MATRIX, "colour": "red"}}, 422, "config_matrix.colour"),
        ({"metrics_to_compute": ["ndgc"]}, 400, "did you mean 'ndcg'"),
        ({"judge_labels": "include"}, 400, "'Questions' has no labels of models to use"),
        ({"judge_labels": "maybe"}, 422, "judge_labels"),
        ({"name": " "}, 422, "name"),
    ],
)
def test_what_is_refused(
    client: TestClient, mapping: str, changes: dict[str, object], status: int, says: str
) -> None:
    answer = client.post(URL, json=body(mapping, **changes))
    assert (answer.status_code, answer.json().keys()) == (status, {"detail", "reference"})
    assert says in answer.json()["detail"]
    assert client.get(URL).json()["total"] == 1


def test_many_runs_are_warned_of(client: TestClient, mapping: str) -> None:
    wide = {**MATRIX, "top_k_values": list(range(1, 14))}
    assert (
        "26 runs take long"
        in client.post(URL, json=body(mapping, config_matrix=wide)).json()["warning"]
    )
    preview = client.post(f"{URL}/preview", json={"config_matrix": wide}).json()
    assert (preview["total_runs"], len(preview["runs"])) == (26, 26)
    assert preview["warning"]
    assert preview["shared"]["retrievals"] == 1
    assert "26 configurations need only 1 search" in preview["shared"]["words"]


def test_the_depths_of_the_seed(client: TestClient) -> None:
    """A value that a mode does not use makes no run; a depth below a cut-off is no error."""
    matrix = {"search_modes": ["dense", "hybrid"], "top_k_values": [5, 10, 20, 50]}
    matrix |= {"rrf_k_values": [20, 60]}
    preview = client.post(f"{URL}/preview", json={"config_matrix": matrix}).json()
    configs = [run["config"] for run in preview["runs"]]
    assert len(configs) == 4 + 8
    assert {config["rrf_k"] for config in configs if config["search_mode"] == "dense"} == {None}


def test_a_preview_on_a_collection(client: TestClient, benchmark: str, store: ServiceStore) -> None:
    """Its runs are by the model of the collection, and what that lacks is refused."""
    dataset = store.benchmarks.get(benchmark).dataset

    def preview(mapping: str | None, **index: object) -> str:
        if index:
            index_options = {
                "dense": True,
                "sparse": True,
                "chunker": "auto",
                "model": "static",
                **index,
            }
            other = store.collections.add(
                "local", "x", description="", source={}, index=index_options
            )
            mapping = store.mappings.add(dataset, other.id).id
        axes = {"search_modes": ["dense", "sparse"]}
        asked = {"config_matrix": axes, "mapping_id": mapping}
        return client.post(f"{URL}/preview", json=asked).text

    assert "embedded once by granite" in preview(None)
    assert "embedded once by static" in preview(None, model="static")
    assert "has no dense index" in preview(None, dense=False)
    assert "no mapping" in preview("00000000-0000-4000-8000-000000000000")


def test_lists_and_filters(client: TestClient, benchmark: str, mapping: str) -> None:
    for number in range(3):
        client.post(URL, json=body(mapping, name=str(number)))
    client.post(f"{URL}/{benchmark}/cancel")
    page = client.get(URL, params={"per_page": 2, "page": 2}).json()
    assert (page["total"], page["page"], page["per_page"]) == (4, 2, 2)
    assert [each["name"] for each in page["benchmarks"]] == ["0", "Small"]
    listed = client.get(URL, params={"status_filter": "cancelled"}).json()
    assert [each["id"] for each in listed["benchmarks"]] == [benchmark]
    assert client.get(URL, params={"status_filter": "done"}).status_code == 422
    assert client.get(URL, params={"per_page": 101}).status_code == 422


def test_it_is_started_once(client: TestClient, benchmark: str, store: ServiceStore) -> None:
    start = f"{URL}/{benchmark}/start"
    first = client.post(start, headers={"Idempotency-Key": "k1"})
    assert (first.status_code, first.json()["status"]) == (200, "queued")
    assert client.get(f"{URL}/{benchmark}").json()["queue_position"] == 1
    assert client.post(start, headers={"Idempotency-Key": "k1"}).json() == first.json()
    again = client.post(start)
    assert (again.status_code, again.json()["detail"]) == (409, "the benchmark is running")
    assert len(store.events.after(0)) == 1
    assert client.delete(f"{URL}/{benchmark}").status_code == 409


def test_it_is_cancelled(client: TestClient, benchmark: str, store: ServiceStore) -> None:
    client.post(f"{URL}/{benchmark}/start")
    claimed = store.jobs.claim(WORKER)
    assert claimed
    cancelled = client.post(f"{URL}/{benchmark}/cancel").json()
    assert (cancelled["status"], cancelled["message"]) == ("cancelled", "0 of 6 runs are kept")
    assert client.post(f"{URL}/{benchmark}/cancel").status_code == 409
    # Its worker has not noticed yet.
    assert client.get(f"{URL}/{benchmark}").json()["is_stopping"]
    assert "is still stopping" in client.post(f"{URL}/{benchmark}/start").json()["detail"]
    store.jobs.end(claimed.id, WORKER, JobStatus.CANCELLED)
    assert not client.get(f"{URL}/{benchmark}").json()["is_stopping"]
    assert client.post(f"{URL}/{benchmark}/start").json()["status"] == "queued"
    client.post(f"{URL}/{benchmark}/cancel")
    assert client.delete(f"{URL}/{benchmark}").status_code == 204
    assert client.get(f"{URL}/{benchmark}").status_code == 404


def test_a_mapping_must_be_resolved(
    client: TestClient, benchmark: str, store: ServiceStore
) -> None:
    dataset = store.benchmarks.get(benchmark).dataset
    index = {"dense": False, "sparse": True, "chunker": "auto", "model": "granite"}
    other = store.collections.add("local", "x", description="", source={}, index=index)
    mapping = store.mappings.add(dataset, other.id)
    made = client.post(URL, json=body(mapping.id)).json()
    answer = client.post(f"{URL}/{made['id']}/start")
    assert (answer.status_code, answer.json()["detail"]) == (409, "Mapping must be resolved")


def test_remarks(client: TestClient, benchmark: str) -> None:
    made = client.post(f"{URL}/{benchmark}/annotations", json={"text": "new stemmer"})
    assert made.status_code == 201
    assert client.get(f"{URL}/{benchmark}").json()["annotations"] == [made.json()]
    assert client.post(f"{URL}/{benchmark}/annotations", json={"text": ""}).status_code == 422


def test_there_is_none_yet(client: TestClient) -> None:
    assert client.get(f"{URL}/latest").json()["detail"] == "no benchmark yet"


@pytest.fixture
def of_others(settings: ServiceSettings, tmp_path: Path) -> Iterator[Callable[[str], TestClient]]:
    """Return what gives a client with the token of somebody."""
    from dataclasses import replace
    from datetime import UTC, datetime

    from karat.extensions.service.store.service import create_token

    reachable = replace(settings, host="0.0.0.0", limits=RequestLimits(active_jobs=1))  # noqa: S104
    with TestClient(create_app(reachable), base_url="http://localhost:8080") as client:

        def somebody(owner: str) -> TestClient:
            with ServiceStore(settings.store) as store:
                now = datetime.now(UTC)
                issued = create_token(store.tokens, owner, scope="run", days=1, now=now)
            client.headers["Authorization"] = f"Bearer {issued.secret}"
            return client

        yield somebody


@pytest.mark.usefixtures("private")
def test_owners_see_only_their_own(
    of_others: Callable[[str], TestClient], benchmark: str, store: ServiceStore
) -> None:
    operation = store.benchmarks.start(benchmark).operation
    client = of_others("eve")
    assert client.get(URL).json()["total"] == 0
    experiment = "aaaaaaaaaa"
    dataset = store.benchmarks.get(benchmark).dataset
    for method, path in (
        ("GET", f"{URL}/{benchmark}"),
        ("DELETE", f"{URL}/{benchmark}"),
        ("POST", f"{URL}/{benchmark}/start"),
        ("POST", f"{URL}/{benchmark}/cancel"),
        ("GET", f"{URL}/{benchmark}/events"),
        ("GET", f"{URL}/{benchmark}/results"),
        ("GET", f"{URL}/{benchmark}/matrix"),
        ("GET", f"{URL}/{benchmark}/export.csv"),
        ("GET", f"{URL}/{benchmark}/queries/q1"),
        ("GET", f"/api/v2/operations/{operation}/events"),
        ("GET", f"/api/v2/compare?left={benchmark}&right={experiment}.1"),
        ("GET", f"/api/v2/trend?dataset={dataset}"),
        ("GET", f"/api/v2/benchmark-datasets/{dataset}/unjudged"),
        ("DELETE", f"/api/v2/benchmark-datasets/{dataset}/judgments"),
        ("GET", f"/api/v2/benchmark-datasets/{dataset}/judgments/history"),
        ("GET", f"{URL}/latest"),
    ):
        assert client.request(method, path).status_code == 404, path


def test_a_quota_of_jobs(
    of_others: Callable[[str], TestClient], benchmark: str, store: ServiceStore
) -> None:
    client = of_others("local")
    mapping = store.benchmarks.get(benchmark).mapping
    other = client.post(URL, json=body(mapping)).json()["id"]
    key = {"Idempotency-Key": "k1"}
    for _ in range(2):
        assert client.post(f"{URL}/{benchmark}/start", headers=key).status_code == 200
    assert client.post(f"{URL}/{other}/start").status_code == 429


def test_tuned_values_are_runs_that_share_an_index(client: TestClient) -> None:
    matrix = {"search_modes": ["hybrid"], "dense_weight": [0.2, 0.8], "fusion": ["min-max"]}
    preview = client.post("/api/v2/benchmarks/preview", json={"config_matrix": matrix}).json()
    configs = [run["config"] for run in preview["runs"]]
    assert [(one["dense_weight"], one["fusion"], one["rrf_k"]) for one in configs] == [
        (0.2, "min-max", None),
        (0.8, "min-max", None),
    ]
    assert preview["shared"]["indexes"] == 1
    # With constants and no fusion it is rrf; constants of another fusion are refused.
    named = {"search_modes": ["hybrid"], "rrf_k_values": [40]}
    preview = client.post("/api/v2/benchmarks/preview", json={"config_matrix": named}).json()
    assert [run["config"]["rrf_k"] for run in preview["runs"]] == [40]
    unused = {"config_matrix": {**matrix, "rrf_k_values": [40]}}
    assert client.post("/api/v2/benchmarks/preview", json=unused).status_code == 400
    matrix["dense_weight"] = [7]
    refused = client.post("/api/v2/benchmarks/preview", json={"config_matrix": matrix})
    assert refused.status_code == 422
    assert "less than or equal to 1" in refused.text
