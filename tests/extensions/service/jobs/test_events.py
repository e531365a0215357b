"""One stream of events: ordered, replayed from any point, ended when nothing more will come."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from karat.errors import KaratError
from karat.extensions.service import events as hub_module
from karat.extensions.service.api.app import create_app
from karat.extensions.service.api.routes import events as events_module
from karat.extensions.service.events import EventBus, EventFilter
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import JobKind, JobStatus, ServiceEvent, ServiceStore
from tests.extensions.service.jobs.conftest import until

KIND = "collection_progress"


def told(store: ServiceStore, operation: str, status: str, done: int = 0) -> ServiceEvent:
    data = {"subject_id": operation, "status": status, "stage": "x", "done": done, "total": 9}
    return store.events.add(operation, operation, KIND, {**data, "error_message": None})


@pytest.fixture
def client(settings: ServiceSettings) -> Iterator[TestClient]:
    with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
        yield client


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "POLL_S", 0.005)


async def come_true(condition: Callable[[], object]) -> None:
    """Let others go on until *condition* holds."""
    waiting = threading.Event()
    while not condition():
        await asyncio.to_thread(waiting.wait, 0.005)


async def collected(event_bus: EventBus, followed: EventFilter, *, after: int = 0) -> list[int]:
    return [event.id async for event in event_bus.subscribe(followed, after=after)]


def test_kept_and_new_events_come_in_order(store: ServiceStore) -> None:
    heard: list[int] = []

    async def scenario() -> list[list[int]]:
        event_bus = EventBus(store.events, on_event=lambda event: heard.append(event.id))
        reading = asyncio.create_task(event_bus.run())
        # Until the event_bus has begun, what is told may be of the past to it.
        while not heard:
            await asyncio.to_thread(told, store, "a", "running")
        following = [
            asyncio.create_task(collected(event_bus, EventFilter(operation="a"))),
            asyncio.create_task(collected(event_bus, EventFilter(subject="a"), after=first.id)),
            asyncio.create_task(collected(event_bus, EventFilter(operation="b"))),
        ]
        for number in range(3):
            await asyncio.to_thread(told, store, "a", "running", number)
            await asyncio.to_thread(told, store, "b", "running", number)
        for operation in ("a", "b"):
            await asyncio.to_thread(told, store, operation, "completed")
        streams = await asyncio.gather(*following)
        event_bus.close()
        await reading
        return list(streams)

    first = told(store, "a", "running")
    everything, rest, others = asyncio.run(scenario())
    stored = store.events.after(0)
    assert everything == [event.id for event in stored if event.operation == "a"]
    assert rest == everything[1:]
    assert others == [event.id for event in stored if event.operation == "b"]
    # What came before the process began is not news.
    assert heard == [event.id for event in stored if event.id >= heard[0]]
    assert first.id < heard[0]


def test_who_falls_behind_misses_nothing(
    store: ServiceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "MOST_WAITING", 3)

    heard: list[int] = []

    async def scenario() -> list[int]:
        event_bus = EventBus(store.events, on_event=lambda event: heard.append(event.id))
        reading = asyncio.create_task(event_bus.run())
        while not heard:
            await asyncio.to_thread(told, store, "a", "running")
        seen: list[int] = []
        async for event in event_bus.subscribe(EventFilter(operation="a")):
            seen.append(event.id)
            if len(seen) == 1:
                for number in range(20):
                    await asyncio.to_thread(told, store, "a", "running", number)
                end = await asyncio.to_thread(told, store, "a", "completed")
                await come_true(lambda: end.id in heard)  # noqa: B023 - asked at once
        event_bus.close()
        await reading
        return seen

    assert asyncio.run(scenario()) == [event.id for event in store.events.after(0)]


def test_streams_end_with_the_service(store: ServiceStore) -> None:
    async def scenario() -> list[int]:
        event_bus = EventBus(store.events)
        reading = asyncio.create_task(event_bus.run())
        following = asyncio.create_task(collected(event_bus, EventFilter(operation="a")))
        await come_true(lambda: event_bus.subscribers)
        event_bus.close()
        await reading
        return await following

    event = told(store, "a", "running")
    assert asyncio.run(scenario()) == [event.id]


def test_one_that_is_over_and_goes_on(store: ServiceStore) -> None:
    """An end is the end of the stream only where nothing came after it."""

    async def scenario() -> list[int]:
        event_bus = EventBus(store.events)
        return await collected(event_bus, EventFilter(operation="a"))

    for status in ("running", "cancelled", "running", "completed"):
        told(store, "a", status)
    assert len(asyncio.run(scenario())) == 4


def frames(text: str) -> list[dict[str, str]]:
    """Return the fields of each server-sent event."""
    return [
        dict(line.split(": ", 1) for line in block.splitlines())
        for block in text.split("\n\n")
        if block.strip()
    ]


@pytest.fixture
def operation(store: ServiceStore, benchmark: str) -> str:
    """Return an operation with three events, of which the last ends it."""
    operation = store.benchmarks.start(benchmark).operation
    assert operation
    for done, status in enumerate(("running", "running", "completed")):
        told(store, operation, status, done)
    return operation


def test_server_sent_events(client: TestClient, operation: str) -> None:
    url = f"/api/v2/operations/{operation}/events"
    answer = client.get(url)
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    events = frames(answer.text)
    assert [frame["event"] for frame in events] == [KIND] * 3
    message: Any = json.loads(events[0]["data"])
    assert message.keys() == {"timestamp", "type", "data"}
    assert message["data"]["done"] == 0
    rest = client.get(url, headers={"Last-Event-ID": events[0]["id"]})
    assert frames(rest.text) == events[1:]
    over = client.get(url, headers={"Last-Event-ID": events[2]["id"]})
    assert (over.status_code, over.content) == (204, b"")
    assert client.get(url, headers={"Last-Event-ID": "x"}).status_code == 422
    # Nobody can have seen it: the database is an older one.
    assert frames(client.get(url, headers={"Last-Event-ID": str(2**62)}).text) == events
    assert client.get(f"/api/v2/operations/{uuid4()}/events").status_code == 404


@pytest.mark.parametrize("kind", list(JobKind))
def test_an_operation_whose_events_are_gone(
    client: TestClient, store: ServiceStore, benchmark: str, kind: JobKind
) -> None:
    """How it has ended is told all the same, once."""
    made = store.benchmarks.get(benchmark)
    if kind is JobKind.BENCHMARK:
        operation = str(store.benchmarks.start(benchmark).operation)
        store.benchmarks.finish(benchmark, "failed", error="broke")
    else:
        subject = made.collection if kind is JobKind.INDEX else made.mapping
        operation = store.jobs.add(kind, subject, owner="local").id
    store.jobs.claim("far:1")
    store.jobs.end(operation, "far:1", JobStatus.FAILED, error="broke")
    url = f"/api/v2/operations/{operation}/events"
    (frame,) = frames(client.get(url).text)
    assert json.loads(frame["data"])["data"]["status"] == "failed"
    assert frames(client.get(url).text) == [frame]
    assert client.get(url, headers={"Last-Event-ID": frame["id"]}).status_code == 204
    with client.websocket_connect(f"ws://localhost:8080/ws/operations/{operation}") as socket:
        assert socket.receive_json() == json.loads(frame["data"])


def test_a_benchmark_whose_events_are_gone(
    client: TestClient, store: ServiceStore, benchmark: str
) -> None:
    first = str(store.benchmarks.start(benchmark).operation)
    store.benchmarks.cancel(benchmark)
    url = f"/api/v2/benchmarks/{benchmark}/events"
    (frame,) = frames(client.get(url).text)
    assert json.loads(frame["data"])["data"]["status"] == "cancelled"
    # It runs again, which changes nothing of what it was before.
    store.benchmarks.start(benchmark)
    store.events.drop_older(timedelta(-1))
    (frame,) = frames(client.get(f"/api/v2/operations/{first}/events").text)
    assert json.loads(frame["data"])["data"]["status"] == "cancelled"
    store.benchmarks.cancel(benchmark)
    store.benchmarks.delete(benchmark)
    store.events.drop_older(timedelta(-1))
    assert client.get(f"/api/v2/operations/{first}/events").status_code == 404


def test_cancelled_before_it_was_ever_started(client: TestClient, benchmark: str) -> None:
    client.post(f"/api/v2/benchmarks/{benchmark}/cancel")
    (frame,) = frames(client.get(f"/api/v2/benchmarks/{benchmark}/events").text)
    assert json.loads(frame["data"])["data"]["status"] == "cancelled"


@contextmanager
def following(client: TestClient, url: str) -> Iterator["Future[Any]"]:
    """Follow a stream in another thread; what it answers is known when the stream has ended."""
    event_bus = client.app.state.service.event_bus  # type: ignore[attr-defined]
    before = event_bus.subscribers
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(client.get, url)
        until(lambda: event_bus.subscribers > before or answer.done())
        yield answer


def test_an_end_that_nobody_told(
    client: TestClient, store: ServiceStore, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever ended it was killed at that moment; those who wait learn of it."""
    monkeypatch.setattr(events_module, "LOOK_S", 0.005)
    told(store, operation, "running")
    with following(client, f"/api/v2/operations/{operation}/events") as answer:
        store.jobs.claim("far:1")
        store.jobs.end(operation, "far:1", JobStatus.CANCELLED)
    assert '"status":"cancelled"' in answer.result().text


