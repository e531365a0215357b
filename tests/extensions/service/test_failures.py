"""Errors have one shape, a reference, and tell nothing that is nobody's business."""

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from karat.errors import Conflict, EngineError, InputError, KaratError, LimitExceeded, UnknownName
from karat.extensions.service.api.app import create_app
from karat.extensions.service.logs import JsonLines, redacted
from karat.extensions.service.settings import ServiceSettings

ERRORS: dict[str, tuple[Exception, int]] = {
    "conflict": (Conflict("twice"), 409),
    "unknown": (UnknownName("no such thing"), 404),
    "large": (LimitExceeded("too much"), 413),
    "input": (InputError("wrong"), 400),
    "engine": (EngineError("hung"), 400),
    "ours": (KaratError("secret place /srv/x"), 500),
    "bug": (ZeroDivisionError("secret"), 500),
}


@pytest.fixture
def breaking(settings: ServiceSettings) -> Iterator[TestClient]:
    """Return the client of a service with a route that fails as told."""
    app = create_app(settings)

    @app.get("/break/{how}")
    def fail(how: str) -> None:
        raise ERRORS[how][0]

    with TestClient(app, base_url="http://localhost") as client:
        yield client


@pytest.mark.parametrize("how", ERRORS)
def test_one_shape(breaking: TestClient, how: str) -> None:
    error, status = ERRORS[how]
    answer = breaking.get(f"/break/{how}", headers={"X-Correlation-ID": "abc-1"})
    assert answer.status_code == status
    assert answer.headers["X-Correlation-ID"] == "abc-1"
    body = answer.json()
    assert body.keys() == {"detail", "reference"}
    assert body["reference"] == "ERR-abc-1"
    if status == 500:
        assert "secret" not in answer.text
        assert answer.headers["X-Frame-Options"] == "DENY"
    else:
        assert body["detail"] == str(error)


def test_the_log_knows_the_reference(
    breaking: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonLines())
    caplog.set_level(logging.INFO)
    logger = logging.getLogger("karat")
    logger.addHandler(handler)
    try:
        answer = breaking.get("/break/bug?token=karat_abcdefghijk")
    finally:
        logger.removeHandler(handler)
    broke, access = map(json.loads, out.getvalue().splitlines())
    assert f"ERR-{broke['correlation_id']}" == answer.json()["reference"]
    assert "ZeroDivisionError" in broke["exception"]
    assert (access["route"], access["status"]) == ("/break/{how}", 500)
    assert "karat_abc" not in out.getvalue()


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, "\N{EM DASH}".encode().decode("latin-1")])
def test_an_id_that_could_be_mistaken_is_not_taken_over(client: TestClient, given: str) -> None:
    answer = client.get("/healthz", headers={b"X-Correlation-ID": given.encode("latin-1")})
    assert len(answer.headers["X-Correlation-ID"]) == 32


def test_unknown_paths_and_methods(client: TestClient) -> None:
    assert client.get("/nothing").json()["detail"] == "Not Found"
    answer = client.put("/api/v2/session")
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == {"POST", "DELETE"}


SECRETS = [
    ("Authorization: Bearer karat_abc.def", "abc"),
    ("postgresql://karat:hunter2@db/karat", "hunter2"),
    ('{"api_key": "hunter2"}', "hunter2"),
    ("password=hunter2&x=1", "hunter2"),
    ("Cookie: karat_session=hunter2", "hunter2"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secrets_are_hidden(text: str, secret: str) -> None:
    assert secret not in redacted(text)
    assert "[hidden]" in redacted(text)


def test_what_is_no_secret_stays(tmp_path: Path) -> None:
    text = f"the tokens of {tmp_path}: 12 of 30"
    assert redacted(text) == text
