"""Requests that nobody would think of, made from the service's own schema: none breaks it."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("schemathesis")

import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from karat.client import Client
from karat.extensions.service.api.app import create_app
from karat.extensions.service.settings import ServiceSettings

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 6
SCHEMA = schemathesis.openapi.from_dict(
    create_app(ServiceSettings(store="", data=Path())).openapi()
)
OPERATIONS = {
    found.ok().label: found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)
}
Known = dict[str, str]


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory,
    listening: Callable[[FastAPI], AbstractContextManager[str]],
    do_jobs: Callable[[ServiceSettings], None],
) -> Iterator[tuple[str, Known]]:
    """Return the address of a service, and what it holds by the name of the parameter."""
    folder = tmp_path_factory.mktemp("service")
    (folder / "a.md").write_text("# A\n\nabout t\n", encoding="utf-8")
    given = ServiceSettings(
        store=str(folder / "karat.db"), data=folder / "data", roots=(folder,), warm_up=False
    )
    with listening(create_app(given)) as address, Client(address) as client:
        file = folder / "gold.json"
        query = {"query_key": "q", "query_text": "t", "relevant_docs": ["a.md", "lost.md"]}
        file.write_text(json.dumps({"queries": [query]}), encoding="utf-8")
        dataset = client.upload_dataset("G", file).id
        source = {"kind": "folder", "path": str(folder)}
        collection = client.create_collection("C", source, index={"dense": False}).id
        do_jobs(given)
        mapping = client.map(dataset, collection).id
        client.resolve(dataset, mapping)
        benchmark = client.create_benchmark("B", mapping, {"search_modes": ["sparse"]}).id
        client.start(benchmark)
        do_jobs(given)
        assert client.benchmark(benchmark).status == "completed"
        run = client.results(benchmark).runs[0].id
        yield (
            address,
            {
                "baseline": run,
                "benchmark": benchmark,
                "benchmark_id": benchmark,
                "collection_id": collection,
                "dataset": dataset,
                "dataset_id": dataset,
                "left": run,
                "mapping_id": mapping,
                "metric": "ndcg@10",
                "path": "a.md",
                "query_id": "q",
                "right": benchmark,
                "run_id": run,
            },
        )


def asked() -> Iterator[tuple[str, GenerationMode]]:
    """Yield each operation with data that fits its schema, and with data that does not."""
    for label, operation in OPERATIONS.items():
        yield label, GenerationMode.POSITIVE
        if operation.body or operation.path_parameters or operation.query:
            yield label, GenerationMode.NEGATIVE


@pytest.mark.parametrize(("label", "mode"), list(asked()))
def test_no_request_breaks_the_service(
    label: str, mode: GenerationMode, service: tuple[str, Known]
) -> None:
    address, known = service

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=OPERATIONS[label].as_strategy(generation_mode=mode), real=st.booleans())
    def ask(case: Case[Any], real: bool) -> None:
        # A stream behind its last event has no end; what is deleted is there no more, and what is
        # to be indexed is not to be searched.
        if real and not label.endswith(("/events", "/reindex")) and "DELETE" not in label:
            for part in (case.path_parameters, case.query, case.body):
                if isinstance(part, dict):
                    part.update({name: known[name] for name in part if name in known})
        case.call_and_validate(base_url=address, checks=CHECKS)

    ask()
