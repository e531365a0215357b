"""The stream of events, as server-sent events and over a WebSocket."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Response, WebSocket
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.concurrency import run_in_threadpool

from karat.errors import KaratError, UnknownName
from karat.experiments.store.database import log_retry
from karat.extensions.service.api.failures import failures
from karat.extensions.service.api.state import Caller, CurrentCaller, CurrentService, Service
from karat.extensions.service.events import EventFilter, is_end, report_end
from karat.extensions.service.schemas.results import Event as Message
from karat.extensions.service.store import ServiceEvent

router = APIRouter(tags=["events"])

logger = logging.getLogger("karat.events")

# After an expired token, a stream stays open no longer than this. Something is sent each time,
# because proxies close idle connections.
LOOK_S = 5.0
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events, each an Event as JSON; Last-Event-ID resumes them",
        "content": {
            "text/event-stream": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "event": {"type": "string"},
                        "data": {"type": "string", "contentMediaType": "application/json"},
                    },
                }
            }
        },
    },
    204: {"description": "All events were sent, and the stream has ended"},
}
LastSeen = Annotated[int, Header(alias="Last-Event-ID", ge=0, le=2**62)]


@router.get(
    "/api/v2/benchmarks/{benchmark_id}/events",
    response_class=Response,
    responses={**failures(404), **STREAM},
)
async def follow_benchmark(
    serving: CurrentService, caller: CurrentCaller, benchmark_id: UUID, last_event_id: LastSeen = 0
) -> Response:
    """Follow a benchmark, from its first event or from the one after Last-Event-ID."""
    await run_in_threadpool(serving.store.benchmarks.get, str(benchmark_id), owner=caller.sees)
    return await _stream(serving, caller, EventFilter(subject=str(benchmark_id)), last_event_id)


@router.get(
    "/api/v2/operations/{operation_id}/events",
    response_class=Response,
    responses={**failures(404), **STREAM},
)
async def follow_operation(
    serving: CurrentService, caller: CurrentCaller, operation_id: UUID, last_event_id: LastSeen = 0
) -> Response:
    """Follow an operation: a started benchmark, or the job of a collection or mapping."""
    await run_in_threadpool(serving.store.jobs.get, str(operation_id), owner=caller.sees)
    return await _stream(serving, caller, EventFilter(operation=str(operation_id)), last_event_id)


@router.websocket("/ws/operations/{operation_id}")
async def watch_operation(socket: WebSocket, operation_id: UUID) -> None:
    """Send each event of an operation, from the first to the last, and close."""
    serving: Service = socket.app.state.service
    caller: Caller = socket.state.caller
    followed = EventFilter(operation=str(operation_id))
    try:
        await run_in_threadpool(serving.store.jobs.get, str(operation_id), owner=caller.sees)
        await run_in_threadpool(report_end, serving.store, followed)
    except UnknownName as error:
        await socket.close(1008, str(error))
        return
    await socket.accept()
    sending = asyncio.create_task(_send_all(socket, serving, caller, followed))
    listening = asyncio.create_task(_until_left(socket))
    await asyncio.wait({sending, listening}, return_when=asyncio.FIRST_COMPLETED)
    for task in (sending, listening):
        task.cancel()


async def _stream(serving: Service, caller: Caller, followed: EventFilter, after: int) -> Response:
    await run_in_threadpool(report_end, serving.store, followed)
    if after and after > await run_in_threadpool(serving.store.events.last):
        # The client has seen an id of a database that was restored to an older state since.
        after = 0
    if after and await run_in_threadpool(_is_over, serving, followed, after):
        # After this status a browser does not reconnect.
        return Response(status_code=204)
    return EventSourceResponse(
        _frames(serving, caller, followed, after), headers={"Cache-Control": "no-store"}
    )


def _is_over(serving: Service, followed: EventFilter, after: int) -> bool:
    events = serving.store.events.after(
        after - 1, operation=followed.operation, subject=followed.subject, limit=2
    )
    return len(events) == 1 and events[0].id == after and is_end(events[0])


async def _frames(
    serving: Service, caller: Caller, followed: EventFilter, after: int
) -> AsyncIterator[bytes]:
    """Yield events as they are sent, and a comment where none has come for a while."""
    async for event in _events(serving, caller, followed, after):
        if event is None:
            yield format_sse_event(comment="keep-alive")
        else:
            yield format_sse_event(data_str=_message(event), event=event.type, id=str(event.id))


async def _send_all(
    socket: WebSocket, serving: Service, caller: Caller, followed: EventFilter
) -> None:
    async for event in _events(serving, caller, followed):
        if event is not None:
            await socket.send_text(_message(event))
    if await run_in_threadpool(serving.lets_in, caller):
        await socket.close()
    else:
        await socket.close(1008, "The token is no longer valid")


async def _until_left(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


async def _events(
    serving: Service, caller: Caller, followed: EventFilter, after: int = 0
) -> AsyncIterator[ServiceEvent | None]:
    """Yield each event, and None where there was none between two looks at the store.

    The stream ends when the token of *caller* expires or its subject is deleted.
    """
    clock = asyncio.get_running_loop().time
    events = aiter(serving.event_bus.subscribe(followed, after=after))
    waiting = asyncio.ensure_future(anext(events, None))
    look = clock() + LOOK_S
    try:
        while True:
            await asyncio.wait({waiting}, timeout=max(look - clock(), 0.0))
            if clock() >= look:
                if not await run_in_threadpool(_goes_on, serving, caller, followed):
                    return
                look = clock() + LOOK_S
            if not waiting.done():
                yield None
                continue
            event = waiting.result()
            if event is None:
                return
            yield event
            waiting = asyncio.ensure_future(anext(events, None))
    finally:
        waiting.cancel()


def _goes_on(serving: Service, caller: Caller, followed: EventFilter) -> bool:
    try:
        if not serving.lets_in(caller):
            return False
        report_end(serving.store, followed)
    except UnknownName:
        return False
    except KaratError as error:
        # The database may come back.
        log_retry(logger, "a stream could not be checked", error)
    return True


def _message(event: ServiceEvent) -> str:
    message = Message(timestamp=event.created, type=event.type, data=event.data)
    return message.model_dump_json()
