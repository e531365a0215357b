"""HTTP requests with JSON bodies: retries, rate limits, and answers that are checked to be JSON."""

import re
import time
from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from karat.errors import EngineError, MissingExtra

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState


_USER_INFO = re.compile(r"://[^/\s]*@")

FIRST_WAIT_S = 1.0
EXCERPT_LENGTH = 200
SHOWN = 80
MINUTE_S = 60.0
# 1,000 embeddings of 3,072 numbers are about 64 MB of JSON.
MAX_ANSWER_MB = 64
# A shorter key could be part of an ordinary message.
SHORTEST_KEY = 6


def has_user_info(text: str) -> bool:
    """Return whether a URL in *text* has a user name or a password.

    >>> has_user_info("m@http://me:secret@host/v1"), has_user_info("m@http://host/users/@me")
    (True, False)
    """
    return _USER_INFO.search(text) is not None


def redacted(text: str, keys: Iterable[str]) -> str:
    """Return *text* without *keys*; very short ones stay.

    >>> redacted("bad key sk-secret", ["sk-secret"])
    'bad key [key]'
    """
    for key in sorted(keys, key=len, reverse=True):
        if len(key) >= SHORTEST_KEY:
            text = text.replace(key, "[key]")
    return text


class Busy(Exception):
    """A failure that a retry may fix; *wait_s* is the delay that the endpoint requests."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class RateLimit:
    """A maximum number of requests and of tokens in any 60 seconds; None is no limit.

    A request with more tokens than the limit is sent when no other one is in the window. Several
    threads of one process share a limit; processes do not.

    >>> waits = []
    >>> limit = RateLimit(requests_per_minute=2, clock=lambda: 0.0, sleep=waits.append)
    >>> for _ in range(3):
    ...     limit.acquire(tokens=10)
    >>> waits
    [60.0]
    """

    def __init__(
        self,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Start with an empty window."""
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._clock = clock
        self._sleep = sleep
        self._lock = Lock()
        # The start and the tokens of each request, which may start in the future.
        self._window: deque[tuple[float, int]] = deque()

    def acquire(self, tokens: int) -> None:
        """Wait until a request of *tokens* tokens may start."""
        with self._lock:
            now = self._clock()
            start = max(now, self._window[-1][0] if self._window else now)
            while self._window:
                if self._window[0][0] <= start - MINUTE_S:
                    self._window.popleft()
                elif self._is_full(tokens):
                    start = self._window[0][0] + MINUTE_S
                else:
                    break
            self._window.append((start, tokens))
        if start > now:
            self._sleep(start - now)

    def _is_full(self, tokens: int) -> bool:
        if self._requests is not None and len(self._window) >= self._requests:
            return True
        used = sum(held for _, held in self._window)
        return self._tokens is not None and used + tokens > self._tokens


class Poster:
    """Posts JSON to *url*; status 429 and 5xx and lost connections are retried.

    Between attempts it waits as long as ``Retry-After`` says, else twice as long each time. A
    ``Retry-After`` above *longest_wait_s* is an error, and so is an answer above *max_answer_mb*.
    Errors never show *key*, even if the answer does. Several threads may post at once.
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
        purpose: str,
        max_answer_mb: int = MAX_ANSWER_MB,
        limit: RateLimit | None = None,
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        """Open no connection yet; *purpose* is for the error about a missing extra."""
        try:
            import httpx
            import tenacity
        except ImportError as error:
            package = error.name or "httpx"
            raise MissingExtra(package, extra="http", purpose=purpose) from None
        self.url = url
        self.requests = 0
        self.retries = 0
        self._lock = Lock()
        self._limit = limit
        self._longest_wait_s = longest_wait_s
        self._max_answer_mb = max_answer_mb
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._connect = partial(
            httpx.Client, timeout=timeout_s, headers=headers, transport=transport
        )
        self._client: httpx.Client | None = None
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(Busy),
            stop=tenacity.stop_after_attempt(attempts),
            wait=self._wait_s,
            sleep=sleep,
            reraise=True,
        )

    def post(self, body: dict[str, object], *, tokens: int = 0) -> "httpx.Response":
        """Return the answer to *body*; raise EngineError if all retries fail.

        *tokens* is an estimate of the tokens in *body*, for the rate limit.
        """
        sent = 0

        def attempt() -> "httpx.Response":
            nonlocal sent
            if self._limit is not None:
                self._limit.acquire(tokens)
            sent += 1
            with self._lock:
                self.requests += 1
                self.retries += sent > 1
            return self._send(body)

        try:
            return self._retrying(attempt)
        except Busy as error:
            raise EngineError(f"{self.url}: {error}, after {sent} attempts") from error

    def close(self) -> None:
        """Close the connections; another post opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _send(self, body: dict[str, object]) -> "httpx.Response":
        import httpx

        with self._lock:
            if self._client is None:
                self._client = self._connect()
            client = self._client
        try:
            with client.stream("POST", self.url, json=body) as streamed:
                answer = self._read(streamed)
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise Busy(f"no answer ({type(error).__name__}: {error})") from error
        status = answer.status_code
        if status == 429 or status >= 500:
            asked = retry_after_s(answer.headers.get("Retry-After"), datetime.now(UTC))
            if asked is not None and asked > self._longest_wait_s:
                raise EngineError(
                    f"{self.url}: status {status}, with Retry-After {asked:.0f} s; "
                    f"Karat waits at most {self._longest_wait_s:.0f} s"
                )
            raise Busy(f"status {status}: {_excerpt(answer)}", asked)
        if status != 200:
            raise EngineError(f"{self.url}: status {status}: {_excerpt(answer)}")
        return answer

    def _read(self, streamed: "httpx.Response") -> "httpx.Response":
        """Return the whole answer; raise EngineError as soon as it is too large."""
        import httpx

        content = bytearray()
        for part in streamed.iter_bytes():
            content += part
            if len(content) > self._max_answer_mb * 1_000_000:
                raise EngineError(
                    f"{self.url}: the answer has more than {self._max_answer_mb} MB; send fewer "
                    "texts in a request (option batch)"
                )
        # The content is decoded and whole: these headers are no longer true.
        gone = ("content-encoding", "content-length", "transfer-encoding")
        headers = [item for item in streamed.headers.multi_items() if item[0].lower() not in gone]
        return httpx.Response(
            streamed.status_code, headers=headers, content=bytes(content), request=streamed.request
        )

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


def read_json(answer: "httpx.Response", where: str) -> Any:
    """Return the content of *answer*; raise EngineError for a web page and for other texts."""
    text = _text(answer)
    if text.lstrip()[:1] == "<":
        raise EngineError(
            f"{where}: the answer is a web page, not JSON ({' '.join(text.split())[:SHOWN]!r}); "
            "expected the address of an API, which often ends in /v1"
        )
    try:
        return answer.json()
    except ValueError as error:
        raise EngineError(f"{where}: the answer is not JSON: {text[:SHOWN]!r}") from error


def _text(answer: "httpx.Response") -> str:
    """Return the text of *answer* without the key that was sent."""
    return redacted(
        answer.text, [answer.request.headers.get("Authorization", "")[len("Bearer ") :]]
    )


def _excerpt(answer: "httpx.Response") -> str:
    text = " ".join(_text(answer).split())
    return repr(text[:EXCERPT_LENGTH]) if text else "an empty answer"
