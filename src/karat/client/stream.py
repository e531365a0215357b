"""Server-sent events: read line by line, and followed across lost connections."""

import json
from collections.abc import Iterable, Iterator

import httpx

from karat.client.connection import Connection, ServiceError
from karat.client.records import Event

__all__ = ["follow", "parsed"]

# So often in a row may a stream end without an event before it is given up.
MOST_FAILURES = 5
ENDED = frozenset({"completed", "failed", "cancelled"})


def follow(connection: Connection, path: str, *, after: int = 0) -> Iterator[Event]:
    """Yield the events at *path* behind the one with the id *after*, to the one that is an end.

    A stream that breaks is opened again where it broke; no event is lost, none comes twice.
    """
    failures = 0
    while True:
        try:
            with connection.stream(path, {"Last-Event-ID": str(after)}) as answer:
                if answer.status_code == httpx.codes.NO_CONTENT:
                    return
                for event in parsed(answer.iter_lines()):
                    after, failures = event.id, 0
                    yield event
                    if event.data.get("status") in ENDED:
                        return
        except httpx.TransportError as error:
            why = str(error) or type(error).__name__
        else:
            why = "it ends without an end"
        failures += 1
        if failures == MOST_FAILURES:
            raise ServiceError(0, f"the stream of events was lost: {why}")
        connection.pause(failures)


def parsed(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events that *lines* of a stream hold.

    >>> lines = ["id: 7", "event: x", 'data: {"type": "x", "timestamp": "t", "data": {}}', "", ":"]
    >>> [(event.id, event.type) for event in parsed(lines)]
    [(7, 'x')]
    """
    number, data = 0, list[str]()
    for line in lines:
        if not line:
            if data:
                message = json.loads("\n".join(data))
                yield Event(number, message["type"], message["timestamp"], message["data"])
            data = []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id" and value.isdecimal():
            number = int(value)
        elif name == "data":
            data.append(value)
