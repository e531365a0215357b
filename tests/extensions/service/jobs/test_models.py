"""Models that the service was started with: benchmarks may name them, and no others."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from karat.extensions.service.api.app import create_app
from karat.extensions.service.benchmarks import offered_models
from karat.extensions.service.jobs.worker import settings_message
from karat.extensions.service.settings import ModelChoices, ServiceSettings
from karat.extensions.service.store import ServiceStore
from tests.embedding_endpoint import Endpoint, serving
from tests.extensions.service.jobs.test_engines import DoJobs

pytest.importorskip("httpx")
pytest.importorskip("tenacity")

URL = "/api/v2/benchmarks"
AXES = {"search_modes": ["sparse"], "use_reranker": [True], "top_k_values": [10]}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as served:
        yield served


def test_a_benchmark_with_a_remote_reranker(
    settings: ServiceSettings,
    store: ServiceStore,
    benchmark: str,
    endpoint: Endpoint,
    do_jobs: DoJobs,
) -> None:
    spec = f"vllm:bge@{endpoint.url}?price_per_million_tokens=1"
    offering = replace(settings, choices=offered_models(rerankers=[f"gpu={spec}"]))
    matrix = {**AXES, "rerankers": ["maxsim", "gpu"]}
    mapping = store.benchmarks.get(benchmark).mapping
    with TestClient(create_app(offering), base_url="http://localhost:8080") as client:
        me = client.get("/api/v2/me").json()
        assert me["choices"]["rerankers"] == ["maxsim", "gpu"]
        assert me["choices"]["contexts"] == []
        preview = client.post(f"{URL}/preview", json={"config_matrix": matrix}).json()
        assert [run["name"] for run in preview["runs"]] == [
            "sparse +maxsim @10",
            "sparse +gpu @10",
        ]
        made = client.post(
            URL,
            json={
                "name": "Remote",
                "mapping_id": mapping,
                "config_matrix": {**AXES, "rerankers": ["gpu"]},
                "timing": "none",
            },
        ).json()
        client.post(f"{URL}/{made['id']}/start")
        do_jobs(offering)
        stored = client.get(f"{URL}/{made['id']}").json()
        assert (stored["status"], stored["completed_runs"]) == ("completed", 1)
        results = client.get(f"{URL}/{made['id']}/results")
    assert {body["path"] for body in endpoint.bodies} == {"/v1/rerank"}
    # Clients see the name of the reranker, never its address.
    (run,) = results.json()["runs"]
    assert run["config"]["reranker"] == "gpu"
    assert endpoint.url not in results.text


@pytest.mark.parametrize(
    ("axis", "names"),
    [
        ("rerankers", ["cohere:rerank-v3.5"]),
        ("rerankers", ["tei:http://127.0.0.1:9"]),
        ("models", ["openai:text-embedding-3-small"]),
        ("models", ["st:/etc"]),
        ("context", ["openai/gpt-4o-mini"]),
    ],
)
def test_a_request_names_no_endpoint(
    axis: str, names: list[str], settings: ServiceSettings, store: ServiceStore, benchmark: str
) -> None:
    mapping = store.benchmarks.get(benchmark).mapping
    asked = {"config_matrix": {**AXES, axis: names}}
    with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
        for answer in (
            client.post(URL, json={"name": "Own", "mapping_id": mapping, **asked}),
            client.post(f"{URL}/preview", json=asked),
        ):
            assert answer.status_code == 400
            assert f"{names[0]!r} on this service; offered: " in answer.json()["detail"]


def test_workers_receive_the_choices(settings: ServiceSettings) -> None:
    choices = ModelChoices(models={"gpu": "tei:http://gpu:8080"})
    message = settings_message(replace(settings, choices=choices))
    assert ModelChoices(**message["choices"]) == choices
