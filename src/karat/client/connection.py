"""Requests to a service: errors as ours, reads tried again where that can help."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from karat.errors import InputError, KaratError

__all__ = ["Connection", "ServiceError"]

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
