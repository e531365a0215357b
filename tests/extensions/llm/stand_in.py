"""A stand-in for a model's server: it speaks OpenAI's format and answers as the test says."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, NamedTuple

from karat.errors import EngineError
from karat.extensions.llm.client import Completion, Price, Prompt


class Reply(NamedTuple):
    """One answer of the server; *body* replaces the usual JSON."""

    content: str | None = "yes"
    status: int = 200
    headers: Mapping[str, str] = MappingProxyType({})
    delay_s: float = 0.0
    body: bytes | None = None
    prompt_tokens: int = 100
    completion_tokens: int = 10


# Returns the reply to the instruction and the text of a request.
Answer = Callable[[str, str], Reply | str]


class ModelServer(ThreadingHTTPServer):
    """Answers chat requests by *answer*; keeps the requests, and the tokens that it charged."""

    daemon_threads = True
    # With the usual 5, a busy machine drops connections, which are tried again after seconds.
    request_queue_size = 128

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.charged_prompt = 0
        self.charged_completion = 0
        self.most_at_once = 0
        self._running = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def spec(self, model: str = "stand-in") -> str:
        return f"{self.url}#{model}"

    @property
    def texts(self) -> list[str]:
        """Return the text of each request, in order of arrival."""
        return [request["messages"][-1]["content"] for request in self.requests]

    def reply(self, request: dict[str, Any]) -> Reply:
        with self._lock:
            self.requests.append(request)
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
        try:
            messages = request["messages"]
            made = self.answer(messages[0]["content"], messages[-1]["content"])
            reply = made if isinstance(made, Reply) else Reply(made)
            time.sleep(reply.delay_s)
        finally:
            with self._lock:
                self._running -= 1
        if reply.status == 200:
            with self._lock:
                self.charged_prompt += reply.prompt_tokens
                self.charged_completion += reply.completion_tokens
        return reply


class DirectModel:
    """A model whose answers come from *server* without HTTP and without litellm.

    For tests whose subject is neither: importing litellm takes seconds.
    """

    def __init__(self, server: ModelServer, name: str, price: Price | None) -> None:
        self.name = name
        self.price = price
        self._server = server

    def complete(self, prompt: Prompt) -> Completion:
        contents = (("system", prompt.instruction), ("user", prompt.text))
        messages = [{"role": role, "content": content} for role, content in contents]
        reply = self._server.reply({"messages": messages, "max_tokens": prompt.max_tokens})
        if reply.status != 200:
            raise EngineError(f"{self.name}: status {reply.status}")
        return Completion(reply.content or "", reply.prompt_tokens, reply.completion_tokens)


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = self.server.reply(request)
        data = reply.body
        if data is None:
            data = json.dumps(_body(reply, request["model"])).encode()
        try:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:  # the client no longer waits
            pass

    def log_message(self, *arguments: object) -> None:
        pass


def _body(reply: Reply, model: str) -> dict[str, Any]:
    if reply.status != 200:
        return {"error": {"message": reply.content or "no", "type": "x", "code": "x"}}
    message = {"role": "assistant", "content": reply.content}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        },
    }


@contextmanager
def model_server(answer: Answer) -> Iterator[ModelServer]:
    """Serve until the block ends, with an event loop that litellm can use and the test closes."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    server = ModelServer(answer)
    # Shutting down takes one poll, by default 0.5 s for each test.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        asyncio.set_event_loop(None)
        loop.close()
