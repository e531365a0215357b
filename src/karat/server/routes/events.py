"""The stream of events, as server-sent events and over a WebSocket."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Response, WebSocket
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.concurrency import run_in_threadpool

from karat.errors import UnknownName
from karat.server.failures import failures
from karat.server.hub import Followed, Hub, is_end
from karat.server.schemas.events import Event as Message
from karat.server.service import Asking, Caller, Service, Serving
from karat.store.service import Event

__all__ = ["router"]

router = APIRouter(tags=["events"])

# Proxies end a connection on which nothing comes for a while.
KEEP_ALIVE_S = 15.0
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events, each an Event as JSON; the id is where to go on",
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
    204: {"description": "Everything was sent, and nothing more will come"},
}
LastSeen = Annotated[int, Header(alias="Last-Event-ID", ge=0, le=2**62)]


@router.get(
    "/api/v2/benchmarks/{benchmark_id}/events",
    response_class=Response,
    responses={**failures(404), **STREAM},
)
async def follow_benchmark(
    serving: Serving, caller: Asking, benchmark_id: UUID, last_event_id: LastSeen = 0
) -> Response:
    """Follow a benchmark, from its first event or from the one after Last-Event-ID."""
    await run_in_threadpool(serving.store.benchmarks.get, str(benchmark_id), owner=caller.sees)
    return await _stream(serving, Followed(subject=str(benchmark_id)), last_event_id)


@router.get(
    "/api/v2/operations/{operation_id}/events",
    response_class=Response,
    responses={**failures(404), **STREAM},
)
async def follow_operation(
    serving: Serving, caller: Asking, operation_id: UUID, last_event_id: LastSeen = 0
) -> Response:
    """Follow an operation: a benchmark since it was started, an indexing, a resolving."""
    await run_in_threadpool(serving.store.jobs.get, str(operation_id), owner=caller.sees)
    return await _stream(serving, Followed(operation=str(operation_id)), last_event_id)


@router.websocket("/ws/operations/{operation_id}")
async def watch_operation(socket: WebSocket, operation_id: UUID) -> None:
    """Send each event of an operation, from the first to the last, and close."""
    serving: Service = socket.app.state.service
    caller: Caller = socket.state.caller
    try:
        await run_in_threadpool(serving.store.jobs.get, str(operation_id), owner=caller.sees)
    except UnknownName as error:
        await socket.close(1008, str(error))
        return
    await socket.accept()
    sending = asyncio.create_task(_send_all(socket, serving.hub, str(operation_id)))
    listening = asyncio.create_task(_until_left(socket))
    await asyncio.wait({sending, listening}, return_when=asyncio.FIRST_COMPLETED)
    for task in (sending, listening):
        task.cancel()


async def _stream(serving: Service, followed: Followed, after: int) -> Response:
    if after and after > await run_in_threadpool(serving.store.events.last):
        # Seen in a database that was put back to an older state since.
        after = 0
    if after and await run_in_threadpool(_is_over, serving, followed, after):
        # A browser that is told so does not come back.
        return Response(status_code=204)
    return EventSourceResponse(
        _frames(serving.hub, followed, after), headers={"Cache-Control": "no-store"}
    )


def _is_over(serving: Service, followed: Followed, after: int) -> bool:
    found = serving.store.events.after(
        after - 1, operation=followed.operation, subject=followed.subject, limit=2
    )
    return len(found) == 1 and found[0].id == after and is_end(found[0])


async def _frames(hub: Hub, followed: Followed, after: int) -> AsyncIterator[bytes]:
    """Yield events as they are sent, and a comment where none has come for a while."""
    events = aiter(hub.follow(followed, after=after))
    waiting = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            await asyncio.wait({waiting}, timeout=KEEP_ALIVE_S)
            if not waiting.done():
                yield format_sse_event(comment="keep-alive")
                continue
            event = waiting.result()
            if event is None:
                return
            yield format_sse_event(data_str=_message(event), event=event.type, id=str(event.id))
            waiting = asyncio.ensure_future(anext(events, None))
    finally:
        waiting.cancel()


async def _send_all(socket: WebSocket, hub: Hub, operation: str) -> None:
    async for event in hub.follow(Followed(operation=operation)):
        await socket.send_text(_message(event))
    await socket.close()


async def _until_left(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


def _message(event: Event) -> str:
    message = Message(timestamp=event.created, type=event.type, data=event.data)
    return message.model_dump_json()
