"""A service that stops does not wait for those who follow its events."""

from queue import Queue
from threading import Thread
from time import monotonic

import httpx
import uvicorn

from karat.server.app import create_app
from karat.server.run import GRACE_S, Server
from karat.server.settings import Settings
from karat.store.service import ServiceStore


def test_streams_end_when_the_service_stops(
    settings: Settings, store: ServiceStore, benchmark: str
) -> None:
    store.benchmarks.start(benchmark)
    store.events.add(benchmark, benchmark, "benchmark_progress", progress(benchmark))
    ready: Queue[str] = Queue()
    config = uvicorn.Config(
        create_app(settings), port=0, log_config=None, timeout_graceful_shutdown=GRACE_S
    )
    server = Server(config, ready.put)
    thread = Thread(target=server.run)
    thread.start()
    address = ready.get(timeout=60)
    with httpx.stream("GET", f"{address}/api/v2/benchmarks/{benchmark}/events") as answer:
        lines = answer.iter_lines()
        assert next(lines) == "event: benchmark_progress"
        begun = monotonic()
        server.should_exit = True
        assert any(line.startswith("id: ") for line in lines)
    thread.join()
    assert monotonic() - begun < GRACE_S


def progress(benchmark: str) -> dict[str, object]:
    counts = {"total_runs": 6, "completed_runs": 0, "failed_runs": 0}
    runs = {"current_run": None, "last_completed_run": None}
    return {"benchmark_id": benchmark, "status": "running", "stage": "x", **counts, **runs}
