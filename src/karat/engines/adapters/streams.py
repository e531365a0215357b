"""Events of a streamed answer, as they arrive."""

from collections.abc import AsyncIterator
from typing import NamedTuple

from karat.errors import EngineError

__all__ = ["Event", "events", "limited_lines"]

# What some services send as the last event, in place of JSON.
DONE = "[DONE]"


class Event(NamedTuple):
    """The name of an event ("" for a plain line) and its data."""

    name: str
    data: str


async def limited_lines(chunks: AsyncIterator[bytes], max_bytes: int) -> AsyncIterator[str]:
    """Yield the lines of *chunks*; more than *max_bytes* in all is an error."""
    pending = bytearray()
    total = 0
    async for chunk in chunks:
        total += len(chunk)
        if total > max_bytes:
            raise EngineError(f"the answer is longer than {max_bytes:,} bytes")
        pending += chunk
        *lines, rest = pending.split(b"\n")
        pending = bytearray(rest)
        for line in lines:
            yield line.decode("utf-8", "replace").removesuffix("\r")
    if pending:
        yield pending.decode("utf-8", "replace")


async def events(lines: AsyncIterator[str], *, sse: bool) -> AsyncIterator[Event]:
    """Yield server-sent events, or each line as one; comments, blanks and ``[DONE]`` are let pass.

    An event that the end of the stream cuts off is read all the same: services leave out the
    last blank line.
    """
    name, data = "", list[str]()
    async for line in lines:
        if not sse:
            if line.strip():
                yield Event("", line)
        elif not line:
            if data and data != [DONE]:
                yield Event(name or "message", "\n".join(data))
            name, data = "", []
        else:
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                data.append(value)
            elif field == "event":
                name = value
    if data and data != [DONE]:
        yield Event(name or "message", "\n".join(data))
