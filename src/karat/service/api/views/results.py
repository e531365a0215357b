"""The results of a benchmark: while it runs from stored means, afterwards with statistics."""

from collections.abc import Mapping

from karat.experiments.store import StoredRun
from karat.installation import without_checkout
from karat.model import Outcome
from karat.report.page import results as page
from karat.report.page.subject import RunState, Subject
from karat.service.api.schemas.results import Details, Results
from karat.service.api.views.runs import (
    config_hash,
    config_of,
    shown_status,
    timing_of,
    timing_status,
)
from karat.service.benchmarks import BenchmarkConfig
from karat.service.results import ScoredBenchmark
from karat.service.store import Benchmark, ServiceStore

__all__ = ["details", "full_results", "kept_results", "plain_results", "subject_of"]

Outcomes = Mapping[str, Mapping[Outcome, int]]


def subject_of(scored: ScoredBenchmark, outcomes: Outcomes | None = None) -> Subject:
    """Return a scored benchmark as the page shows it.

    *outcomes* count the answers of each run, and are needed only for runs without scores.
    """
    benchmark = scored.benchmark
    kept = {run.id for run in scored.runs}
    return Subject(
        id=benchmark.id,
        name=benchmark.name,
        findings=scored.findings,
        runs=tuple(_state(benchmark, run, {}) for run in scored.runs),
        primary_metric=scored.config.primary,
        primary_k=scored.config.primary_k,
        cuts=tuple(scored.config.cuts),
        status=benchmark.status,
        dataset=benchmark.dataset,
        version=scored.version,
        unscored=tuple(
            _state(benchmark, run, outcomes or {})
            for run in scored.experiment.runs
            if run.id not in kept
        ),
        resolved=scored.resolved,
    )


def plain_results(store: ServiceStore, benchmark: Benchmark) -> Results:
    """Return what is stored of each run, without anything that takes time to compute."""
    config = BenchmarkConfig.from_json(benchmark.config)
    queries, runs = 0, []
    if benchmark.experiment is not None:
        experiment = store.results.show(benchmark.experiment)
        outcomes = store.results.outcomes(experiment.id)
        scores = {run.id: run.scores for run in store.results.completed(experiment.id)}
        queries = experiment.queries
        runs = [
            (_state(benchmark, run, outcomes), scores.get(run.id, ())) for run in experiment.runs
        ]
    document = page.plain_results(
        runs,
        frame=(benchmark.id, benchmark.status, config.primary, config.primary_k),
        cuts=config.cuts,
        queries=queries,
        counts=(benchmark.total_runs, benchmark.completed_runs, benchmark.failed_runs),
    )
    return Results.model_validate(document)


def full_results(store: ServiceStore, scored: ScoredBenchmark) -> Results:
    """Return the runs with intervals, latencies and the outcome in words."""
    outcomes = store.results.outcomes(scored.experiment.id)
    return Results.model_validate(page.results(subject_of(scored, outcomes)))


def kept_results(store: ServiceStore, scored: ScoredBenchmark) -> bytes:
    """Return the full results as JSON, and store them for the next request."""
    body = full_results(store, scored).model_dump_json().encode()
    store.benchmarks.keep_results(scored.benchmark.id, scored.key, body)
    return body


def details(scored: ScoredBenchmark) -> Details:
    """Return what explains the results: warnings, advice, ranks, latency, cost and method."""
    return Details.model_validate(page.details(subject_of(scored)))


def _state(benchmark: Benchmark, run: StoredRun, outcomes: Outcomes) -> RunState:
    ended = outcomes.get(run.id, {})
    return RunState(
        id=run.id,
        run_order=int(run.id.rpartition(".")[2]),
        name=run.label,
        config_hash=config_hash(run),
        config=config_of(run).model_dump(),
        snapshot=run.snapshot,
        status=shown_status(run, benchmark),
        error_message=without_checkout(run.error) or None,
        timing=timing_of(run).model_dump(),
        timing_status=timing_status(run, benchmark),
        answered=ended.get(Outcome.ANSWERED, 0),
        errors=ended.get(Outcome.ERROR, 0),
        timeouts=ended.get(Outcome.TIMEOUT, 0),
    )
