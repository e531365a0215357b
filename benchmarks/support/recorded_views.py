"""What no single command prints: help pages, doors, tables, the service and the report's data.

    python benchmarks/support/recorded_views.py VIEW [ARGUMENT]...

Each view writes text to standard output. `recording.py` runs them like commands. Only public names
and the web API are used, so that a view survives a move of modules.
"""

import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DOORS = ("karat", "karat.client", "karat.engines", "karat.extension", "karat.ndcg", "karat.testing")
OPENAPI = "/api/v2/openapi.json"
# Routes whose answers are different at each call, or that never end.
LIVE = re.compile(r"metrics$|readyz|events|/operations/|report\.html|export\.csv")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# A benchmark of the service ends within this time on a slow machine.
PATIENCE_S = 300.0


def help_pages() -> None:
    """Print the help of every command, also of those of a service."""
    for first in ([], ["--server", "http://localhost:1"]):
        _help_below(first, [])


def _help_below(first: list[str], path: list[str]) -> None:
    for page in ("--help", "--help-all"):
        done = subprocess.run(
            [sys.executable, "-m", "karat", *first, *path, page],
            capture_output=True,
            text=True,
            check=False,
        )
        print(f"=== karat {' '.join([*first, *path, page])} (exit {done.returncode})")
        print(done.stdout, done.stderr)
    # A command's own section is called Commands; the first page has a title for each purpose.
    sections = re.split(r"^(?=\S.*:$)", done.stdout, flags=re.MULTILINE)[1:]
    for section in sections:
        title, _, lines = section.partition("\n")
        if title == "Options:" or (path and title != "Commands:"):
            continue
        for name in re.findall(r"^  ([a-z][a-z-]*)  ", lines, flags=re.MULTILINE):
            _help_below(first, [*path, name])


def doors() -> None:
    """Print the public names of each door with their signatures."""
    for door in DOORS:
        try:
            module = importlib.import_module(door)
        except ModuleNotFoundError:
            print(f"=== {door}: none")
            continue
        print(f"=== {door}")
        for name in sorted(module.__all__):
            found = getattr(module, name)
            print(f"{name}{_signature(found)}")
            if inspect.isclass(found):
                for member in sorted(vars(found)):
                    if not member.startswith("_"):
                        print(f"  .{member}{_signature(getattr(found, member))}")


def _signature(found: object) -> str:
    if not callable(found):
        return f": {type(found).__name__}"
    try:
        text = str(inspect.signature(found))
    except (TypeError, ValueError):
        return "(...)"
    # Where a class is defined is not part of a door.
    return re.sub(r"\bkarat(\.\w+)+\.", "", text).replace("'", "")


def tables(place: str) -> None:
    """Print the tables and indexes of the SQLite store at *place*."""
    import sqlite3

    with sqlite3.connect(place) as connection:
        for (text,) in connection.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"
        ):
            print(text)
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%version%'"
        ).fetchall():
            print(name, connection.execute(f"SELECT * FROM {name}").fetchall())  # noqa: S608 - a name


def page_data(place: str) -> None:
    """Print the documents of the HTML report at *place*, by address."""
    text = Path(place).read_text(encoding="utf-8")
    scripts = dict(
        re.findall(r'<script type="[^"]+" id="([\w-]+)">(.*?)</script>', text, re.DOTALL)
    )
    for name, content in scripts.items():
        if name.startswith("karat-block-"):
            document = json.loads(zlib.decompress(b64decode(content)))
        elif name in {"karat-index", "records"}:
            document = json.loads(content)
        else:
            continue
        print(f"== {name}")
        print(json.dumps(document, indent=1, sort_keys=True))


def python_calls(gold: str, *runs: str) -> None:
    """Print what the functions of the Python API return for files."""
    import karat

    evaluation = karat.evaluate(gold, runs[0], ["ndcg@10", "mrr", "recall@10"])
    print(evaluation)
    print({name: evaluation[name] for name in ("ndcg@10", "mrr", "recall@10")})
    result = karat.compare(gold, list(runs))
    print(result)
    print(karat.verdict(result))
    print(result.to_latex())
    print(next(karat.load(gold).queries()))


