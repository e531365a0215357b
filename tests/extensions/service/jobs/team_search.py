"""The search of a team as a real server: good and bad ones, by the path that is asked."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.parse import parse_qs, urlsplit

SECRET = "s3cret-0f-the-team"  # noqa: S105 - made up
PATIENCE_S = 90.0


class Team(ThreadingHTTPServer):
    """Remembers what it was asked; whatever *hold* says is answered after *released*."""

    # Closing it waits for all that it answers.
    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: Counter[str] = Counter()
        self.queries: set[str] = set()
        self.keys: set[str | None] = set()
        self.secrets: set[str] = set()
        self.elsewhere = ""
        self.hold: Callable[[str], bool] = lambda _: False
        self.held, self.released = Event(), Event()

    @property
    def url(self) -> str:
        """Return where it answers."""
        return f"http://127.0.0.1:{self.server_port}"

    def engine(self, path: str, **options: object) -> str:
        """Return a spec of the search at *path*, which sends the secret along."""
        headers = {"Authorization": "Bearer {env:TEAM_TOKEN}"}
        url = f"{self.url}/{path}?q={{query}}&n={{k}}"
        return json.dumps({"engine": "http", "url": url, "headers": headers, **options})

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: who asked may be gone, killed or tired of waiting."""


class _Handler(BaseHTTPRequestHandler):
    server: Team

    def do_GET(self) -> None:
        team, parts = self.server, urlsplit(self.path)
        path, asked = parts.path.strip("/"), parse_qs(parts.query)
        query = asked.get("q", [""])[0]
        team.asked[path] += 1
        team.queries.add(query)
        team.keys.add(self.headers["Authorization"])
        team.secrets.update(asked.get("key", ()))
        if team.hold(path):
            team.held.set()
            team.released.wait(PATIENCE_S)
        status, content = self._answer(path, query)
        said = b"" if status == 302 else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Location" if status == 302 else "X-Nothing", str(content)[:500])
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def _answer(self, path: str, query: str) -> tuple[int, object]:
        match path:
            case "wide":
                return 200, [{"path": "amber.md", "text": "x" * 5_000}]
            case "fails":
                return 500, f"you sent {self.headers['Authorization']}"
            case "moved":
                return 302, f"{self.server.url}/landed"
            case "away":
                return 302, f"{self.server.elsewhere}/landed?key={self.headers['Authorization']}"
            case "moody" if "number1" in query:
                return 503, "busy"
        # The first word is the name of a note; of another file nobody knows.
        return 200, [{"path": f"{query.split(maxsplit=1)[0]}.md"}, {"path": "gone.md"}]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""


@contextmanager
def answering() -> Iterator[Team]:
    """Give a search that answers; whatever it holds is released in the end."""
    with Team() as team:
        thread = Thread(target=team.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield team
        finally:
            team.released.set()
            team.shutdown()
            thread.join()
