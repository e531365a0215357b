"""A body that is too large is refused at once."""

from collections.abc import AsyncIterator, Iterator

import anyio
import pytest
from fastapi.testclient import TestClient
from starlette.types import Message

from karat.server.bodies import BodyCap


@pytest.mark.parametrize("path", ["/api/v2/session", "/nothing"])
def test_a_length_that_says_too_much(client: TestClient, path: str) -> None:
    answer = client.post(path, content=b"x" * 2_000_000)
    assert answer.status_code == 413
    assert answer.json()["detail"] == "The body is larger than 1,048,576 bytes"


def test_only_a_form_may_be_as_large_as_an_upload(client: TestClient) -> None:
    # JSON is held in memory and parsed at once: 80 MB of it kept everybody waiting for 50 s.
    answer = client.post("/api/v2/collections", json={"name": "x" * 2_000_000})
    assert answer.status_code == 413
    form = {"file": b"x" * 2_000_000}
    assert client.post("/api/v2/collections", files=form).status_code == 422


def test_nothing_is_read_of_it() -> None:
    read: list[Message] = []
    sent: list[Message] = []

    async def ask() -> None:
        async def receive() -> Message:
            read.append({})
            return {"type": "http.request", "body": b""}

        async def send(message: Message) -> None:
            sent.append(message)

        async def app(*_: object) -> None:
            raise AssertionError("the application is not reached")

        headers = [(b"content-length", b"11")]
        scope = {"type": "http", "path": "/x", "headers": headers}
        await BodyCap(app, most=10, uploads={})(scope, receive, send)

    anyio.run(ask)
    assert not read
    assert sent[0]["status"] == 413


def chunks(count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield b" " * 100_000


def test_a_body_without_a_length(client: TestClient) -> None:
    answer = client.post(
        "/api/v2/evaluate", content=chunks(30), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 413


def test_the_rest_is_left_unread() -> None:
    taken = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"x" * 10

    async def ask() -> None:
        parts = body()

        async def receive() -> Message:
            return {"type": "http.request", "body": await anext(parts), "more_body": True}

        async def app(_scope: object, receive: object, _send: object) -> None:
            while True:
                await receive()  # type: ignore[operator]

        async def send(_message: Message) -> None: ...

        with pytest.raises(Exception, match="413"):
            await BodyCap(app, most=25, uploads={})(
                {"type": "http", "path": "/", "headers": []}, receive, send
            )

    anyio.run(ask)
    assert taken == 3
