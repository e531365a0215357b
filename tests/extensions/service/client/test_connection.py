"""What the client does when the service is away, busy or refuses."""

from collections.abc import Iterator

import httpx
import pytest

from karat.client import Client, ServiceError

Answers = list[httpx.Response | Exception]


class Script(httpx.BaseTransport):
    """Answers what it was told to, one after the other, and remembers what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers: Answers = list(answers)
        self.asked: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


AWAY = httpx.ConnectError("refused")
BUSY = {"detail": "busy", "reference": "ERR-1"}
DATASET = {
    "id": "1",
    "name": "G",
    "description": "",
    "owner_id": "ada",
    "query_count": 1,
    "schema_version": "1.0",
    "version": 1,
    "created_at": "2026-11-18T09:00:00Z",
    "updated_at": "2026-11-18T09:00:00Z",
}


def ask(script: Script, waits: list[float] | None = None, token: str | None = None) -> Client:
    took = [] if waits is None else waits
    return Client("http://service", transport=script, sleep=took.append, token=token)


def test_a_read_is_tried_again() -> None:
    script = Script(
        AWAY,
        httpx.Response(503, json=BUSY),
        httpx.Response(429, json=BUSY, headers={"Retry-After": "3"}),
        httpx.Response(200, json=DATASET),
    )
    waits: list[float] = []
    assert ask(script, waits).dataset("1").name == "G"
    assert waits == [0.5, 1.0, 3.0]


def test_a_read_is_given_up_in_the_end() -> None:
    with pytest.raises(ServiceError, match=r"busy \(ERR-1\)") as caught:
        ask(Script(*[httpx.Response(503, json=BUSY)] * 4)).dataset("1")
    assert (caught.value.status, caught.value.exit_code) == (503, 3)
    with pytest.raises(ServiceError, match="service does not answer: refused") as caught:
        ask(Script(*[AWAY] * 4)).dataset("1")
    assert caught.value.status == 0
    at_port = Client("http://localhost:8091", transport=Script(AWAY))
    with pytest.raises(ServiceError, match="localhost:8091 does not answer: refused"):
        at_port.start("1")


@pytest.mark.parametrize("trouble", [AWAY, httpx.Response(503, json=BUSY)])
def test_a_change_is_never_tried_again(trouble: httpx.Response | Exception) -> None:
    script = Script(trouble)
    with pytest.raises(ServiceError):
        ask(script).start("1")
    assert len(script.asked) == 1


def test_a_refusal_is_not_tried_again() -> None:
    script = Script(httpx.Response(404, json={"detail": "no dataset 1", "reference": "ERR-2"}))
    with pytest.raises(ServiceError, match="no dataset 1") as caught:
        ask(script).dataset("1")
    assert (caught.value.status, caught.value.exit_code) == (404, 2)


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b""])
def test_an_error_that_is_not_ours(body: bytes) -> None:
    with pytest.raises(ServiceError, match="500 Internal Server Error"):
        ask(Script(httpx.Response(500, content=body))).dataset("1")


def test_the_token_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(*[httpx.Response(200, json={})] * 3)
    monkeypatch.delenv("KARAT_TOKEN", raising=False)
    ask(script).me()
    ask(script, token="one").me()  # noqa: S106 - it opens nothing
    monkeypatch.setenv("KARAT_TOKEN", "two")
    ask(script).me()
    sent = [request.headers.get("authorization") for request in script.asked]
    assert sent == [None, "Bearer one", "Bearer two"]


def test_a_missing_or_wrong_token_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KARAT_TOKEN", raising=False)
    needed = {"detail": "A token is needed: karat token create OWNER", "reference": "ERR-1"}
    with pytest.raises(ServiceError) as caught:
        ask(Script(httpx.Response(401, json=needed))).me()
    assert str(caught.value) == (
        "A token is needed: karat token create OWNER, then set KARAT_TOKEN (ERR-1)"
    )
    wrong = {"detail": "The token is not valid", "reference": "ERR-2"}
    with pytest.raises(ServiceError) as caught:
        ask(Script(httpx.Response(401, json=wrong)), token="old").me()  # noqa: S106
    assert str(caught.value) == (
        "The token is not valid: make one with karat token create OWNER, then set KARAT_TOKEN "
        "(ERR-2)"
    )


@pytest.mark.parametrize(
    ("headers", "digest"),
    [({"ETag": '"abc-1"'}, "abc"), ({"ETag": '"abc-2"'}, ""), ({}, "")],
)
def test_the_digest_is_that_of_the_upload(headers: dict[str, str], digest: str) -> None:
    script = Script(httpx.Response(200, json=DATASET, headers=headers))
    assert ask(script).dataset_digest("1") == digest


def test_pages_are_read_as_they_are_needed() -> None:
    def page(number: int) -> httpx.Response:
        items = [{**DATASET, "id": f"{number}-{n}"} for n in range(2)]
        return httpx.Response(200, json={"datasets": items, "total": 5, "page": number})

    last = httpx.Response(200, json={"datasets": [DATASET], "total": 5, "page": 3})
    script = Script(page(1), page(2), last)
    datasets = ask(script).datasets()
    assert next(datasets).id == "1-0"
    assert len(script.asked) == 1
    assert [dataset.id for dataset in datasets] == ["1-1", "2-0", "2-1", "1"]
    assert [request.url.params["page"] for request in script.asked] == ["1", "2", "3"]


def frame(number: int, status: str = "running") -> str:
    data = f'{{"type": "x", "timestamp": "t", "data": {{"status": "{status}"}}}}'
    return f"id: {number}\nevent: x\ndata: {data}\n\n"


class Broken(httpx.SyncByteStream):
    """Some events, and then the connection is lost."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __iter__(self) -> Iterator[bytes]:
        yield self.text.encode()
        raise httpx.ReadError("lost")


def test_a_stream_goes_on_where_it_broke() -> None:
    script = Script(
        httpx.Response(200, stream=Broken(frame(1) + frame(2) + "id: 3\ndata: half")),
        AWAY,
        httpx.Response(200, text=": keep-alive\n\n" + frame(3)),
        httpx.Response(200, text=frame(4, "completed") + frame(5)),
    )
    events = list(ask(script).events("1"))
    assert [event.id for event in events] == [1, 2, 3, 4]
    assert [request.headers["last-event-id"] for request in script.asked] == ["0", "2", "2", "3"]


def test_a_stream_that_is_over() -> None:
    assert list(ask(Script(httpx.Response(204))).operation_events("1", after=7)) == []


def test_a_stream_that_stays_away() -> None:
    with pytest.raises(ServiceError, match="the stream of events was lost: refused"):
        list(ask(Script(*[AWAY] * 5)).events("1"))


def test_a_stream_that_is_refused() -> None:
    answer = httpx.Response(404, json={"detail": "no benchmark 1", "reference": ""})
    with pytest.raises(ServiceError, match="no benchmark 1"):
        list(ask(Script(answer)).events("1"))
