"""The service about itself: alive, ready, measured."""

import json
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from karat.engines.embedding import base
from karat.extensions.service.metrics import ServiceMetrics
from karat.installation import DISTRIBUTION

ROOT = Path(__file__).resolve().parents[3]
DASHBOARD = ROOT / "examples" / "grafana" / "karat.json"


def test_alive_and_ready(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {
        "status": "ready",
        "checks": {"database": "ready", "disk": "ready"},
    }


def test_not_ready_without_a_database(client: TestClient) -> None:
    client.app.state.service.store.close()  # type: ignore[attr-defined]
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "not ready")
    assert client.get("/healthz").status_code == 200


def test_which_embedding_models_are_installed(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "find_spec", lambda name: object())
    assert client.get("/api/v2/me").json()["models"] == [
        {"name": name, "installed": True, "install": ""} for name in base.PACKAGED
    ]
    lacking = {"onnxruntime"}
    monkeypatch.setattr(base, "find_spec", lambda name: None if name in lacking else object())
    hint = f"pip install '{DISTRIBUTION}[dense]'"
    assert client.get("/api/v2/me").json()["models"] == [
        {"name": "granite", "installed": False, "install": hint},
        {"name": "minilm", "installed": False, "install": hint},
        {"name": "static", "installed": True, "install": ""},
    ]


def exported(text: str) -> dict[str, float]:
    """Return every sample without its labels, added up."""
    values: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            values[sample.name] = values.get(sample.name, 0.0) + sample.value
    return values


def test_requests_are_counted_by_route(client: TestClient) -> None:
    for name in ("1", "2"):
        client.get(f"/api/v2/benchmark-datasets/{name}")
    text = client.get("/metrics").text
    (line,) = [
        line
        for line in text.splitlines()
        if line.startswith("karat_http_request_duration_seconds_count") and "dataset_id" in line
    ]
    assert 'route="/api/v2/benchmark-datasets/{dataset_id}"' in line
    assert line.endswith(" 2.0")


def test_methods_that_somebody_makes_up_are_one(client: TestClient) -> None:
    for name in ("FIRST", "SECOND"):
        assert client.request(name, "/healthz").status_code == 405
    text = client.get("/metrics").text
    assert "FIRST" not in text
    assert 'method="other",route="/healthz",status="405"} 2.0' in text


def test_an_evaluation_feeds_the_histogram(client: TestClient) -> None:
    asked = {"ranked_items": [{"key": "a"}, {"key": "b"}], "judgments": {"b": 1}, "k_values": [1]}
    assert client.post("/api/v2/evaluate", json=asked).json()["metrics"] == {"ndcg@1": 0.0}
    lines = client.get("/metrics").text.splitlines()
    assert 'vector_ndcg_avg_bucket{k="1",le="0.0"} 1.0' in lines


def test_runs_are_counted() -> None:
    metrics = ServiceMetrics()
    metrics.run_ended(
        "completed",
        seconds=3.0,
        outcomes={"answered": 4, "timeout": 1},
        latencies_s=[0.01, 0.02],
        ndcg={10: 0.75},
        cache_hits=7,
    )
    values = exported(metrics.text().decode())
    assert values["karat_queries_total"] == 5
    assert values["karat_search_latency_seconds_count"] == 2
    assert values["karat_run_duration_seconds_sum"] == 3.0
    assert values["vector_ndcg_avg_sum"] == 0.75
    assert values["karat_cache_hits_total"] == 7


def bare(name: str) -> str:
    """Return the name of a metric without what its samples add to it."""
    return re.sub(r"_(bucket|sum|count|total|created)$", "", name)


def test_every_metric_of_the_dashboard_is_exported() -> None:
    metrics = ServiceMetrics()
    metrics.run_ended(
        "completed", seconds=1, outcomes={"answered": 1}, latencies_s=[0.1], ndcg={10: 1.0}
    )
    metrics.requests.labels("GET", "/", "200").observe(0.1)
    known = set(exported(metrics.text().decode()))
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    named = {name for query in queries for name in re.findall(r"(?:karat|vector)_\w+", query)}
    assert named
    assert named <= known
    # And whatever is exported can be looked at.
    assert set(map(bare, known)) == set(map(bare, named))


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"ranked_items": [], "judgments": {"a": 1}}, 200),
        ({"ranked_items": [{}], "judgments": {"a": 1}}, 400),
        ({"ranked_items": [{"key": "a"}], "judgments": {}}, 200),
        ({"ranked_items": [{"key": "a", "rank": 1}], "judgments": {}}, 422),
        ({"ranked_items": [{"key": "a"}], "judgments": {"a": "x"}}, 422),
        ({"ranked_items": [{"key": "a"}], "judgments": {"a": 1e9}}, 422),
        ({"ranked_items": [{"key": "a"}], "judgments": {"a": 1}, "k_values": [0]}, 422),
        ({"judgments": {"a": 1}}, 422),
    ],
)
def test_what_can_be_evaluated(client: TestClient, asked: object, status: int) -> None:
    assert client.post("/api/v2/evaluate", json=asked).status_code == status


def test_two_rankings(client: TestClient) -> None:
    both = [{"key": "a"}, {"key": "b"}]
    asked = {"ranked_items": both, "improved": both[::-1], "judgments": {"b": 1}, "k_values": [2]}
    scores = client.post("/api/v2/evaluate", json=asked).json()
    assert scores["metrics"]["ndcg@2"] == pytest.approx(0.6309, abs=1e-4)
    assert scores["improved"] == {"ndcg@2": 1.0}
    assert scores["improvement"]["ndcg@2_improvement_pct"] == pytest.approx(58.496, abs=1e-3)
