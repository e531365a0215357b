"""Every request has an id, which is in its answer, its errors and all that is logged meanwhile."""

import re
from contextvars import ContextVar
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADER", "Correlation", "correlation_id"]

HEADER = "X-Correlation-ID"
# What a client sends is taken over only if it cannot be mistaken for anything else in a log.
SAFE = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)

_current: ContextVar[str] = ContextVar("correlation_id", default="")


def correlation_id() -> str:
    """Return the id of the request that is answered now, "" outside of any."""
    return _current.get()


class Correlation:
    """Gives each request its id, the client's own where that is a plain word."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap *app*."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer within the id."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        chosen = given if SAFE.fullmatch(given) else uuid4().hex

        async def with_header(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                MutableHeaders(scope=message)[HEADER] = chosen
            await send(message)

        reset = _current.set(chosen)
        try:
            await self.app(scope, receive, with_header)
        finally:
            _current.reset(reset)
