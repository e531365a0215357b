"""A model behind a server that speaks OpenAI's format, here a thread of the test."""

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from karat.errors import EngineError, MissingExtra
from karat.mining.rewriting import make_completer

MODEL = "openai/test-model"

# What litellm warns of is its own: classes that pydantic builds when they are first used.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def loop() -> Iterator[None]:
    """Have an event loop ready: litellm makes one where there is none, and never closes it."""
    ours = asyncio.new_event_loop()
    asyncio.set_event_loop(ours)
    yield
    asyncio.set_event_loop(None)
    ours.close()


class Server(ThreadingHTTPServer):
    """Answers *content* with *status*, and keeps what it was asked."""

    content: str | None = "visitors lose their session"
    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.server.bodies.append(json.loads(self.rfile.read(length)))
        message = {"role": "assistant", "content": self.server.content}
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "test-model",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        if self.server.status != 200:
            answer = {"error": {"message": "no", "type": "x", "code": "x"}}
        data = json.dumps(answer).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    pytest.importorskip("litellm")
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[llm\]"):
        make_completer(MODEL)


def test_the_answer_comes_back(server: Server) -> None:
    complete = make_completer(MODEL, api_base=server.url)
    assert complete("Ask.", "Kept the session") == "visitors lose their session"
    (body,) = server.bodies
    assert body["model"] == "test-model"
    assert body["temperature"] == 0
    assert [(part["role"], part["content"]) for part in body["messages"]] == [
        ("system", "Ask."),
        ("user", "Kept the session"),
    ]


@pytest.mark.parametrize(
    ("status", "name"),
    [(400, "BadRequestError"), (401, "AuthenticationError"), (500, "InternalServerError")],
)
def test_an_error_of_the_server_is_ours(server: Server, status: int, name: str) -> None:
    server.status = status
    with pytest.raises(EngineError, match=f"^{MODEL}: {name}: "):
        make_completer(MODEL, api_base=server.url, retries=0)("Ask.", "text")


@pytest.mark.parametrize("content", ["", "  ", None])
def test_an_empty_answer_is_refused(server: Server, content: str | None) -> None:
    server.content = content
    with pytest.raises(EngineError, match="the answer is empty"):
        make_completer(MODEL, api_base=server.url)("Ask.", "text")
