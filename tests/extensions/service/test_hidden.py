"""What no answer tells: where the service keeps what it was given."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from karat.extensions.service.settings import ServiceSettings

API = "/api/v2"
DOCUMENTS = {"mail.md": "# Mail\n\nLetters are sent.\n", "key.md": "# Key\n\nIt opens doors.\n"}
QUERIES = [
    {"query_key": "q1", "query_text": "letters", "relevant_docs": ["mail.md", "lost.md"]},
    {"query_key": "q2", "query_text": "doors", "relevant_docs": ["key.md"]},
]


def uploaded(client: TestClient) -> str:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        for path, text in DOCUMENTS.items():
            packed.writestr(path, text)
    form = {"name": "Letters", "index": '{"dense": false}'}
    answer = client.post(f"{API}/collections", files={"file": archive.getvalue()}, data=form)
    return str(answer.json()["id"])


def measured(client: TestClient, work: Callable[[], None]) -> dict[str, str]:
    """Return the ids of all that a benchmark on uploaded documents takes, by their parameters."""
    collection = uploaded(client)
    work()
    file = {"file": ("gold.json", json.dumps({"queries": QUERIES}))}
    made = client.post(f"{API}/benchmark-datasets", files=file, data={"name": "G"}).json()
    mappings = f"{API}/benchmark-datasets/{made['id']}/mappings"
    mapping = client.post(mappings, json={"collection_id": collection}).json()["id"]
    client.post(f"{mappings}/{mapping}/resolve")
    matrix = {"search_modes": ["sparse"], "top_k_values": [1, 2]}
    asked = {"name": "B", "mapping_id": mapping, "config_matrix": matrix}
    benchmark = client.post(f"{API}/benchmarks", json=asked).json()["id"]
    operation = client.post(f"{API}/benchmarks/{benchmark}/start").json()["operation_uuid"]
    work()
    run = client.get(f"{API}/benchmarks/{benchmark}/results").json()["runs"][0]["id"]
    return {
        "benchmark_id": benchmark,
        "collection_id": collection,
        "dataset_id": made["id"],
        "mapping_id": mapping,
        "operation_id": operation,
        "query_id": "q1",
        "run_id": run,
    }


def readable(client: TestClient, known: Mapping[str, str]) -> Iterator[str]:
    """Yield the path of every route that reads, about what is *known*."""
    for route in client.app.routes:  # type: ignore[attr-defined]
        if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
            yield re.sub(r"\{(\w+)(:path)?\}", lambda found: known.get(found[1], "x"), route.path)


def test_where_things_are_kept_is_told_nowhere(
    client: TestClient,
    settings: ServiceSettings,
    work: Callable[[], None],
    embedded: Callable[[str], dict[str, Any]],
) -> None:
    known = measured(client, work)
    asked = {"left": known["run_id"], "right": known["benchmark_id"]}
    asked |= {"q": "e", "path": "mail.md", "dataset": known["dataset_id"]}
    answered = 0
    for path in readable(client, known):
        answer = client.get(path, params=asked)
        answered += answer.status_code == 200
        assert str(settings.data) not in answer.text, path
        assert settings.store not in answer.text, path
    assert answered > 25
    report = client.get(f"{API}/benchmarks/{known['benchmark_id']}/report.html").text
    inside = json.dumps(embedded(report))
    assert "Letters" in report + inside
    assert str(settings.data) not in inside
    assert settings.store not in inside
