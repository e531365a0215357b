"""The overhead of adapters, measured with a no-op engine."""

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import monotonic, perf_counter_ns
from typing import Any, NamedTuple

from karat.corpus import from_texts
from karat.engines.spec import build
from karat.errors import EngineError

__all__ = ["Overhead", "overhead"]

PROCESS = """
import json, sys
for line in sys.stdin:
    print('{"id": %d, "hits": []}' % json.loads(line)["id"], flush=True)
"""
# It answers in one write; two would wait for a delayed acknowledgement, 40 ms each time.
HTTP = """
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"[]")
    def log_message(self, *args):
        pass
server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""
MCP = """
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("null")
@server.tool()
def find(query: str) -> dict[str, list[str]]:
    return {"hits": []}
if len(sys.argv) > 1:
    import uvicorn
    app = server.streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
else:
    server.run("stdio")
"""
WARM_UP = 3
START_S = 30.0


class Overhead(NamedTuple):
    """Nanoseconds per search of a no-op engine: the median and the 99th percentile of *calls*."""

    kind: str
    calls: int
    median_ns: int
    p99_ns: int


def overhead(kind: str, params: Mapping[str, object], *, calls: int = 50) -> Overhead | None:
    """Return the overhead of the adapter *kind* on this machine; None for engines in this process.

    A latency is the search plus this. For ``command`` it is the start of the smallest program
    that there is, and the time that the searching program needs to start comes on top.
    """
    if kind == "mcp" and params.get("url"):
        kind = "mcp over HTTP"
    if kind not in NULLS:
        return None
    with NULLS[kind]() as config:
        engine: Any = build(config)
        try:
            engine.index(from_texts({"a.txt": "null"}))
            samples = sorted([_timed(engine) for _ in range(WARM_UP + calls)][WARM_UP:])
        finally:
            engine.close()
    return Overhead(kind, len(samples), samples[len(samples) // 2], samples[-1 - calls // 100])


def _timed(engine: Any) -> int:
    started = perf_counter_ns()
    engine.search("null", 1)
    return perf_counter_ns() - started


@contextmanager
def _http_service() -> Iterator[dict[str, object]]:
    # In a separate process: two threads of one interpreter would wait for each other.
    command = [sys.executable, "-I", "-S", "-c", HTTP]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603 - ours
        try:
            port = process.stdout.readline().strip() if process.stdout else b""
            if not port.isdigit():
                raise EngineError("the no-op HTTP service did not start")
            yield {"engine": "http", "url": f"http://127.0.0.1:{int(port)}/?q={{query}}"}
        finally:
            process.kill()


@contextmanager
def _mcp_service() -> Iterator[dict[str, object]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", MCP, str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - ours
        try:
            deadline = monotonic() + START_S
            while not _listens(port):
                if process.poll() is not None or monotonic() > deadline:
                    raise EngineError("the no-op MCP server did not start")
            yield {"engine": "mcp", "url": f"http://127.0.0.1:{port}/mcp", "tool": "find"}
        finally:
            process.kill()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _command() -> AbstractContextManager[dict[str, object]]:
    smallest = [shutil.which("true") or sys.executable]
    return nullcontext({"engine": "command", "command": smallest, "output": "jsonl"})


def _process() -> AbstractContextManager[dict[str, object]]:
    command = [sys.executable, "-I", "-S", "-c", PROCESS]
    return nullcontext({"engine": "process", "command": command})


def _mcp_stdio() -> AbstractContextManager[dict[str, object]]:
    command = [sys.executable, "-c", MCP]
    return nullcontext({"engine": "mcp", "command": command, "tool": "find"})


NULLS: Mapping[str, Callable[[], AbstractContextManager[dict[str, object]]]] = {
    "command": _command,
    "process": _process,
    "http": _http_service,
    "mcp": _mcp_stdio,
    "mcp over HTTP": _mcp_service,
}
