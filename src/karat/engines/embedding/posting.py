"""One JSON request, sent again while the endpoint is busy or broken, and never for ever."""

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from karat.errors import EngineError

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState

__all__ = ["Poster", "retry_after_s"]

FIRST_WAIT_S = 1.0
SHOWN = 200


class Busy(Exception):
    """An answer, or none, that another attempt may mend; *wait_s* is what the endpoint asks for."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class Poster:
    """Posts JSON to *url*; status 429 and 5xx and lost connections are tried again.

    Between attempts it waits as long as ``Retry-After`` says, else twice as long each time. An
    endpoint that asks for more than *longest_wait_s* is not waited for.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str,
        timeout_s: float,
        attempts: int,
        longest_wait_s: float,
        sleep: Callable[[float], None],
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        """Open no connection yet."""
        import httpx
        import tenacity

        self.url = url
        self.requests = 0
        self.retries = 0
        self._longest_wait_s = longest_wait_s
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(timeout=timeout_s, headers=headers, transport=transport)
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(Busy),
            stop=tenacity.stop_after_attempt(attempts),
            wait=self._wait_s,
            sleep=sleep,
            reraise=True,
        )

    def post(self, body: dict[str, object]) -> "httpx.Response":
        """Return the answer to *body*; raise EngineError where there is none to be had."""
        sent = 0

        def attempt() -> "httpx.Response":
            nonlocal sent
            sent += 1
            self.requests += 1
            self.retries += sent > 1
            return self._send(body)

        try:
            return self._retrying(attempt)
        except Busy as error:
            raise EngineError(f"{self.url}: {error}, after {sent} attempts") from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _send(self, body: dict[str, object]) -> "httpx.Response":
        import httpx

        try:
            answer = self._client.post(self.url, json=body)
        except httpx.TransportError as error:
            raise Busy(f"no answer ({type(error).__name__}: {error})") from error
        status = answer.status_code
        if status == 429 or status >= 500:
            asked = retry_after_s(answer.headers.get("Retry-After"), datetime.now(UTC))
            if asked is not None and asked > self._longest_wait_s:
                raise EngineError(
                    f"{self.url}: status {status}, and it asks to wait {asked:.0f} s; "
                    f"expected at most {self._longest_wait_s:.0f} s"
                )
            raise Busy(f"status {status}: {_shown(answer)}", asked)
        if status != 200:
            raise EngineError(f"{self.url}: status {status}: {_shown(answer)}")
        return answer

    def _wait_s(self, state: "RetryCallState") -> float:
        problem = state.outcome.exception() if state.outcome else None
        if isinstance(problem, Busy) and problem.wait_s is not None:
            return problem.wait_s
        doubled: float = FIRST_WAIT_S * 2 ** (state.attempt_number - 1)
        return min(doubled, self._longest_wait_s)


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """Return the seconds that a ``Retry-After`` asks for, None where it is missing or unreadable.

    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> retry_after_s("2.5", now), retry_after_s("Thu, 01 Jan 2026 00:00:30 GMT", now)
    (2.5, 30.0)
    >>> retry_after_s("soon", now) is None
    True
    """
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        then = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - now).total_seconds())


def _shown(answer: "httpx.Response") -> str:
    text = " ".join(answer.text.split())
    return repr(text[:SHOWN]) if text else "an empty answer"
