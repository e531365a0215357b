"""A real service with its worker and store, and pages of it in a real browser."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    import httpx
    from playwright.sync_api import Browser, BrowserContext, Page

ATTACK = (
    "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
)
TOPICS = ("tokens", "docker", "logging", "backups", "search", "billing", "themes", "webhooks")
# As long as the slowest part of it may take on a machine that has other work to do.
PATIENCE_S = 120


class Place(NamedTuple):
    """Where a service answers, and the folder that its collections may lie below."""

    address: str
    root: Path


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of short documents, each about one topic, one of them hostile."""
    root = tmp_path_factory.mktemp("root")
    folder = root / "docs"
    folder.mkdir()
    for topic in TOPICS:
        text = f"# All about {topic}\n\nHow to set up {topic}.\n\nWhat to do when {topic} fail.\n"
        (folder / f"{topic}.md").write_text(text, encoding="utf-8")
    (folder / "hostile.md").write_text(f"# Hostile\n\n{ATTACK}\n", encoding="utf-8")
    return root


def dataset(queries: dict[str, tuple[str, str]]) -> str:
    """Return a dataset: by key, a query and the document that answers it."""
    return json.dumps(
        {
            "queries": [
                {
                    "query_key": key,
                    "query_text": text,
                    "relevant_docs": [{"doc_ref": {"path": path}, "relevance_grade": 3}],
                }
                for key, (text, path) in queries.items()
            ]
        },
        indent=1,
    )


@pytest.fixture(scope="session")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of queries: one has a document that is not there, one is hostile."""
    path = tmp_path_factory.mktemp("datasets") / "questions.json"
    queries = {topic: (f"how do I set up {topic}", f"docs/{topic}.md") for topic in TOPICS}
    queries["lost"] = ("where did it go", "docs/renamed.md")
    queries["hostile"] = (ATTACK, "docs/hostile.md")
    path.write_text(dataset(queries), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def many_questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of so many queries that a benchmark of a search that hangs lasts."""
    path = tmp_path_factory.mktemp("datasets") / "many.json"
    queries = {
        f"{topic}-{number}": (f"{topic} number {number}", f"docs/{topic}.md")
        for topic in TOPICS
        for number in range(40)
    }
    path.write_text(dataset(queries), encoding="utf-8")
    return path


@contextmanager
def serving(folder: Path, *options: str, checkout: Path | None = None) -> Iterator[str]:
    """Give the address of a service in processes of its own, as `karat serve` starts it.

    What it stores is in *folder*, or where a service in *checkout* stores it by default.
    """
    pytest.importorskip("uvicorn")
    command = [sys.executable, "-m", "karat", "serve", "--port", "0", *options]
    if checkout is None:
        command += ["--store", str(folder / "karat.db"), "--data", str(folder / "data")]
    with (folder / "log").open("w+", encoding="utf-8") as log:
        # A cache of its own: no service of other tests makes it wait while times are taken.
        environment = {**os.environ, "KARAT_CACHE": str(folder / "cache")}
        paths = (str(Path(__file__).parent), os.environ.get("PYTHONPATH", ""))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        started = subprocess.Popen(command, stderr=log, env=environment, cwd=checkout)
        try:
            yield _announced(folder / "log", started)
        finally:
            started.send_signal(signal.SIGTERM)
            started.wait(30)


