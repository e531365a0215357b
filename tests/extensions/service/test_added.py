"""Parts of the service that extensions add, and what remains where one is broken."""

import json
import logging
from collections.abc import Callable

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient

from karat.extension import Extension
from karat.extensions.service.api.app import SCHEMA_FILE, create_app, schema_text
from karat.extensions.service.jobs.job import JobContext, load_handlers
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import JobStatus
from tests.extension_kit import install

router = APIRouter()


@router.get("/items/{item}")
def read(item: str) -> str:
    return item


@router.post("/items")
def write() -> str:
    return "written"


class Handler:
    def run(self, work: JobContext) -> None:
        raise NotImplementedError

    def ended(self, work: JobContext, status: JobStatus, error: str) -> None:
        raise NotImplementedError


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Add an extension with a router and a job, and one of which both are missing."""
    caplog.set_level(logging.ERROR)
    names = {"good": "", "bad": "_missing"}
    for name, suffix in names.items():
        adds = {
            "router": {name: f"{__name__}:router{suffix}"},
            "job": {f"{name}-job": f"{__name__}:Handler{suffix}"},
        }
        install(monkeypatch, Extension(name, "For a test.", adds=adds))


@pytest.fixture
def app(added: None, settings: ServiceSettings) -> FastAPI:
    return create_app(settings)


def test_routes_are_below_the_name(app: FastAPI, caplog: pytest.LogCaptureFixture) -> None:
    with TestClient(app, base_url="http://localhost:8080") as client:
        assert client.get("/api/extensions/good/items/3").json() == "3"
        assert client.get("/api/extensions/bad/items/3").status_code == 404
        assert client.get("/items/3").status_code == 404
        measured = client.get("/metrics").text
    assert 'route="/api/extensions/good/items/{item}"' in measured
    assert 'route="unknown"' in measured
    logged = caplog.get_records("setup")
    assert [record.__dict__["router"] for record in logged] == ["bad"]


def test_routes_need_a_token(app: FastAPI, token: Callable[..., str]) -> None:
    secret = token(scope="read")
    with TestClient(app, base_url="http://localhost:8080") as client:
        path = "/api/extensions/good/items"
        wrong = {"Authorization": "Bearer karat_wrong"}
        assert client.get(f"{path}/3", headers=wrong).status_code == 401
        reader = {"Authorization": f"Bearer {secret}"}
        assert client.get(f"{path}/3", headers=reader).status_code == 200
        assert client.post(path, headers=reader).status_code == 403


def test_the_committed_schema_is_that_of_the_service_alone(app: FastAPI) -> None:
    assert "/api/extensions/good/items/{item}" in app.openapi()["paths"]
    assert schema_text() == SCHEMA_FILE.read_text(encoding="utf-8")
    assert "/api/extensions" not in json.dumps(json.loads(schema_text())["paths"])


def test_jobs_without_a_handler_are_left_to_others(
    added: None, caplog: pytest.LogCaptureFixture
) -> None:
    assert sorted(load_handlers()) == ["benchmark", "good-job", "index", "resolve"]
    assert [record.__dict__["kind"] for record in caplog.records] == ["bad-job"]
