"""Other web pages, other names: what a browser may be made to send."""

import re

import pytest
from fastapi.testclient import TestClient

HOSTS = [
    ("localhost:8080", 200),
    ("127.0.0.1", 200),
    ("[::1]:8080", 200),
    ("LOCALHOST", 200),
    ("evil.example", 421),
    ("localhost.evil.example", 421),
    ("localhost@evil.example", 421),
    ("", 421),
]


@pytest.mark.parametrize(("host", "status"), HOSTS)
def test_by_which_name_we_are_called(client: TestClient, host: str, status: int) -> None:
    answer = client.get("/healthz", headers={"Host": host})
    assert answer.status_code == status
    if status == 421:
        assert answer.json()["reference"].startswith("ERR-")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://localhost:8080"}, 204),
        ({"Origin": "http://localhost:9999"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 204),
        ({"Sec-Fetch-Site": "none"}, 204),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 403),
    ],
)
def test_where_a_change_comes_from(
    client: TestClient, headers: dict[str, str], status: int
) -> None:
    assert client.delete("/api/v2/session", headers=headers).status_code == status


def test_another_site_may_link_here_but_not_read(client: TestClient) -> None:
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert client.get("/healthz", headers=cross | {"Sec-Fetch-Mode": "navigate"}).is_success
    for mode in ("cors", "no-cors", "websocket"):
        answer = client.get("/healthz", headers=cross | {"Sec-Fetch-Mode": mode})
        assert answer.status_code == 403


def test_the_page_is_there_to_explain_what_a_proxy_leaves_out(client: TestClient) -> None:
    """Host without the port, which Origin has: what nginx makes of `Host $host`."""
    client.headers |= {"Host": "localhost", "Origin": "https://localhost:8443"}
    index = client.get("/app/benchmarks")
    assert index.status_code == 200
    for asset in re.findall(r'(?:src|href)="(/[^"]+)"', index.text):
        assert client.get(asset).status_code == 200
    refused = client.post("/api/v2/examples")
    assert refused.status_code == 403
    assert refused.json()["detail"] == (
        "The browser sent this request to localhost:8443, but it arrived for localhost: the proxy "
        "must forward Host with its port (nginx: proxy_set_header Host $http_host)"
    )


def test_no_page_may_frame_or_sniff_ours(client: TestClient) -> None:
    headers = client.get("/healthz").headers
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "access-control-allow-origin" not in headers