def openapi() -> None:
    """Print the description of the API."""
    with _service() as fetch:
        print(json.dumps(fetch(OPENAPI), indent=1, sort_keys=True))


def service() -> None:
    """Print what every reading route answers about the example benchmark."""
    with _service() as fetch:
        known = _example(fetch)
        benchmark = f"/api/v2/benchmarks/{known['benchmark_id']}"
        runs = {run["id"]: f"<run {run['name']}>" for run in fetch(f"{benchmark}/results")["runs"]}
        known["run_id"] = known["baseline"] = next(iter(runs))
        rows = fetch(f"{benchmark}/runs/{known['run_id']}/queries?per_page=1")
        known["query_id"] = _first(rows, "query_id")
        known["path"] = _first(fetch(f"/api/v2/collections/{known['collection_id']}/documents"))
        for path, verbs in sorted(fetch(OPENAPI)["paths"].items()):
            if "get" not in verbs or LIVE.search(path):
                continue
            address, missing = _filled(path, verbs["get"].get("parameters", []), known)
            if missing:
                print(f"== {path}: needs {', '.join(missing)}")
                continue
            text = json.dumps(fetch(address), indent=1, sort_keys=True)
            for run, name in runs.items():
                text = text.replace(run, name)
            print(f"== {path}\n{UUID.sub('<uuid>', text)}")


def _first(page: dict[str, Any], key: str = "path") -> str:
    """Return *key* of the first row of a page, whatever the page calls its rows."""
    rows = next(rows for rows in page.values() if isinstance(rows, list))
    return str(rows[0].get(key) or rows[0].get("id"))


def _example(fetch: Callable[..., Any]) -> dict[str, str]:
    """Return the ids of the example benchmark, after its end."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        known: dict[str, str] = fetch("/api/v2/examples", method="POST")
        if known["status"] in {"completed", "failed", "cancelled"}:
            return known
        if time.monotonic() > deadline:
            raise SystemExit(f"the example is still {known['status']}")
        time.sleep(0.5)


def _filled(
    path: str, parameters: list[dict[str, Any]], known: dict[str, str]
) -> tuple[str, list[str]]:
    """Return *path* with its parameters, and the names of required ones that are not *known*."""
    required = [one for one in parameters if one.get("required")]
    missing = [one["name"] for one in required if one["name"] not in known]
    asked = {one["name"]: known.get(one["name"], "") for one in required if one["in"] == "query"}
    filled = re.sub(r"\{(\w+)\}", lambda found: known.get(found[1], ""), path)
    return f"{filled}?{urllib.parse.urlencode(asked)}" if asked else filled, missing


@contextmanager
def _service() -> Iterator[Callable[..., Any]]:
    """Yield a function that fetches JSON from a service that is started for it."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "karat", "serve", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert process.stdout
        lines = []
        for line in process.stdout:
            lines.append(line)
            if found := re.search(r"http://[\w.:]+", line):
                break
        else:
            raise SystemExit("".join(lines))
        base = found[0]

        def fetch(path: str, *, method: str = "GET") -> Any:
            request = urllib.request.Request(f"{base}{path}", method=method)  # noqa: S310 - ours
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                return {"status_code": error.code, "answer": json.loads(error.read() or b"null")}

        deadline = time.monotonic() + 60
        while True:
            try:
                fetch("/healthz")
                break
            except urllib.error.URLError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        try:
            yield fetch
        finally:
            process.terminate()
            process.wait(timeout=60)


VIEWS: dict[str, Callable[..., None]] = {
    "help": help_pages,
    "doors": doors,
    "tables": tables,
    "page-data": page_data,
    "python": python_calls,
    "openapi": openapi,
    "service": service,
}


if __name__ == "__main__":
    # The folder of this script must not hide packages.
    sys.path.pop(0)
    VIEWS[sys.argv[1]](*sys.argv[2:])
