"""A service that refuses, breaks, talks HTML, redirects, drips or floods."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from karat.corpus import from_texts
from karat.engines.adapters.http import HttpEngine, HttpOptions
from karat.engines.spec import build
from karat.errors import EngineError, InputError
from karat.model.timings import QueryCost, spent

CORPUS = from_texts({"a.py": "one\ntwo\n", "b.py": "three\n"})
FOUND = json.dumps([{"path": "a.py", "score": 2}, {"path": "b.py", "score": 1}])

Answer = Callable[[BaseHTTPRequestHandler], None]


class Service:
    """A service that answers as a test says, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answer: Answer = lambda handler: reply(handler, FOUND)
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.stopping = threading.Event()
        self.connections = 0
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def setup(self) -> None:
                service.connections += 1
                super().setup()

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                service.asked.append((self.path, dict(self.headers), body))
                try:
                    service.answer(self)
                except OSError:
                    self.close_connection = True

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Stay quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = False  # closing waits for them, and so for their connections
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self) -> None:
        self.stopping.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def reply(
    handler: BaseHTTPRequestHandler,
    text: str,
    status: int = 200,
    kind: str = "application/json",
    **headers: str,
) -> None:
    data = text.encode()
    handler.send_response(status)
    headers = {"Content-Type": kind, "Content-Length": str(len(data)), **headers}
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


@pytest.fixture
def service(nothing_is_left: None) -> Iterator[Service]:
    service = Service()
    yield service
    service.close()


def opened(
    service: Service, *, environ: dict[str, str] | None = None, **options: Any
) -> HttpEngine:
    given = {"url": f"{service.url}/search?q={{query}}", "timeout_s": 5, **options}
    engine = HttpEngine(HttpOptions(**given), environ=environ or {})
    engine.index(CORPUS)
    return engine


def test_the_query_is_escaped_and_the_connection_kept(service: Service) -> None:
    with opened(service, name="mine") as engine:
        for query in ("a&b=c#d?e/ü %", "x"):
            assert [hit.path for hit in engine.search(query, 5)] == ["a.py", "b.py"]
        assert {"call", "check", "headers", "body"} == set(engine.phases_ns())
    assert service.asked[0][0] == "/search?q=a%26b%3Dc%23d%3Fe%2F%C3%BC%20%25"
    assert service.connections == 1


def test_body_and_headers_are_filled(service: Service) -> None:
    body = '{"text": "find {query}", "limit": "{k}", "deep": [{"on": true}]}'
    headers = {"Authorization": "Bearer {env:TOKEN}"}
    environ = {"TOKEN": "hunter2"}
    url = f"{service.url}/search"
    with opened(service, url=url, body=body, headers=headers, environ=environ) as engine:
        engine.search('say "hi" {k}', 7)
    _, sent, data = service.asked[0]
    expected = {"text": 'find say "hi" {k}', "limit": 7, "deep": [{"on": True}]}
    assert json.loads(data) == expected
    assert sent["Authorization"] == "Bearer hunter2"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            lambda h: reply(h, "slow down", 429, Retry_After="5"),
            r"429 Too Many Requests \(retry aft",
        ),
        (
            lambda h: reply(h, '{"error": "boom"}', 500),
            "answered 500 Internal Server Error: .*boom",
        ),
        (lambda h: reply(h, "", 503), "answered 503 Service Unavailable$"),
        (
            lambda h: reply(h, "<html>no</html>", 502, "text/html"),
            "502 Bad Gateway, with a page of",
        ),
        (lambda h: reply(h, "<!doctype html>", 200, "text/html"), "answered HTML, expected JSON"),
        (lambda h: reply(h, "  <html>"), "answered HTML, expected JSON"),
        (lambda h: reply(h, "not json"), "returned text that is not JSON: 'not json'"),
        (lambda h: reply(h, ""), "returned nothing"),
        (lambda h: reply(h, '{"other": 1}'), "no list of hits in the answer"),
        (lambda h: reply(h, " " * 200_000), "longer than 100,000 bytes"),
        (lambda h: reply(h, "", 302, Location="/search"), "redirects more than 3 times"),
        (
            lambda h: reply(h, "", 307, Location="http://evil.test/x?q"),
            "another origin, http://evil",
        ),
        (lambda h: h.connection.shutdown(2), "no answer from 127.0.0.1"),
    ],
)
def test_bad_answers(service: Service, answer: Answer, message: str) -> None:
    service.answer = answer
    with opened(service, name="mine", max_bytes=100_000) as engine:
        with pytest.raises(EngineError, match=message) as caught:
            engine.search("x", 5)
        assert str(caught.value).startswith("mine: ")
        service.answer = lambda handler: reply(handler, FOUND)
        assert engine.search("x", 5)


