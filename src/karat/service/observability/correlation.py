"""Every request has an id, which is in its answer, its errors and all that is logged meanwhile.

A job that it has begun has the same id, in whichever process.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import uuid4

from opentelemetry.trace import get_current_span
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["ATTRIBUTE", "HEADER", "Correlation", "correlated", "correlation_id"]

HEADER = "X-Correlation-ID"
# What it is called in the span of a request or of a job.
ATTRIBUTE = "karat.correlation_id"
# What a client sends is taken over only if it cannot be mistaken for anything else in a log.
SAFE = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)

_current: ContextVar[str] = ContextVar("correlation_id", default="")


def correlation_id() -> str:
    """Return the id of the request that is answered now, or has begun this, "" outside of any."""
    return _current.get()


@contextmanager
def correlated(chosen: str) -> Iterator[None]:
    """Do what follows within the id *chosen*.

    >>> with correlated("a1"):
    ...     correlation_id()
    'a1'
    """
    reset = _current.set(chosen)
    try:
        yield
    finally:
        _current.reset(reset)


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

        get_current_span().set_attribute(ATTRIBUTE, chosen)
        with correlated(chosen):
            await self.app(scope, receive, with_header)
