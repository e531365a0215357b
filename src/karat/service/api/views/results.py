"""All runs of a benchmark: while it runs by what is kept of each, afterwards with statistics."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

from karat.experiments.remarks import emptied, ranking_digest
from karat.experiments.store import StoredRun
from karat.installation import without_checkout
from karat.model import Outcome
from karat.model.evaluation import Notes
from karat.model.evaluation import Summary as SummedUp
from karat.model.timings import Measured
from karat.report.findings.fate_words import FATES, told_fates
from karat.report.findings.latency import latencies_ms
from karat.report.findings.leaderboard import best_first
from karat.report.findings.ranks import fates
from karat.report.score_view import invalid_text
from karat.report.searched_view import odd_answers
from karat.scoring.stats import known_percentiles
from karat.service.api.schemas.results import Latency, Results, RunResult, Summary
from karat.service.api.views.runs import (
    config_hash,
    config_of,
    flat_metrics,
    intervals_of,
    metrics_of,
    shown_status,
    timing_of,
    timing_status,
)
from karat.service.benchmarks import BenchmarkConfig
from karat.service.results import ScoredBenchmark
from karat.service.store import Benchmark, ServiceStore

__all__ = ["full_results", "kept_results", "plain_results"]

NOT_MEASURED = Latency(
    p50=None, p90=None, p95=None, p99=None, samples=0, measured=False, disturbed=False
)
Outcomes = Mapping[str, Mapping[Outcome, int]]


def plain_results(store: ServiceStore, benchmark: Benchmark) -> Results:
    """Return what is kept of each run: means, without anything that takes time to compute.

    Times are being taken while a benchmark runs, and statistics would disturb them.
    """
    if benchmark.experiment is None:
        return _results(benchmark, 0, 1, [], _summary(benchmark, {}))
    experiment = store.results.show(benchmark.experiment)
    outcomes = store.results.outcomes(experiment.id)
    scores = {run.id: run.scores for run in store.results.completed(experiment.id)}
    runs = [_run(benchmark, run, outcomes, scores.get(run.id, ())) for run in experiment.runs]
    primary = BenchmarkConfig.from_json(benchmark.config).primary
    means = {run.id: run.metrics_flat.get(primary) for run in runs}
    return _results(benchmark, experiment.queries, 1, runs, _summary(benchmark, means))


def full_results(store: ServiceStore, scored: ScoredBenchmark) -> Results:
    """Return the runs with intervals, latencies and what their differences are worth."""
    benchmark, findings = scored.benchmark, scored.findings
    outcomes = store.results.outcomes(scored.experiment.id)
    same, told = _identical(scored), _fates(scored)
    shown = {}
    for place, run in enumerate(scored.runs):
        measured, notes = findings.runs[place], findings.contest.evaluations[place].notes
        resolved = None
        if scored.resolved is not None:
            resolved = flat_metrics(scored.resolved[place].summaries)
        plain = _run(benchmark, run, outcomes, scored.summaries(place))
        shown[run.id] = plain.model_copy(
            update={
                "resolved_metrics_flat": resolved,
                "latency": _latency(measured, findings.gold.query_ids),
                "invalid": sum(notes.invalid.values()),
                "warnings": [
                    *findings.contest.evaluations[place].warnings,
                    *emptied([measured]),
                    *_odd(measured, notes),
                ],
                "fates": told[place],
                "identical_to": same[run.id],
            }
        )
    runs = [
        shown.get(run.id) or _run(benchmark, run, outcomes, ()) for run in scored.experiment.runs
    ]
    means = {run.id: run.metrics_flat.get(scored.config.primary) for run in runs}
    best = {"best_runs": _unbeaten(scored), "comparison": findings.contest.verdict or None}
    summary = _summary(benchmark, means).model_copy(update=best)
    queries = len(findings.gold)
    return _results(benchmark, queries, scored.version, runs, summary)


def kept_results(store: ServiceStore, scored: ScoredBenchmark) -> bytes:
    """Return the full results as JSON, and keep them for whoever asks next."""
    body = full_results(store, scored).model_dump_json().encode()
    store.benchmarks.keep_results(scored.benchmark.id, scored.key, body)
    return body


def _results(
    benchmark: Benchmark, queries: int, version: int, runs: list[RunResult], summary: Summary
) -> Results:
    config = BenchmarkConfig.from_json(benchmark.config)
    return Results(
        benchmark_id=benchmark.id,
        status=benchmark.status,
        primary_k=config.primary_k,
        primary_metric=config.primary,
        k_values_for_metrics=list(config.cuts),
        query_count=queries,
        judgments_version=version,
        runs=runs,
        summary=summary,
        total_runs=benchmark.total_runs,
    )


def _run(
    benchmark: Benchmark, run: StoredRun, outcomes: Outcomes, scores: Sequence[SummedUp]
) -> RunResult:
    ended = outcomes.get(run.id, {})
    flat = flat_metrics(scores)
    return RunResult(
        id=run.id,
        run_order=int(run.id.rpartition(".")[2]),
        name=run.label,
        config_hash=config_hash(run),
        config=config_of(run),
        snapshot=run.snapshot,
        status=shown_status(run, benchmark),
        error_message=without_checkout(run.error) or None,
        metrics=metrics_of(flat),
        metrics_flat=flat,
        resolved_metrics_flat=None,
        intervals=intervals_of(scores),
        timing=timing_of(run),
        timing_status=timing_status(run, benchmark),
        latency=NOT_MEASURED,
        answered=ended.get(Outcome.ANSWERED, 0),
        errors=ended.get(Outcome.ERROR, 0),
        timeouts=ended.get(Outcome.TIMEOUT, 0),
        invalid=0,
        fates={},
        warnings=[],
        identical_to=[],
    )


def _summary(benchmark: Benchmark, means: Mapping[str, float | None]) -> Summary:
    known = {run: mean for run, mean in means.items() if mean is not None}
    best = max(known, key=known.__getitem__, default=None)
    return Summary(
        total_runs=benchmark.total_runs,
        completed_runs=benchmark.completed_runs,
        failed_runs=benchmark.failed_runs,
        best_run=best,
        best_primary_metric=known[best] if best else None,
        best_runs=[],
        comparison=None,
    )


def _odd(measured: Measured, notes: Notes) -> Iterator[str]:
    """Yield why hits of a run are left out, and what else is odd about its answers."""
    if notes.invalid:
        yield f"{measured.name}: {invalid_text(notes)}"
    yield from odd_answers(measured)


def _latency(measured: Measured, query_ids: Sequence[str]) -> Latency:
    if measured.timings is None:
        return NOT_MEASURED
    times = [time for time in latencies_ms(measured, query_ids) if not isnan(time)]
    p50, p90, p95, p99 = known_percentiles(times, (50, 90, 95, 99))
    return Latency(
        p50=p50,
        p90=p90,
        p95=p95,
        p99=p99,
        samples=len(times),
        measured=bool(times),
        disturbed=not measured.timings.alone,
    )


def _fates(scored: ScoredBenchmark) -> list[dict[str, int]]:
    """Return how many targets of each run met which fate, in the words of a report."""
    told = told_fates(scored.findings)
    return [{FATES[kind].name: row.counts[kind] for kind in told} for row in fates(scored.findings)]


def _identical(scored: ScoredBenchmark) -> dict[str, list[str]]:
    digests = [ranking_digest(measured.run) for measured in scored.findings.runs]
    ids = [run.id for run in scored.runs]
    pairs = list(zip(ids, digests, strict=True))
    return {
        run: [other for other, digest in pairs if digest == mine and other != run]
        for run, mine in pairs
    }


def _unbeaten(scored: ScoredBenchmark) -> list[str]:
    """Return the best run and all that are not worse than it beyond the noise."""
    comparison, lead = scored.findings.contest.comparison, scored.findings.lead
    order = best_first(scored.findings)
    best = scored.findings.names[order[0]]
    beaten = {
        entry.baseline if entry.system == best else entry.system
        for entry in comparison.differences
        if entry.metric == lead
        and best in (entry.baseline, entry.system)
        and comparison.significant(entry)
    }
    names = scored.findings.names
    return [
        scored.runs[place].id
        for place in order
        if names[place] not in beaten and comparison.mean(names[place], lead).mean is not None
    ]
