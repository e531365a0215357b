"""An endpoint of our own for embeddings and scores, in this process: no network, no waiting."""

import json
import random
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

    A request with the text *refused* gets none of its embeddings. The path of a request decides the
    shape of the answer, and for scores *provider*.
    """

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    dimension: int = 6
    refused: str = ""
    provider: str = ""

    def answer(self, body: dict[str, Any], path: str = "") -> Reply:
        if self.replies:
            return self.replies.pop(0)
        if path.endswith("/rerank"):
            return 200, {}, json.dumps(self.scored(body)).encode()
        if path.endswith("/embed"):
            return 200, {}, json.dumps(self.embedded(body)).encode()
        if self.refused in body["input"]:
            return 400, {}, b"not this text"
        data = [
            {"index": number, "embedding": self.row(text)}
            for number, text in enumerate(body["input"])
        ]
        usage = {"total_tokens": sum(len(text.split()) for text in body["input"])}
        content = {"data": data[::-1], "usage": usage}  # the index decides, not the order
        return 200, {}, json.dumps(content).encode()

    def embedded(self, body: dict[str, Any]) -> object:
        """Answer as Cohere, where the texts have that name, and else as TEI."""
        if "texts" not in body:
            return [self.row(text) for text in body["inputs"]]
        rows = [self.row(text) for text in body["texts"]]
        tokens = sum(len(text.split()) for text in body["texts"])
        billed = {"billed_units": {"input_tokens": tokens}}
        return {"id": "1", "embeddings": {"float": rows}, "meta": billed}

    def scored(self, body: dict[str, Any]) -> object:
        """Answer as the provider, the best document first."""
        documents = body["texts"] if self.provider == "tei" else body["documents"]
        name = "score" if self.provider == "tei" else "relevance_score"
        items = [
            {"index": index, name: self.score(body["query"], document)}
            for index, document in enumerate(documents)
        ]
        items.sort(key=lambda item: -item[name])
        if self.provider == "tei":
            return items
        tokens = sum(len(f"{body['query']} {document}".split()) for document in documents)
        if self.provider == "cohere":
            units = -(-len(documents) // 100)
            return {"results": items, "meta": {"billed_units": {"search_units": units}}}
        field = "data" if self.provider == "voyage" else "results"
        return {field: items, "usage": {"total_tokens": tokens}}

    def score(self, query: str, text: str) -> float:
        return random.Random(f"{query}\0{text}").random()

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
            status, headers, content = served.answer(body, self.path)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
