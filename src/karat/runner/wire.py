"""What travels between Karat and the process of an engine: lines of JSON, and bytes after them."""

import json
from typing import Any

__all__ = ["Message", "decoded", "encoded", "with_bytes"]

Message = dict[str, Any]

DECODER = json.JSONDecoder()


def encoded(message: Message) -> bytes:
    """Return *message* as one line, without its end."""
    return json.dumps(message).encode()


def with_bytes(message: Message) -> bytes:
    r"""Return *message* as one line, and after its end the bytes in it, in their order.

    In their places the line has their lengths.

    >>> with_bytes({"ns": 7, "hits": b"as they are"})
    b'{"ns": 7, "hits": 11}\nas they are'
    """
    aside: list[bytes] = []

    def length(value: object) -> int:
        if not isinstance(value, bytes):
            raise TypeError(f"expected bytes, not {type(value).__name__}")
        aside.append(value)
        return len(value)

    line = json.dumps(message, default=length).encode()
    return b"".join((line, b"\n", *aside))


def decoded(line: bytes) -> Message:
    """Return the message of one line; ValueError where it is none."""
    # Not json.loads: what it does around this takes as long once more.
    message, _ = DECODER.raw_decode(line.decode())
    if not isinstance(message, dict):
        raise ValueError(f"expected an object, not {type(message).__name__}")  # noqa: TRY004
    return message
