"""A search that reports what each query costs, in each way that Karat can reach a search.

search.py command QUERY    answers once and ends
search.py process          answers JSON lines
search.py http             prints its port and serves
search.py mcp              serves the tool `find` over its standard streams

It finds every file that holds a word of the query. Tokens are words of the query; each costs 0.01.
"""

import json
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import unquote


def found(root: str, query: str) -> list[dict[str, str]]:
    """Return the files below *root* that hold a word of *query*."""
    files = [path for path in sorted(Path(root).rglob("*")) if path.is_file()]
    held = [path for path in files if any(word in path.read_text() for word in query.split())]
    return [{"path": path.relative_to(root).as_posix()} for path in held]


def price(query: str) -> float:
    """Return what *query* costs."""
    return len(query.split()) / 100


def command(query: str) -> None:
    """Print one JSON document."""
    usage = {"total_tokens": len(query.split()), "price": {"usd": price(query)}}
    print(json.dumps({"hits": found(".", query), "usage": usage}))


def process() -> None:
    """Answer one JSON object per line until the input ends."""
    root = ""
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"]}
        if request["op"] == "index":
            root = request["root"]
        else:
            query = request["query"]
            answer |= {"hits": found(root, query), "tokens": len(query.split())}
            answer["cost"] = price(query)
        print(json.dumps(answer), flush=True)


class Handler(BaseHTTPRequestHandler):
    """Answers ``GET /ROOT/QUERY``; the cost is in a header."""

    def do_GET(self) -> None:
        """Answer a query."""
        _, root, query = map(unquote, self.path.split("/"))
        usage = {"input_tokens": len(query.split()), "output_tokens": 0}
        body = json.dumps({"hits": found(root, query), "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Request-Cost", str(price(query)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Stay quiet."""


def http() -> None:
    """Serve on a free port, which is printed."""
    server = HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def mcp() -> None:
    """Serve the tool; the cost is in ``_meta``."""
    from mcp.server.mcpserver import MCPServer
    from mcp.types import CallToolResult

    server = MCPServer("costs")

    @server.tool()
    def find(root: str, query: str) -> CallToolResult:
        """Find files that hold a word of the query."""
        answer = {"hits": found(root, query), "tokens": len(query.split())}
        meta = {"billing": {"usd": price(query)}}
        return CallToolResult(content=[], structured_content=answer, _meta=meta)

    server.run("stdio")


if __name__ == "__main__":
    mode, *rest = sys.argv[1:]
    modes: dict[str, Callable[..., None]] = {
        "command": command,
        "process": process,
        "http": http,
        "mcp": mcp,
    }
    modes[mode](*rest)
