"""Who may ask: nothing is open that nobody has opened."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from karat.extensions.service.api.app import create_app
from karat.extensions.service.api.auth import COOKIE, is_open
from karat.extensions.service.settings import RequestLimits, ServiceSettings
from karat.extensions.service.store import ServiceStore
from karat.extensions.service.store.service import create_token, digest_of

HOST = "karat.example.org"
Token = Callable[..., str]


@pytest.fixture
def reachable(settings: ServiceSettings) -> ServiceSettings:
    """Return settings of a service that others can reach."""
    return replace(settings, host="192.0.2.1", hosts=(HOST,))


@pytest.fixture
def app(reachable: ServiceSettings) -> FastAPI:
    return create_app(reachable)


@pytest.fixture
def stranger(app: FastAPI) -> Iterator[TestClient]:
    """Return a client from elsewhere."""
    with TestClient(app, base_url=f"http://{HOST}") as client:
        yield client


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def leaves(routes: list[BaseRoute], prefix: str = "") -> Iterator[tuple[str, set[str], bool]]:
    """Yield every path that can be asked for, its methods, and whether it is a WebSocket."""
    for route in routes:
        if isinstance(route, Mount):
            yield f"{prefix}{route.path}/any.js", {"GET"}, False
            yield from leaves(route.routes, prefix + route.path)
        elif isinstance(route, WebSocketRoute):
            yield prefix + route.path, set(), True
        elif included := getattr(route, "original_router", None):
            yield from leaves(included.routes, prefix + route.include_context.prefix)  # type: ignore[attr-defined]
        else:
            assert isinstance(route, Route), f"{route!r}: a kind that this walk does not know"
            yield prefix + route.path, set(route.methods or ()), False


def filled(path: str) -> str:
    """Return *path* with an id for each parameter."""
    parts = [
        "0d5bd28f-1ff5-4b1c-9e80-1ff6f6a4f8a4" if part.startswith("{") else part
        for part in path.split("/")
    ]
    return "/".join(parts)


def test_every_route_is_closed_to_strangers(app: FastAPI, stranger: TestClient) -> None:
    asked = 0
    for path, methods, is_socket in leaves(app.routes):
        if is_open(path):
            continue
        if is_socket:
            with pytest.raises(WebSocketDisconnect), stranger.websocket_connect(filled(path)):
                pass
            asked += 1
        for method in methods:
            answer = stranger.request(method, filled(path))
            assert answer.status_code == 401, f"{method} {path}"
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            asked += 1
    assert asked > 5


def test_what_is_open_is_no_more_than_this(app: FastAPI) -> None:
    opened = {path for path, _, _ in leaves(app.routes) if is_open(path)}
    assert {path for path in opened if not path.startswith(("/app", "/assets"))} <= {
        *("/", "/healthz", "/readyz", "/favicon.svg")
    }
    assert not any(path.startswith("/api") for path in opened)
    assert not is_open("/app/../api/v2/me")


def test_a_path_that_is_no_route_is_closed_too(stranger: TestClient) -> None:
    answer = stranger.get("/api/v2/nothing")
    assert (answer.status_code, answer.json()["detail"]) == (
        401,
        "A token is needed: karat token create OWNER",
    )
    assert stranger.get("/api/v2/openapi.json").status_code == 401


def test_a_token_opens(stranger: TestClient, token: Token) -> None:
    answer = stranger.get("/api/v2/me", headers=bearer(token("ada")))
    assert answer.status_code == 200
    assert (answer.json()["owner_id"], answer.json()["scopes"]) == ("ada", ["read", "run"])
    assert answer.json()["authenticated"] is True


@pytest.mark.parametrize(
    "header",
    ["Bearer karat_wrong", "Bearer ", "Basic YTpi", "karat_x", "Bearer \N{LATIN SMALL LETTER E}"],
)
def test_a_wrong_token_opens_nothing(stranger: TestClient, header: str) -> None:
    assert stranger.get("/api/v2/me", headers={"Authorization": header}).status_code == 401


def test_a_wrong_token_is_refused_on_the_loopback_too(client: TestClient) -> None:
    assert client.get("/api/v2/me").json()["owner_id"] == "local"
    assert client.get("/api/v2/me", headers=bearer("karat_wrong")).status_code == 401


def test_an_ended_token_opens_nothing(reachable: ServiceSettings, stranger: TestClient) -> None:
    past = datetime.now(UTC) - timedelta(days=2)
    with ServiceStore(reachable.store) as store:
        old = create_token(store.tokens, "ada", days=1, now=past)
        revoked = create_token(store.tokens, "ada", days=1, now=datetime.now(UTC))
        store.tokens.revoke(revoked.token.id)
    for issued in (old, revoked):
        assert stranger.get("/api/v2/me", headers=bearer(issued.secret)).status_code == 401


def test_looking_needs_less_than_working(stranger: TestClient, token: Token) -> None:
    reader = bearer(token("ada", scope="read"))
    assert stranger.get("/api/v2/me", headers=reader).status_code == 200
    assert stranger.post("/api/v2/session", headers=reader).status_code == 204
    answer = stranger.post("/api/v2/evaluate", headers=reader)
    assert answer.status_code == 403
    assert "scope run" in answer.json()["detail"]


def test_a_session_goes_on_by_cookie(stranger: TestClient, token: Token) -> None:
    opened = stranger.post("/api/v2/session", headers=bearer(token("ada")))
    assert opened.status_code == 204
    cookie = opened.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert stranger.cookies[COOKIE].startswith("karat_")
    assert stranger.get("/api/v2/me").json()["owner_id"] == "ada"
    stranger.delete("/api/v2/session")
    assert stranger.get("/api/v2/me").status_code == 401


def test_behind_a_proxy_with_tls_the_cookie_stays_there(stranger: TestClient, token: Token) -> None:
    mine = bearer(token("ada"))
    plain = stranger.post("/api/v2/session", headers=mine).headers["set-cookie"]
    assert "secure" not in plain.lower()
    tls = stranger.post("/api/v2/session", headers={**mine, "X-Forwarded-Proto": "https"})
    assert "secure" in tls.headers["set-cookie"].lower()


def test_cookies_of_others_do_no_harm(
    stranger: TestClient, client: TestClient, token: Token
) -> None:
    mine = f"other[]={{1}}; {COOKIE}={token('ada')}; last"
    assert stranger.get("/api/v2/me", headers={"Cookie": mine}).json()["owner_id"] == "ada"
    theirs = {"Cookie": f"{COOKIE}=karat_of_another_service"}
    assert stranger.get("/api/v2/me", headers=theirs).status_code == 401
    assert client.get("/api/v2/me", headers=theirs).json()["owner_id"] == "local"
    assert client.get("/api/v2/me", headers=bearer("karat_wrong")).status_code == 401


def test_a_token_asks_only_so_often(reachable: ServiceSettings, token: Token) -> None:
    slow = replace(reachable, limits=RequestLimits(rate=3))
    with TestClient(create_app(slow), base_url=f"http://{HOST}") as client:
        mine, other = bearer(token("ada")), bearer(token("bob"))
        statuses = [client.get("/api/v2/me", headers=mine).status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        assert client.get("/api/v2/me", headers=other).status_code == 200
        answer = client.get("/api/v2/me", headers=mine)
        assert 1 <= int(answer.headers["Retry-After"]) <= 20
        # Guessing is as slow.
        guesses = [client.get("/api/v2/me", headers=bearer(f"x{n}")) for n in range(4)]
        assert [answer.status_code for answer in guesses] == [401, 401, 401, 429]


def test_only_the_hash_of_a_secret_is_kept(settings: ServiceSettings, token: Token) -> None:
    secret = token("ada")
    assert len(secret) > 43, "256 bits"
    assert secret not in Path(settings.store).read_bytes().decode("latin-1")
    with ServiceStore(settings.store) as store:
        (tokens,) = store.tokens.all()
    assert tokens.digest == digest_of(secret)


def test_all_tokens_share_what_the_service_holds(
    reachable: ServiceSettings, stranger: TestClient, token: Token
) -> None:
    ada, bob, eve = (bearer(token(name)) for name in ("ada", "bob", "eve"))
    gold = json.dumps({"queries": [{"query_key": "q", "query_text": "a", "relevant_docs": ["b"]}]})
    sets = "/api/v2/benchmark-datasets"
    file = {"file": ("gold.json", gold)}
    made = stranger.post(sets, files=file, data={"name": "G"}, headers=ada).json()
    datasets = stranger.get(sets, headers=bob).json()["datasets"]
    assert [(each["id"], each["owner_id"]) for each in datasets] == [(made["id"], "ada")]
    grade = {"query_id": "q", "path": "b", "grade": 2, "version": 1}
    judged = stranger.put(f"{sets}/{made['id']}/judgments", json=grade, headers=eve)
    assert judged.json()["change"]["owner_id"] == "eve"
    assert stranger.get("/api/v2/me", headers=bob).json()["shared"] is True
    reader = bearer(token("rob", scope="read"))
    assert stranger.get(f"{sets}/{made['id']}", headers=reader).status_code == 200
    assert stranger.delete(f"{sets}/{made['id']}", headers=reader).status_code == 403
    assert stranger.delete(f"{sets}/{made['id']}", headers=bob).status_code == 204


def test_a_private_service_separates_owners(reachable: ServiceSettings, token: Token) -> None:
    app = create_app(replace(reachable, shared=False))
    ada, bob, admin = (
        bearer(token(name, scope=scope))
        for name, scope in (("ada", "run"), ("bob", "run"), ("eve", "admin"))
    )
    gold = json.dumps({"queries": [{"query_key": "q", "query_text": "a", "relevant_docs": ["b"]}]})
    sets = "/api/v2/benchmark-datasets"
    with TestClient(app, base_url=f"http://{HOST}") as client:
        files = {"file": ("gold.json", gold)}
        made = client.post(sets, files=files, data={"name": "G"}, headers=ada).json()["id"]
        assert client.get(sets, headers=bob).json()["total"] == 0
        assert client.get(f"{sets}/{made}", headers=bob).status_code == 404
        assert client.get(f"{sets}/{made}", headers=admin).status_code == 200
        assert client.get("/api/v2/me", headers=bob).json()["shared"] is False
