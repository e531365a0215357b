"""The rate limit and the client that posts JSON; endpoints are tested with their models."""

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from karat.errors import EngineError
from karat.extensions.llm.http import Poster, RateLimit, read_json

httpx = pytest.importorskip("httpx")
pytest.importorskip("tenacity")


class Clock:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waits: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def test_tokens_of_a_minute_are_limited() -> None:
    clock = Clock()
    limit = RateLimit(tokens_per_minute=100, clock=lambda: clock.now, sleep=clock.sleep)
    limit.acquire(60)
    clock.now += 10
    limit.acquire(40)
    assert clock.waits == []
    # The window is full until the first request leaves it.
    limit.acquire(50)
    assert clock.waits == [50]
    # More than a whole minute's tokens are sent alone: after all others have left.
    limit.acquire(500)
    assert clock.waits == [50, 60]


def test_a_request_never_overtakes_an_earlier_one() -> None:
    waits: list[float] = []
    limit = RateLimit(requests_per_minute=1, clock=lambda: 0.0, sleep=waits.append)
    for _ in range(3):
        limit.acquire(1)
    assert waits == [60, 120]


def poster(statuses: list[int], waits: list[float], *, attempts: int = 3) -> Poster:
    def answer(_: object) -> object:
        return httpx.Response(statuses.pop(0), json={"fine": True})

    return Poster(
        "http://localhost/x",
        key="",
        timeout_s=1,
        attempts=attempts,
        longest_wait_s=60,
        sleep=waits.append,
        purpose="a test",
        transport=httpx.MockTransport(answer),
    )


def test_connections_can_be_opened_again() -> None:
    posting = poster([200, 200], [])
    for _ in range(2):
        assert posting.post({}).json() == {"fine": True}
        posting.close()
        posting.close()
    assert posting.requests == 2


def test_every_attempt_counts_against_the_limit() -> None:
    clock = Clock()
    limit = RateLimit(requests_per_minute=2, clock=lambda: clock.now, sleep=clock.sleep)
    statuses = [500, 500, 200]
    posting = Poster(
        "http://localhost/x",
        key="",
        timeout_s=1,
        attempts=3,
        longest_wait_s=60,
        sleep=clock.sleep,
        purpose="a test",
        limit=limit,
        transport=httpx.MockTransport(lambda _: httpx.Response(statuses.pop(0))),
    )
    posting.post({})
    # 1 and 2 seconds between attempts, and the rest of a minute before the third.
    assert clock.waits == [1, 2, 57]
    assert (posting.requests, posting.retries) == (3, 2)


def test_what_a_retry_cannot_fix_is_raised_at_once() -> None:
    waits: list[float] = []
    with pytest.raises(EngineError, match="status 404"):
        poster([404], waits).post({})
    assert waits == []


def answering(answer: object, **options: Any) -> Poster:
    return Poster(
        "http://localhost/x",
        key="sk-secret",
        timeout_s=1,
        attempts=2,
        longest_wait_s=60,
        sleep=lambda _: None,
        purpose="a test",
        transport=httpx.MockTransport(lambda _: answer),
        **options,
    )


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (200, "no JSON: sk-secret"),
        (200, "<html>sk-secret"),
        (401, "bad key sk-secret " + "x" * 500),
        # The key begins before the end of the excerpt, and ends after it.
        (401, "x" * 195 + "sk-secret"),
        (503, "later, sk-secret"),
    ],
)
def test_an_error_never_shows_the_key(status: int, content: str) -> None:
    posting = answering(httpx.Response(status, text=content))
    with pytest.raises(EngineError) as caught:
        read_json(posting.post({}), posting.url)
    assert "sk-se" not in str(caught.value)


def test_a_large_answer_is_not_read() -> None:
    read: list[int] = []

    def parts() -> Iterator[bytes]:
        for number in range(100):
            read.append(number)
            yield b" " * 100_000

    posting = answering(httpx.Response(200, content=parts()), max_answer_mb=1)
    with pytest.raises(EngineError, match=r"/x: the answer has more than 1 MB; send fewer texts"):
        posting.post({})
    assert len(read) == 11
    assert posting.requests == 1


def test_a_compressed_answer_is_measured_and_read_decompressed() -> None:
    encoded = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    small = gzip.compress(json.dumps({"fine": "ä"}).encode())
    assert answering(httpx.Response(200, content=small, headers=encoded)).post({}).json() == {
        "fine": "ä"
    }
    bomb = gzip.compress(b" " * 2_000_000)
    assert len(bomb) < 10_000
    with pytest.raises(EngineError, match="more than 1 MB"):
        answering(httpx.Response(200, content=bomb, headers=encoded), max_answer_mb=1).post({})