@pytest.fixture(scope="session")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file that says until when the engine ``held`` waits: until it says otherwise."""
    file = tmp_path_factory.mktemp("gate") / "gate"
    file.write_text("", encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def service(
    documents: Path, gate: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """Return a service on the loopback, with an engine that can be held."""
    options = ("--root", str(documents), "--engine", f"held=held:Held(gate={gate})")
    with serving(tmp_path_factory.mktemp("service"), *options) as address:
        yield Place(address, documents)


class Guarded(NamedTuple):
    """Where a service answers that asks for a token, and one that it takes."""

    address: str
    token: str


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Guarded]:
    """Return a service that others can reach, through a proxy."""
    command = [sys.executable, "-m", "karat", "token", "create", "ada"]
    command += ["--store", str(tmp_path / "karat.db")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    secret = re.search(r"karat_\S+", printed)
    assert secret, printed
    with serving(tmp_path, "--allowed-host", "karat.example.org") as address:
        yield Guarded(address, secret[0])


def _announced(log: Path, started: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + PATIENCE_S
    while started.poll() is None and time.monotonic() < end:
        announced = re.search(r"Karat is running at (\S+)", log.read_text(encoding="utf-8"))
        if announced:
            return announced[1]
        time.sleep(0.05)
    pytest.fail(f"the service did not start: {log.read_text(encoding='utf-8')[-2000:]}")


@pytest.fixture(scope="session")
def api(service: Place) -> Iterator["httpx.Client"]:
    """Return a client of the API, by which a test prepares what the page is to show."""
    httpx = pytest.importorskip("httpx")
    with httpx.Client(base_url=f"{service.address}/api/v2", timeout=60) as client:
        yield client


Until = Callable[[str, str, set[str]], dict[str, Any]]


@pytest.fixture(scope="session")
def until(api: "httpx.Client") -> Until:
    """Return what waits until a field of what the API tells has one of some values."""

    def wait(path: str, field: str, values: set[str]) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            answer: dict[str, Any] = api.get(path).raise_for_status().json()
            if answer[field] in values:
                return answer
            time.sleep(0.1)
        pytest.fail(f"{path}: {field} is {answer[field]!r}, not one of {values}")

    return wait


def made(answer: "httpx.Response") -> dict[str, Any]:
    """Return what was made."""
    assert answer.is_success, answer.text
    fields: dict[str, Any] = answer.json()
    return fields


def mapped(api: "httpx.Client", file: Path, *, name: str, collection: str) -> tuple[str, str]:
    """Return the ids of *file* as a dataset and of its mapping, which is resolved."""
    files = {"file": (file.name, file.read_bytes())}
    uploaded = made(api.post("/benchmark-datasets", data={"name": name}, files=files))["id"]
    mappings = f"/benchmark-datasets/{uploaded}/mappings"
    mapping = made(api.post(mappings, json={"collection_id": collection}))["id"]
    made(api.post(f"{mappings}/{mapping}/resolve"))
    return uploaded, mapping


class Prepared(NamedTuple):
    """The ids of a collection, of a dataset that is mapped to it, and of a finished benchmark."""

    collection: str
    dataset: str
    mapping: str
    benchmark: str


@pytest.fixture(scope="session")
def prepared(api: "httpx.Client", service: Place, questions: Path, until: Until) -> Prepared:
    """Return a benchmark of three runs, with all that it needs."""
    source = {"kind": "folder", "path": str(service.root)}
    index = {"model": "static"}
    asked = {"name": "Handbook", "source": source, "index": index}
    collection = made(api.post("/collections", json=asked))["id"]
    until(f"/collections/{collection}", "status", {"ready"})
    uploaded, mapping = mapped(api, questions, name=f"Questions {ATTACK}", collection=collection)
    matrix = {"search_modes": ["dense", "sparse", "hybrid"], "top_k_values": [10]}
    request = {"name": f"Modes {ATTACK}", "mapping_id": mapping, "config_matrix": matrix}
    benchmark = made(api.post("/benchmarks", json=request))["id"]
    made(api.post(f"/benchmarks/{benchmark}/start"))
    until(f"/benchmarks/{benchmark}", "status", {"completed"})
    return Prepared(collection, uploaded, mapping, benchmark)


@pytest.fixture
def running(
    api: "httpx.Client", prepared: Prepared, many_questions: Path, gate: Path
) -> Iterator[str]:
    """Return the id of a benchmark that is not done before the test is."""
    name = f"Many {time.monotonic_ns()}"
    _, mapping = mapped(api, many_questions, name=name, collection=prepared.collection)
    matrix = {"search_modes": [], "engines": ["held"], "top_k_values": [5, 10]}
    request = {"name": name, "mapping_id": mapping, "config_matrix": matrix}
    benchmark = made(api.post("/benchmarks", json=request))["id"]
    made(api.post(f"/benchmarks/{benchmark}/start"))
    yield benchmark
    api.post(f"/benchmarks/{benchmark}/cancel")
    gate.write_text(f"open after {name}", encoding="utf-8")


Open = Callable[..., "Page"]


@pytest.fixture
def opened(browser: "Browser", service: Place) -> Iterator[Open]:
    """Return what opens an address of the page, each time in a browser of its own.

    At the end no page may have complained, or asked anyone but the service. Where *lossy*, the
    browser may complain of a connection that the test itself has cut.
    """
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE_S * 1000)
    noise: list[str] = []
    asked: list[str] = []
    contexts: list[BrowserContext] = []

    def show(path: str, *, scheme: str = "light", lossy: bool = False) -> "Page":
        context = browser.new_context(
            color_scheme=scheme,  # type: ignore[arg-type]
            viewport={"width": 1280, "height": 860},
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        if not lossy:
            page.on(
                "console",
                lambda message: noise.append(f"{message.text} at {message.location['url']}"),
            )
        page.goto(f"{service.address}/app{path}")
        return page

    yield show
    for context in contexts:
        context.close()
    assert noise == []
    assert [url for url in asked if not url.startswith(service.address)] == []
