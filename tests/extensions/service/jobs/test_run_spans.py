"""The spans of a benchmark, from the request that began it down to each query; no text in any."""

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from threading import Event as Signal

import pytest
from fastapi.testclient import TestClient

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from karat.experiments.plan import choose_timed
from karat.experiments.workers import RunEvent
from karat.extensions.service.api.app import create_app
from karat.extensions.service.benchmarks import TIMED
from karat.extensions.service.jobs.benchmark import RunSpans
from karat.extensions.service.jobs.worker import work_on
from karat.extensions.service.logs import JsonLines
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import ServiceStore
from tests.extensions.service.jobs.conftest import QUESTIONS, RUNS, gold

REQUEST = {"X-Correlation-ID": "request-1"}


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Return where spans end up; the provider of a process could be set only once."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield exporter
    provider.shutdown()


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Return what a worker logs."""
    lines, logger = io.StringIO(), logging.getLogger("karat")
    handler = logging.StreamHandler(lines)
    handler.setFormatter(JsonLines())
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield lines
    logger.removeHandler(handler)
    logger.setLevel(before)


class Once(Signal):
    """Lets a worker do one job, and stop where it would wait for the next."""

    def wait(self, timeout: float | None = None) -> bool:
        self.set()
        return True


def about(span: ReadableSpan) -> dict[str, object]:
    return {key.removeprefix("karat."): value for key, value in (span.attributes or {}).items()}


def answered(outcome: str, latency_ns: int) -> RunEvent:
    detail = {"query_id": "q1", "outcome": outcome, "latency_ns": latency_ns}
    return RunEvent("answered", "words", 1, 2, detail)


def test_a_run_and_its_queries(exporter: InMemorySpanExporter) -> None:
    with RunSpans({"words": "bm25", "left": "bm25"}) as spans:
        spans.on_event(RunEvent("waiting", "words"))
        spans.on_event(RunEvent("started", "words", 0, 2, {"pass": "timing"}))
        spans.on_event(RunEvent("started", "left", 0, 2, {"pass": "timing"}))
        spans.on_event(answered("answered", 2_500_000))
        spans.on_event(answered("timeout", -1))
        spans.on_event(RunEvent("finished", "words", 2, 2, {"status": "completed"}))
        # Of a run that was never begun nothing is known.
        spans.on_event(answered("answered", 1))
        spans.on_event(RunEvent("finished", "words", 2, 2, {"status": "completed"}))
    first, second, run, left = exporter.get_finished_spans()
    shared = {"run": "words", "engine": "bm25"}
    assert about(run) == {**shared, "pass": "timing", "status": "completed"}
    assert about(left) == {"run": "left", "engine": "bm25", "pass": "timing"}
    query = {**shared, "query_id": "q1"}
    assert about(first) == {**query, "latency_ms": 2.5, "status": "answered"}
    assert about(second) == {**query, "status": "timeout"}
    assert first.end_time is not None
    assert first.start_time == first.end_time - 2_500_000
    assert [span.parent == run.context for span in (first, second)] == [True, True]
    assert (first.status.status_code, run.status.status_code) == (StatusCode.UNSET,) * 2
    assert second.status.status_code is StatusCode.ERROR


def test_a_run_that_failed(exporter: InMemorySpanExporter) -> None:
    with RunSpans({"words": "bm25"}) as spans:
        spans.on_event(RunEvent("started", "words", 0, 2, {"pass": "quality"}))
        spans.on_event(RunEvent("finished", "words", 0, 2, {"status": "failed", "error": "secret"}))
    (run,) = exporter.get_finished_spans()
    assert (about(run)["status"], run.status.status_code) == ("failed", StatusCode.ERROR)
    assert "secret" not in run.to_json()


def test_a_benchmark_from_its_request_to_its_queries(
    exporter: InMemorySpanExporter,
    log: io.StringIO,
    store: ServiceStore,
    settings: ServiceSettings,
    benchmark: str,
) -> None:
    with TestClient(create_app(settings), base_url="http://localhost:8080") as client:
        started = client.post(f"/api/v2/benchmarks/{benchmark}/start", headers=REQUEST)
        assert started.status_code == 200
    work_on(store, replace(settings, workers=1), stopping=Once())
    assert store.benchmarks.get(benchmark).status == "completed"
    spans = exporter.get_finished_spans()
    (request,) = (span for span in spans if span.name.startswith("POST"))
    (job,) = (span for span in spans if span.name == "benchmark")
    (explaining,) = (span for span in spans if span.name == "explain")
    assert about(request)["correlation_id"] == about(job)["correlation_id"] == "request-1"
    assert about(job)["job"] == started.json()["operation_uuid"]
    assert explaining.parent == job.context
    runs = {span.context.span_id: span for span in spans if span.name == "run" and span.context}
    assert all(span.parent == job.context for span in runs.values())
    assert len({about(span)["run"] for span in runs.values()}) == RUNS
    assert {about(span)["engine"] for span in runs.values()} == {"bm25"}
    assert {about(span)["status"] for span in runs.values()} == {"completed"}
    queries = [span for span in spans if span.name == "query"]
    timed = []
    for query in queries:
        assert query.parent
        run = about(runs[query.parent.span_id])
        assert about(query)["run"] == run["run"]
        assert about(query)["status"] == "answered"
        if "timing" in run.values():
            timed.append(about(query)["query_id"])
            assert isinstance(latency := about(query)["latency_ms"], float)
            assert latency > 0
    sample = choose_timed(gold(), TIMED["sample"], seed=0)
    assert sorted(map(str, timed)) == sorted([*sample] * RUNS)
    assert len(queries) - len(timed) == QUESTIONS * RUNS
    told = "".join(span.to_json() for span in spans)
    assert not any(text in told for text in gold().texts)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    jobs = [line for line in lines if line["message"].startswith("job ")]
    assert [line["message"] for line in jobs] == ["job started", "job ended"]
    assert {line["correlation_id"] for line in jobs} == {"request-1"}
