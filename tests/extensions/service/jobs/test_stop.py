"""A service that stops does not wait for those who follow its events."""

from queue import Queue
from threading import Thread

import httpx
import uvicorn

from karat.extensions.service.api.app import create_app
from karat.extensions.service.run import Server
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from tests.extensions.service.conftest import PATIENCE_S


def test_streams_end_when_the_service_stops(
    settings: ServiceSettings, store: ServiceStore, benchmark: str
) -> None:
    store.benchmarks.start(benchmark)
    store.events.add(benchmark, benchmark, "benchmark_progress", progress(benchmark))
    ready: Queue[str] = Queue()
    # Without a limit of its own it would wait for as long as the stream lasts.
    config = uvicorn.Config(create_app(settings), port=0, log_config=None)
    server = Server(config, ready.put)
    thread = Thread(target=server.run)
    thread.start()
    address = ready.get(timeout=PATIENCE_S)
    with httpx.stream("GET", f"{address}/api/v2/benchmarks/{benchmark}/events") as answer:
        lines = answer.iter_lines()
        assert next(lines) == "event: benchmark_progress"
        server.should_exit = True
        assert any(line.startswith("id: ") for line in lines)
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def progress(benchmark: str) -> dict[str, object]:
    counts = {"total_runs": 6, "completed_runs": 0, "failed_runs": 0}
    runs = {"current_run": None, "last_completed_run": None}
    return {"benchmark_id": benchmark, "status": "running", "stage": "x", **counts, **runs}
