"""An endpoint for embeddings of our own, in this process: no network, no waiting."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

Reply = tuple[int, dict[str, str], bytes]


@dataclass
class Endpoint:
    """Answers from *replies* first, then as an endpoint should; remembers what it was sent.

    A request with the text *refused* gets none of its embeddings.
    """

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    dimension: int = 6
    refused: str = ""

    def answer(self, body: dict[str, Any]) -> Reply:
        if self.replies:
            return self.replies.pop(0)
        if self.refused in body["input"]:
            return 400, {}, b"not this text"
        data = [
            {"index": number, "embedding": self.row(text)}
            for number, text in enumerate(body["input"])
        ]
        usage = {"total_tokens": sum(len(text.split()) for text in body["input"])}
        content = {"data": data[::-1], "usage": usage}  # the index decides, not the order
        return 200, {}, json.dumps(content).encode()

    def row(self, text: str) -> list[float]:
        seed = [ord(character) for character in text[:100]]
        row: list[float] = np.random.default_rng(seed).standard_normal(self.dimension).tolist()
        return row


@contextmanager
def serving() -> Iterator[Endpoint]:
    """Yield an endpoint that listens on a port of its own."""
    served = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body together: a second packet would wait 40 ms for the first to be confirmed.
        wbufsize = -1

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.bodies.append({"path": self.path, **body})
            served.keys.append(self.headers.get("Authorization"))
            status, headers, content = served.answer(body)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
