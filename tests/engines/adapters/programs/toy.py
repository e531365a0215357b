"""A small search that can be reached in every way that Karat knows: `toy.py MODE [ARGUMENT...]`.

It counts the words of the query in every file below a directory.
"""

# Printing is how it answers.
# ruff: noqa: T201

import json
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass
class Found:
    path: str
    start_line: int
    end_line: int
    score: float


def search(root: str, query: str, k: int) -> list[Found]:
    asked = set(re.findall(r"\w+", query.lower()))
    hits: list[Found] = []
    for file in sorted(Path(root).rglob("*")):
        if not file.is_file():
            continue
        lines = file.read_text(encoding="utf-8").split("\n")
        words = [asked & set(re.findall(r"\w+", line.lower())) for line in lines]
        matching = [number for number, line in enumerate(words, 1) if line]
        if matching:
            hits.append(
                Found(
                    file.relative_to(root).as_posix(),
                    matching[0],
                    matching[-1],
                    float(len(set().union(*words))),
                )
            )
    return sorted(hits, key=lambda hit: -hit.score)[:k]


def once(root: str, query: str, k: str, style: str = "json") -> None:
    hits = search(root, query, int(k))
    if style == "json":
        print(json.dumps({"results": [asdict(hit) for hit in hits]}))
    for hit in hits:
        if style == "jsonl":
            print(json.dumps(asdict(hit)))
        elif style == "text":
            print("{path}:{start_line}-{end_line} ({score})".format(**asdict(hit)))


def serve() -> None:
    root = ""
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "index":
            root = request["root"]
            answer = {}
        else:
            hits = search(root, request["query"], request["k"])
            answer = {"hits": [asdict(hit) for hit in hits]}
        print(json.dumps({"id": request["id"], **answer}), flush=True)


def http() -> None:
    # Every query of the mode "once" starts this program, and would wait for these imports.
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from urllib.parse import parse_qs, urlsplit

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body leave in one write; a second would wait for a delayed acknowledgement.
        wbufsize = -1

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.reply(search(body["root"], body["query"], body["limit"]))

        def do_GET(self) -> None:
            asked = parse_qs(urlsplit(self.path).query)
            self.reply(search(asked["root"][0], asked["q"][0], int(asked["n"][0])))

        def reply(self, hits: list[Found]) -> None:
            data = json.dumps({"data": {"found": [{"doc": asdict(hit)} for hit in hits]}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def mcp(transport: str, style: str = "structured", port: str = "0") -> None:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("toy")

    if style == "structured":

        @server.tool()
        def find(root: str, query: str, limit: int) -> list[Found]:
            """Search."""
            return search(root, query, limit)

    else:

        @server.tool(name="find")
        def find_text(root: str, query: str, limit: int) -> str:
            """Search."""
            hits = search(root, query, limit)
            lines = [f"{rank}. {hit.path}" for rank, hit in enumerate(hits, 1)]
            return "\n".join(["Found:", *lines])

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise ValueError("out of order")

    @server.tool()
    def die() -> str:
        """Die."""
        import os

        print("dying", file=sys.stderr, flush=True)
        os._exit(3)

    @server.tool()
    async def hang() -> str:
        """Answer never."""
        import asyncio

        await asyncio.Event().wait()
        return ""

    if transport == "stdio":
        server.run("stdio")
    else:
        import uvicorn

        app = server.streamable_http_app()
        config = uvicorn.Config(app, host="127.0.0.1", port=int(port), log_level="critical")
        uvicorn.Server(config).run()


def mcp_by_hand() -> None:
    """Speak MCP on the standard streams without its SDK, which takes a second to import."""
    for line in sys.stdin:
        request = json.loads(line)
        method, params = request["method"], request.get("params", {})
        answer: dict[str, object]
        if method == "initialize":
            about = {"name": "toy", "version": "1"}
            version = params["protocolVersion"]
            offer = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
            answer = {"result": offer}
        elif method == "tools/list":
            tool = {"name": "find", "inputSchema": {"type": "object"}}
            answer = {"result": {"tools": [tool]}}
        elif method == "tools/call":
            values = params["arguments"]
            hits = search(values["root"], values["query"], values["limit"])
            content = {"result": [asdict(hit) for hit in hits]}
            text = [{"type": "text", "text": json.dumps(content)}]
            answer = {"result": {"content": text, "structuredContent": content}}
        else:
            answer = {"error": {"code": -32601, "message": f"unknown method {method}"}}
        if "id" in request:
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)


if __name__ == "__main__":
    mode, *rest = sys.argv[1:]
    modes: dict[str, Callable[..., None]] = {
        "once": once,
        "serve": serve,
        "http": http,
        "mcp": mcp,
        "mcp-by-hand": mcp_by_hand,
    }
    modes[mode](*rest)
