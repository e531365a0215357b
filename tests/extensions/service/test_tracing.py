"""Traces reach a collector where one is named, and cost nothing where none is."""

import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

pytest.importorskip("opentelemetry.sdk")

WORK = """
from opentelemetry import trace
from karat.extensions.service.logs import span, start_tracing
print(start_tracing())
with span("benchmark", job="j1"), span("run"):
    pass
getattr(trace.get_tracer_provider(), "shutdown", lambda: None)()
"""


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """Return the address of a collector, and what it has received."""
    received: list[bytes] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()


def run(**environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WORK],
        env={"PATH": "", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_spans_reach_the_collector(collector: tuple[str, list[bytes]]) -> None:
    address, received = collector
    assert run(OTEL_EXPORTER_OTLP_ENDPOINT=address, OTEL_EXPORTER_OTLP_COMPRESSION="none") == "True"
    sent = b"".join(received)
    for word in (b"benchmark", b"run", b"karat.job", b"service.name"):
        assert word in sent


def test_nothing_is_sent_without_a_collector() -> None:
    assert run() == "False"