def drip(head: bytes, part: bytes, service: Service) -> Answer:
    """Return what sends *part* again and again, each time soon enough for a time limit on reads."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.connection.sendall(b"HTTP/1.1 200 OK\r\n" + head)
        while not service.stopping.wait(0.05):
            handler.connection.sendall(part)

    return answer


@pytest.mark.parametrize(
    ("head", "part"),
    [
        (b"", b""),
        (b"", b"X-Drip: 1\r\n"),
        (b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    ],
)
def test_a_slow_answer_ends_in_time(service: Service, head: bytes, part: bytes) -> None:
    """Also where some byte always comes in time: the limit is on the whole."""
    service.answer = drip(head, part, service)
    engine = opened(service, timeout_s=0.3)
    with engine, pytest.raises(EngineError, match=r"took longer than 0\.3 s") as caught:
        engine.search("x", 5)
    assert isinstance(caught.value.__cause__, TimeoutError)


def test_a_redirect_within_the_origin(service: Service) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.path.startswith("/search"):
            reply(handler, "", 308, Location="/moved")
        else:
            reply(handler, FOUND)

    service.answer = answer
    with opened(service) as engine:
        assert len(engine.search("x", 5)) == 2


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"stream": "sse", "event": "matches"},
            ": hello\n\nevent: progress\ndata: {}\n\nevent: matches\ndata: [\ndata: "
            '{"path": "a.py"}]\n\nevent: matches\r\ndata: {"path": "b.py"}\r\n\r\ndata: [DONE]\n\n',
        ),
        ({"stream": "sse"}, 'data: {"hits": [{"path": "a.py"}]}\n\ndata: {"path": "b.py"}'),
        ({"stream": "jsonl"}, '{"path": "a.py"}\n\n{"type": "end"}\n{"path": "b.py"}'),
    ],
)
def test_streams(service: Service, options: dict[str, Any], text: str) -> None:
    service.answer = lambda handler: reply(handler, text, kind="text/event-stream")
    with opened(service, **options) as engine:
        assert [hit.path for hit in engine.search("x", 5)] == ["a.py", "b.py"]
        phases = engine.phases_ns()
        assert 0 < phases["first_hit"] <= phases["call"]


def test_costs_in_headers_and_streams(service: Service) -> None:
    service.answer = lambda handler: reply(
        handler, '{"hits": ["a.py"], "usage": {"total_tokens": 9}}', X_Cost="0.25"
    )
    with opened(service, cost_header="x-cost", total_tokens_header="x-none") as engine:
        engine.search("x", 5)
        assert spent(engine.metadata()) == QueryCost(9, 0.25)
        service.answer = lambda handler: reply(handler, '{"hits": ["a.py"]}', X_Cost="free")
        engine.search("x", 5)
        assert spent(engine.metadata()) == QueryCost(None, None, 1)
    events = ['{"path": "a.py", "tokens": 3}', '{"usage": {"total_tokens": 9}, "cost": 0.5}']
    text = "".join(f"data: {event}\n\n" for event in events)
    service.answer = lambda handler: reply(handler, text, kind="text/event-stream")
    with opened(service, stream="sse") as engine:
        assert [hit.path for hit in engine.search("x", 5)] == ["a.py"]
        assert spent(engine.metadata()) == QueryCost(9, 0.5)


@pytest.mark.parametrize("text", ["data: {oops}\n\n", "data: " + " " * 200_000])
def test_bad_streams(service: Service, text: str) -> None:
    service.answer = lambda handler: reply(handler, text, kind="text/event-stream")
    engine = opened(service, stream="sse", max_bytes=100_000)
    with engine, pytest.raises(EngineError, match=r"not JSON|longer than 100,000 bytes"):
        engine.search("x", 5)


def test_secrets_stay_out_of_errors(service: Service) -> None:
    service.answer = lambda h: reply(h, f"denied: {h.headers['X-Api-Key']} {h.path}", 401)
    options: dict[str, Any] = {
        "url": f"{service.url}/?q={{query}}&token={{env:TOKEN}}",
        "headers": {"X-Api-Key": "{env:TOKEN}"},
        "environ": {"TOKEN": "hunter2/hunter2"},
    }
    with opened(service, **options) as engine, pytest.raises(EngineError) as caught:
        engine.search("x", 5)
    assert "denied: {env:TOKEN} /?q=x&token={env:TOKEN}" in str(caught.value)
    assert caught.value.__cause__ is None


def test_nothing_listens() -> None:
    engine = HttpEngine(HttpOptions(url="http://127.0.0.1:9/?q={query}"))
    engine.index(CORPUS)
    with engine, pytest.raises(EngineError, match=r"no answer from 127\.0\.0\.1:9"):
        engine.search("x", 5)


def test_a_variable_that_is_not_set(service: Service) -> None:
    with pytest.raises(InputError, match="environment variable TOKEN is not set"):
        opened(service, headers={"Authorization": "{env:TOKEN}"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "ftp://host/{query}"}, "begins with http:// or https://"),
        ({"url": "http://{query}.host/"}, "the host cannot depend on the query"),
        ({"url": "http://host:{k}/{query}"}, "the host cannot depend on the query"),
        ({"url": "http://me:hunter2@host/{query}"}, "the address contains a password"),
        ({"url": "http://host/?q={query}&api_key=hunter2"}, "'api_key' contains a secret"),
        ({"url": "http://host/"}, "neither url nor body contains {query}"),
        (
            {"url": "http://host/{query}", "headers": {"Cookie": "hunter2"}},
            "'Cookie' contains a secret",
        ),
        (
            {"url": "http://host/", "body": {"q": "{query}", "token": "hunter2"}},
            "'token' contains a",
        ),
        ({"url": "http://host/", "body": "{oops"}, "a text that holds JSON"),
        ({"url": "http://host/{query}", "body": {"a": 1}, "method": "GET"}, "GET has no body"),
        ({"url": "http://host/{query}", "event": "x"}, "event needs stream: sse"),
        (
            {"url": "http://host/{query}", "cost": "$.a", "cost_header": "X-Cost"},
            "cost and cost_header exclude each other",
        ),
        ({"url": "http://host/{query}", "redirects": 99}, "redirects: "),
        ({"url": "http://host/{query}", "ur": "x"}, "no option 'ur'; did you mean 'url'"),
    ],
)
def test_configurations_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        build({"engine": "http", **options})
    assert message in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_user_and_password(service: Service) -> None:
    options = HttpOptions(url=f"{service.url}/?q={{query}}", basic_auth="{env:WHO}:{env:PASS}")
    engine = HttpEngine(options, environ={"WHO": "ada", "PASS": "se:cret"})
    service.answer = lambda handler: reply(
        handler, f"not for {handler.headers['Authorization']}", status=401
    )
    engine.index(CORPUS)
    with pytest.raises(EngineError, match=r"401 Unauthorized: 'not for Basic \{env:basic_auth\}'"):
        engine.search("login", 5)
    engine.close()
    assert service.asked[0][1]["Authorization"] == "Basic YWRhOnNlOmNyZXQ="


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"basic_auth": "ada"}, "expected USER:PASSWORD"),
        ({"basic_auth": "{env:WHO}"}, "expected USER:PASSWORD"),
        ({"basic_auth": "ada:pass"}, "contains a secret; write {env:NAME}"),
        ({"basic_auth": "{user}:{env:PASS}"}, "{user} is unknown"),
        (
            {"basic_auth": "a:{env:P}", "headers": {"authorization": "Bearer {env:T}"}},
            "basic_auth and the header Authorization exclude each other",
        ),
    ],
)
def test_a_wrong_user_or_password(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        build({"engine": "http", "url": "http://localhost/?q={query}", **options})