def test_a_token_that_ends_ends_its_streams(
    settings: ServiceSettings,
    store: ServiceStore,
    benchmark: str,
    token: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events_module, "LOOK_S", 0.005)
    operation = str(store.benchmarks.start(benchmark).operation)
    told(store, operation, "running")
    mine = {"Authorization": f"Bearer {token('ada', scope='admin')}"}
    app = create_app(replace(settings, hosts=("karat.example",)))
    with TestClient(app, base_url="http://localhost:8080", headers=mine) as client:
        address = f"ws://localhost:8080/ws/operations/{operation}"
        with (
            following(client, f"/api/v2/benchmarks/{benchmark}/events") as answer,
            client.websocket_connect(address) as socket,
        ):
            assert socket.receive_json()["data"]["status"] == "running"
            assert not answer.done()
            store.tokens.revoke(store.tokens.all()[0].id)
            with pytest.raises(WebSocketDisconnect) as ended:
                socket.receive_json()
        assert (ended.value.code, ended.value.reason) == (1008, "The token is no longer valid")
        assert answer.result().is_success
        assert client.get(f"/api/v2/benchmarks/{benchmark}").status_code == 401


def test_a_stream_outlasts_its_database(
    client: TestClient, store: ServiceStore, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module, "LOOK_S", 0.005)
    failures: list[str] = []

    def away(*_: object) -> None:
        failures.append("the database failed")
        raise KaratError(failures[-1])

    told(store, operation, "running")
    with following(client, f"/api/v2/operations/{operation}/events") as answer:
        monkeypatch.setattr(events_module, "report_end", away)
        # More often than there are events: at some look there was none to send.
        until(lambda: len(failures) > 8)
        assert not answer.done()
        told(store, operation, "completed")
    assert ": keep-alive" in answer.result().text
    assert '"status":"completed"' in answer.result().text


def test_a_web_socket(client: TestClient, operation: str) -> None:
    address = "ws://localhost:8080/ws/operations"
    with client.websocket_connect(f"{address}/{operation}") as socket:
        socket.send_bytes(b"what a client says means nothing")
        messages = [socket.receive_json() for _ in range(3)]
        with pytest.raises(WebSocketDisconnect) as ended:
            socket.receive_json()
    assert ended.value.code == 1000
    assert [message["data"]["status"] for message in messages] == ["running"] * 2 + ["completed"]
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        client.websocket_connect(f"{address}/{uuid4()}"),
    ):
        pass
    assert (refused.value.code, refused.value.reason[:12]) == (1008, "no operation")
