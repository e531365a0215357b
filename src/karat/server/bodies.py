"""A body that is too large, or never comes to its end, is refused as soon as that is known."""

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.server.failures import refuse

__all__ = ["BodyCap"]

# A body must come in at this rate: whoever sends one byte now and then keeps a connection for ever.
BYTES_PER_S = 16 * 1024
CLOSED = {"Connection": "close"}


class BodyCap:
    """Answers 413 where the length says so, or else at the first byte too many, and 408 in time."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        most: int,
        uploads: Mapping[str, int],
        patience_s: float,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Take *most* bytes, or of a form as many as *uploads* says for a path.

        A form goes to disk as it comes; anything else is held in memory, and read at once. A client
        may let us wait for *patience_s*, and longer by as much as it has sent.
        """
        self.app = app
        self.most = most
        self.uploads = uploads
        self.patience_s = patience_s
        self.clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, counting what comes in."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_form = headers.get("content-type", "").startswith("multipart/form-data")
        most = self.uploads.get(scope["path"].rstrip("/"), self.most) if is_form else self.most
        detail = f"The body is larger than {most:,} bytes"
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > most:
            await refuse(scope, receive, send, status=413, detail=detail, **CLOSED)
            return
        taken, waited_s, comes = 0, 0.0, True

        async def counted() -> Message:
            nonlocal taken, waited_s, comes
            if not comes:
                # The client may leave, and has all the time for it.
                return await receive()
            begun = self.clock()
            message = await _in_time(receive, self.patience_s + taken / BYTES_PER_S - waited_s)
            waited_s += self.clock() - begun
            taken += len(message.get("body", b""))
            comes = message.get("more_body", False)
            if taken > most:
                raise HTTPException(413, detail, CLOSED)
            return message

        await self.app(scope, counted, send)


async def _in_time(receive: Receive, left_s: float) -> Message:
    """Return what is received, unless that takes longer than *left_s*."""
    try:
        if left_s <= 0:
            raise TimeoutError
        async with asyncio.timeout(left_s):
            return await receive()
    except TimeoutError:
        raise HTTPException(408, "The body did not come in time", CLOSED) from None
