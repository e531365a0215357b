"""The web page is one page at every address, sent with a policy that lets nothing else in."""

import re

import pytest
from fastapi.testclient import TestClient

from karat.extensions.service.api.app import POLICY, built


def asset(ending: str) -> str:
    return next(name for name in built() if name.startswith("assets/") and name.endswith(ending))


def test_the_root_leads_to_the_page(client: TestClient) -> None:
    answer = client.get("/", follow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (307, "/app/")


@pytest.mark.parametrize("address", ["/app/", "/app/benchmarks", "/app/datasets/1?tab=queries"])
def test_every_address_below_is_the_one_page(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    assert '<div id="root">' in answer.text


def test_the_page_may_load_only_files_of_the_service(client: TestClient) -> None:
    policy = client.get("/app/").headers["Content-Security-Policy"]
    assert policy == POLICY
    assert "unsafe" not in policy
    assert set(re.findall(r"-src ([^;]+)", policy)) == {"'none'", "'self'"}


def test_the_page_is_asked_for_anew_and_its_files_never_again(client: TestClient) -> None:
    assert client.get("/app/").headers["Cache-Control"] == "no-cache"
    answer = client.get(f"/{asset('.js')}")
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["Content-Type"].startswith("text/javascript")


def test_a_file_is_the_same_compressed_or_not(client: TestClient) -> None:
    path = f"/{asset('.css')}"
    packed = client.get(path, headers={"Accept-Encoding": "gzip"})
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert packed.text == plain.text


@pytest.mark.parametrize("name", ["nothing.js", "..%2findex.html", "%2e%2e/pages.py", "..\\x"])
def test_nothing_else_is_opened(client: TestClient, name: str) -> None:
    answer = client.get(f"/assets/{name}")
    assert answer.status_code in {401, 404}
    assert "root" not in answer.text or answer.json()["detail"]
