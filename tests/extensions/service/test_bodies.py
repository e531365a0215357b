"""A body that is too large is refused at once."""

import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from socket import create_connection
from time import monotonic
from urllib.parse import urlsplit

import anyio
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from karat.extensions.service.api.app import create_app
from karat.extensions.service.api.middleware import BodyCap
from karat.extensions.service.settings import RequestLimits, ServiceSettings


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
        await BodyCap(app, most=10, uploads={}, patience_s=30)(scope, receive, send)

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
            await BodyCap(app, most=25, uploads={}, patience_s=30)(
                {"type": "http", "path": "/", "headers": []}, receive, send
            )

    anyio.run(ask)
    assert taken == 3


def slowed(receive: Receive, *, patience_s: float, clock: Callable[[], float]) -> int:
    """Return the status by which an application that reads a whole body is stopped."""

    async def app(_scope: Scope, receive: Receive, _send: Send) -> None:
        while (await receive())["more_body"]:
            pass

    async def send(_message: Message) -> None: ...

    async def ask() -> int:
        capped = BodyCap(app, most=1_000, uploads={}, patience_s=patience_s, clock=clock)
        try:
            await capped({"type": "http", "path": "/", "headers": []}, receive, send)
        except HTTPException as stopped:
            return stopped.status_code
        return 200

    return anyio.run(ask)


def test_a_body_that_does_not_come() -> None:
    async def never() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    assert slowed(never, patience_s=0.001, clock=monotonic) == 408


@pytest.mark.parametrize(("part", "status"), [(b"x", 408), (b"", 408), (b"x" * 20, 413)])
def test_a_body_that_comes_for_ever(part: bytes, status: int) -> None:
    """A byte a second is no body; fifty of twenty bytes are one that is too large."""
    seconds = itertools.count()

    async def drip() -> Message:
        return {"type": "http.request", "body": part, "more_body": True}

    patience_s = 20 if status == 408 else 1_000
    assert slowed(drip, patience_s=patience_s, clock=lambda: float(next(seconds))) == status


def test_whoever_has_sent_all_has_time() -> None:
    """The time in which an answer is made is not that of the client."""
    seconds = itertools.count(step=100)

    async def whole() -> Message:
        return {"type": "http.request", "body": b"x", "more_body": False}

    assert slowed(whole, patience_s=1, clock=lambda: float(next(seconds))) == 200


def test_over_a_real_connection(
    settings: ServiceSettings, listening: Callable[[FastAPI], AbstractContextManager[str]]
) -> None:
    hurried = replace(settings, limits=RequestLimits(body_s=1))
    with listening(create_app(hurried)) as address:
        target = urlsplit(address)
        with create_connection((target.hostname, target.port), timeout=60) as connection:
            head = f"POST /api/v2/evaluate HTTP/1.1\r\nHost: localhost:{target.port}\r\n"
            head += "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
            connection.sendall(head.encode())
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"The body did not come in time" in answer
