"""Runs that end in another process are counted in this one."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from karat.experiments.store import ExperimentDefinition, ExperimentKind, RunDefinition, RunStatus
from karat.extensions.service.metrics import RunMetrics, ServiceMetrics
from karat.extensions.service.store import ServiceStore
from karat.model import Answer, Dataset, Hit, Outcome, Query, Target
from karat.model.evaluation import Summary
from karat.model.spec import Spec
from karat.model.timings import LatencySample, Timings


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ServiceStore]:
    with ServiceStore(tmp_path / "karat.db") as store:
        yield store


@pytest.fixture
def run(store: ServiceStore) -> str:
    """Return the id of a run with an answer, a timeout and a score."""
    gold = Dataset.of([Query(f"q{n}", "text", (Target("a"),)) for n in (1, 2)])
    plan = ExperimentDefinition(
        "x", ExperimentKind.SWEEP, gold, (RunDefinition("words", Spec("engine", "bm25")),)
    )
    results = store.results
    run = f"{results.experiment(plan)}.1"
    results.claim(run)
    results.add(run, Answer("q1", (Hit("a", 1.0),)), LatencySample("q1", 2_000_000))
    results.add(run, Answer("q2", outcome=Outcome.TIMEOUT))
    results.keep_scores(run, [Summary("ndcg@10", 0.5, 1.0, 2), Summary("mrr", 0.5, 1.0, 2)])
    timings = Timings((), 1, 0, 0, 0, 1, alone=True)
    notes = {"work": {"reused": 3}, "restarts": 1}
    results.finish(run, RunStatus.COMPLETED, timings=timings, notes=notes)
    return run


def samples(metrics: ServiceMetrics) -> dict[str, float]:
    return {
        f"{sample.name}{sorted(sample.labels.items())}": sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


def test_an_ended_run_is_counted_once(store: ServiceStore, run: str) -> None:
    metrics = ServiceMetrics()
    counted = RunMetrics(store, metrics)
    for _ in range(3):
        data = {"status": "running", "last_completed_run": {"run_id": run}}
        counted(store.events.add("operation", "subject", "benchmark_progress", data))
    quiet = {"status": "running", "last_completed_run": None}
    counted(store.events.add("operation", "subject", "benchmark_progress", quiet))
    counted.close()
    sampled = samples(metrics)
    assert sampled["karat_queries_total[('status', 'answered')]"] == 1
    assert sampled["karat_queries_total[('status', 'timeout')]"] == 1
    assert sampled["karat_search_latency_seconds_sum[]"] == pytest.approx(0.002)
    assert sampled["vector_ndcg_avg_sum[('k', '10')]"] == 0.5
    assert sampled["karat_cache_hits_total[]"] == 3
    assert sampled["karat_retries_total[]"] == 1
    assert sampled["karat_run_duration_seconds_count[('status', 'completed')]"] == 1


def test_a_run_is_not_counted_before_its_end(store: ServiceStore, run: str) -> None:
    metrics = ServiceMetrics()
    counted = RunMetrics(store, metrics)

    def tell(run_id: str, timing_status: str) -> None:
        last = {"run_id": run_id, "timing_status": timing_status}
        data = {"status": "running", "last_completed_run": last}
        counted(store.events.add("operation", "subject", "benchmark_progress", data))

    plan = ExperimentDefinition(
        "y",
        ExperimentKind.SWEEP,
        Dataset.of([Query("q1", "x")]),
        (RunDefinition("y", Spec("engine", "x")),),
    )
    scored = f"{store.results.experiment(plan)}.1"
    store.results.claim(scored)
    store.results.keep_scores(scored, [], complete=True)
    # One is still to be timed, the other is not to be timed and about to end.
    tell(run, "pending")
    tell(scored, "none")
    tell(run, "done")
    counted.close()
    sampled = samples(metrics)
    statuses = [name for name in sampled if name.startswith("karat_run_duration_seconds_count")]
    assert statuses == ["karat_run_duration_seconds_count[('status', 'completed')]"]
    assert sampled[statuses[0]] == 1


def test_a_run_that_is_gone_breaks_nothing(
    store: ServiceStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "karat.service")
    counted = RunMetrics(store, ServiceMetrics())
    data = {"status": "completed", "last_completed_run": {"run_id": "gone.1"}}
    counted(store.events.add("operation", "subject", "benchmark_progress", data))
    counted.close()
    [told] = caplog.records
    assert (told.levelname, told.message) == ("INFO", "a run was deleted before it was counted")
