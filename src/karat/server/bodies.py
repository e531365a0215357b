"""A body that is too large is refused as soon as that is known, before anything reads it."""

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.server.failures import refuse

__all__ = ["BodyCap"]


class BodyCap:
    """Answers 413 where the length says so, or else at the first byte too many."""

    def __init__(self, app: ASGIApp, *, most: int, uploads: Mapping[str, int]) -> None:
        """Take *most* bytes, or of a form as many as *uploads* says for a path.

        A form goes to disk as it comes; anything else is held in memory, and read at once.
        """
        self.app = app
        self.most = most
        self.uploads = uploads

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
            await refuse(scope, receive, send, status=413, detail=detail, Connection="close")
            return
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > most:
                raise HTTPException(413, detail, {"Connection": "close"})
            return message

        await self.app(scope, counted, send)
