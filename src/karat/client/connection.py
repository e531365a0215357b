"""The connection to a service: requests with retries, and streams of events."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from karat.client.records import Event
from karat.errors import InputError, KaratError

__all__ = ["Connection", "ServiceError", "follow", "parsed"]

API = "/api/v2"
# The service, or a proxy in front of it, is not there just now.
PASSING = frozenset({429, 502, 503, 504})
ATTEMPTS = 4
FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 10.0
TIMEOUT = httpx.Timeout(60.0, connect=5.0)


class ServiceError(KaratError):
    """The service refused or failed; *status* is 0 where it did not answer at all."""

    def __init__(self, status: int, detail: str, reference: str = "") -> None:
        """Keep what the service said, and the reference that its log knows."""
        self.status = status
        self.detail = detail
        self.reference = reference
        if 400 <= status < 500:
            self.exit_code = 2
        super().__init__(f"{detail} ({reference})" if reference else detail)


class Connection:
    """Asks the service at *url*, with *token* where it needs one.

    A read that fails for want of a connection, or because the service is busy, is tried again;
    what changes something never is, since it may have been done.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Open no connection yet."""
        if not url.startswith(("http://", "https://")):
            raise InputError(f"{url!r} is no address; expected such as http://localhost:8080")
        self._sleep = sleep
        self._client = httpx.Client(
            base_url=url.rstrip("/") + API,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            transport=transport,
            timeout=TIMEOUT,
            # Nothing from .netrc or proxy variables would add to what was named.
            trust_env=False,
        )

    def close(self) -> None:
        """Close what is open."""
        self._client.close()

    def get(self, path: str, **params: object) -> Any:
        """Return the JSON at *path*."""
        return self.read(path, **params).json()

    def read(self, path: str, **params: object) -> httpx.Response:
        """Return the answer at *path*; parameters that are None are left out."""
        given = {name: str(value) for name, value in params.items() if value is not None}
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = self._client.get(path, params=given)
            except httpx.TransportError as error:
                if attempt == ATTEMPTS:
                    raise self._unreachable(error) from error
                wait = FIRST_WAIT_S * 2**attempt
            else:
                if answer.status_code not in PASSING or attempt == ATTEMPTS:
                    break
                wait = _wait_s(answer, attempt)
            self._sleep(wait)
        _check(answer)
        return answer

    def change(self, method: str, path: str, **options: Any) -> Any:
        """Send what changes something, once; return the JSON of the answer, None without any."""
        try:
            answer = self._client.request(method, path, **options)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        _check(answer)
        return answer.json() if answer.content else None

    @contextmanager
    def stream(self, path: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        """Give an answer that is read as it comes."""
        with self._client.stream("GET", path, headers=dict(headers)) as answer:
            if answer.is_error:
                answer.read()
            _check(answer)
            yield answer

    def pause(self, failures: int) -> None:
        """Wait before something is tried again that has failed so often in a row."""
        self._sleep(min(FIRST_WAIT_S * 2**failures, LONGEST_WAIT_S))

    def _unreachable(self, error: httpx.TransportError) -> ServiceError:
        why = str(error) or type(error).__name__
        return ServiceError(0, f"{self._client.base_url.host} does not answer: {why}")


def _wait_s(answer: httpx.Response, attempt: int) -> float:
    after = answer.headers.get("retry-after", "")
    wait = float(after) if after.isdecimal() else FIRST_WAIT_S * 2**attempt
    return min(wait, LONGEST_WAIT_S)


def _check(answer: httpx.Response) -> None:
    if not answer.is_error:
        return
    try:
        body = answer.json()
        detail, reference = str(body["detail"]), str(body.get("reference", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        detail, reference = f"{answer.status_code} {answer.reason_phrase}", ""
    raise ServiceError(answer.status_code, detail, reference)


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
