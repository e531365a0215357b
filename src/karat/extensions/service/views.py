"""Documents of the API: validated results, comparisons, queries and trends of a benchmark."""

from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any

from karat.app.changes import ScoredStoredRun, run_changes
from karat.app.pooling import best_rank
from karat.errors import UnknownName
from karat.experiments.store import RunStatus, StoredRun
from karat.extensions.service.benchmarks import BenchmarkConfig
from karat.extensions.service.judging_pool import HitOrder, JudgingPool
from karat.extensions.service.results import ScoredBenchmark
from karat.extensions.service.schemas.benchmarks import RunConfig
from karat.extensions.service.schemas.datasets import UnjudgedHit, UnjudgedHits
from karat.extensions.service.schemas.results import Change as ChangeDocument
from karat.extensions.service.schemas.results import (
    Changes,
    Comparison,
    Curves,
    Details,
    Drilldown,
    QueryResults,
    Results,
    ScoreMatrix,
    Slices,
    Timing,
    Trend,
    TrendPoint,
    TwoSides,
)
from karat.extensions.service.store import Benchmark, ServiceStore
from karat.installation import without_checkout
from karat.model import Outcome
from karat.model.change import Earlier, RunChange
from karat.report.change_view import change_sentence
from karat.report.page import analysis as analysis_page
from karat.report.page import queries as page_of
from karat.report.page import results as page
from karat.report.page.queries import TUNED_OPTIONS, RunState, Subject
from karat.report.page.results import flat_metrics, intervals_of
from karat.scoring.settings import Confidence, Scoring

NS_PER_MS = 1_000_000
# Options of a configuration that are names of models.
MODELS = ("model", "reranker", "context")


def config_of(run: StoredRun) -> RunConfig:
    """Return the settings of *run* in the words of the request that made it."""
    return options_of(run.metadata["options"])  # type: ignore[arg-type]


def options_of(options: Mapping[str, Any]) -> RunConfig:
    """Return the options of a configuration; what its mode, or its engine, does not use is None."""
    return RunConfig(
        search_mode=options.get("search_mode"),
        engine=options.get("engine"),
        use_reranker=options.get("use_reranker", False),
        top_k=options["top_k"],
        rrf_k=options.get("rrf_k"),
        score_threshold=options.get("score_threshold"),
        **{name: options[name] for name in (*TUNED_OPTIONS, *MODELS) if name in options},
    )


def config_hash(run: StoredRun) -> str:
    """Return a key that differs for runs of different engines or settings."""
    settings = f"{run.engine.digest} {run.metadata['k']} {run.metadata['threshold']}"
    return sha256(settings.encode()).hexdigest()


def run_status(run: StoredRun, benchmark: Benchmark) -> str:
    """Return the status of *run*, as part of *benchmark*.

    It is completed as soon as all its queries are answered and scored; what became of its latency
    comes from :func:`timing_status`. Cancelling takes a moment to reach a worker, and one that had
    to stop has cancelled its runs, which the next one continues.
    """
    if run.scored:
        return RunStatus.COMPLETED.value
    if benchmark.status == "cancelled" and not run.status.ended:
        return RunStatus.CANCELLED.value
    if benchmark.status == "running" and run.status is RunStatus.CANCELLED:
        return RunStatus.PENDING.value
    return run.status.value


def timing_status(run: StoredRun, benchmark: Benchmark) -> str:
    """Return whether the latency of *run* is measured.

    ``pending`` is until it is done, also while it is being measured.
    """
    if not run.scored and run.status.ended and benchmark.status != "running":
        return "none"
    if run.status is RunStatus.COMPLETED:
        return "none" if run.index_ns is None else "done"
    if BenchmarkConfig.from_json(benchmark.config).timing == "none":
        return "none"
    if run.scored and run.status is RunStatus.FAILED:
        return "failed"
    return benchmark.status if benchmark.status in {"cancelled", "failed"} else "pending"


def timing_of(run: StoredRun) -> Timing:
    """Return the duration of the phases of *run*; None if unknown."""
    indexing = None if run.index_ns is None else run.index_ns / NS_PER_MS
    total = None
    if run.begun and run.ended and run.status.ended:
        total = (run.ended - run.begun) / timedelta(milliseconds=1)
    rest = None if total is None or indexing is None else max(total - indexing, 0.0)
    return Timing(indexing_ms=indexing, evaluation_ms=rest, total_ms=total)


Outcomes = Mapping[str, Mapping[Outcome, int]]


def subject_of(scored: ScoredBenchmark, outcomes: Outcomes | None = None) -> Subject:
    """Return a scored benchmark as the page shows it.

    *outcomes* count the answers of each run, and are needed only for runs without scores.
    """
    benchmark = scored.benchmark
    scored_ids = {run.id for run in scored.runs}
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
            if run.id not in scored_ids
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
        labels=_labels(config),
        queries=queries,
        counts=(benchmark.total_runs, benchmark.completed_runs, benchmark.failed_runs),
    )
    return Results.model_validate(document)


def full_results(store: ServiceStore, scored: ScoredBenchmark) -> Results:
    """Return the runs with intervals, latencies and the outcome in words."""
    outcomes = store.results.outcomes(scored.experiment.id)
    return Results.model_validate(page.results(subject_of(scored, outcomes)))


def store_results(store: ServiceStore, scored: ScoredBenchmark) -> bytes:
    """Return the full results as JSON, and store them for the next request."""
    body = full_results(store, scored).model_dump_json().encode()
    store.benchmarks.store_results(scored.benchmark.id, scored.key, body)
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
        status=run_status(run, benchmark),
        error_message=without_checkout(run.error) or None,
        timing=timing_of(run).model_dump(),
        timing_status=timing_status(run, benchmark),
        answered=ended.get(Outcome.ANSWERED, 0),
        errors=ended.get(Outcome.ERROR, 0),
        timeouts=ended.get(Outcome.TIMEOUT, 0),
    )


def query_results(scored: ScoredBenchmark, run: str, *, page: int, per_page: int) -> QueryResults:
    """Return one page of the query results of a run, at the primary cut-off."""
    document = page_of.query_results(subject_of(scored), run, page=page, per_page=per_page)
    return QueryResults.model_validate(document)


def drilldown(scored: ScoredBenchmark, query: str) -> Drilldown:
    """Return one query in all runs: its targets, and the hits of each run."""
    return Drilldown.model_validate(page_of.drilldown(subject_of(scored), query))


def unjudged(
    pool: JudgingPool, *, page: int, per_page: int, order: HitOrder = "rank"
) -> UnjudgedHits:
    """Return the hits of *pool* that nobody has judged, by default the best ranked first."""
    gold = pool.gold
    return UnjudgedHits(
        version=pool.version,
        hits=[
            UnjudgedHit(
                query_id=gold.query_ids[item.row],
                query_text=gold.texts[item.row],
                path=item.hit.path,
                start_line=item.hit.start_line,
                end_line=item.hit.end_line,
                symbol=item.hit.symbol,
                best_rank=best_rank(item),
                runs=list(item.ranks),
            )
            for item in pool.page(limit=per_page, offset=(page - 1) * per_page, order=order)
        ],
        total=len(pool),
        page=page,
        per_page=per_page,
    )


MOST_BENCHMARKS = 100
# Runs of one name among which those of a dataset are looked for.
MOST_PAST = 200


def trend(store: ServiceStore, dataset: str, *, owner: str | None) -> Trend:
    """Return the completed runs of the newest benchmarks on *dataset*, the oldest first."""
    benchmarks = store.benchmarks.page(owner=owner, dataset=dataset, limit=MOST_BENCHMARKS).items
    remarks = store.benchmarks.annotations(*(benchmark.id for benchmark in benchmarks))
    benchmark_of = {
        benchmark.experiment: benchmark for benchmark in benchmarks if benchmark.experiment
    }
    points = []
    for run in store.results.completed(*benchmark_of):
        benchmark = benchmark_of[run.id.partition(".")[0]]
        points.append(
            TrendPoint(
                benchmark_id=benchmark.id,
                benchmark_name=benchmark.name,
                run_id=run.id,
                run_name=run.label,
                created_at=run.ended or benchmark.created,
                commit=benchmark.revision,
                values=flat_metrics(run.scores),
                intervals=intervals_of(run.scores),
                annotations=[each.text for each in remarks if each.benchmark == benchmark.id],
            )
        )
    # Runs of one benchmark end at their own times, and stay together all the same.
    order = [benchmark.id for benchmark in reversed(benchmarks)]
    labels: dict[str, str] = {}
    for benchmark in reversed(benchmarks):
        labels |= _labels(BenchmarkConfig.from_json(benchmark.config))
    return Trend(
        dataset_id=dataset,
        labels=labels,
        points=sorted(points, key=lambda point: order.index(point.benchmark_id)),
    )


def changes(scored: ScoredBenchmark, store: ServiceStore, *, owner: str | None) -> Changes:
    """Return how the runs of a benchmark differ from earlier ones of the same name.

    Those are the runs of the other benchmarks of *owner*, None for everybody's, with the same
    dataset and collection.
    """
    mine, findings = scored.benchmark, scored.findings
    listed = store.benchmarks.page(owner=owner, dataset=mine.dataset, limit=MOST_BENCHMARKS).items
    earlier = {
        each.experiment: each
        for each in listed
        if each.experiment and each.collection == mine.collection
    }
    found = run_changes(
        store.results,
        scored.experiment,
        findings.gold,
        [
            ScoredStoredRun(*each)
            for each in zip(scored.runs, findings.runs, findings.contest.evaluations, strict=True)
        ],
        scoring=Scoring(measures=scored.config.measures()),
        confidence=Confidence(),
        past=lambda name: [
            run
            for run in store.results.past_runs(name, limit=MOST_PAST)
            if run.experiment in earlier
        ],
    )
    runs = {each.name: run.id for each, run in zip(findings.runs, scored.runs, strict=True)}
    return Changes(
        changes=[
            _change(each, runs[each.run], earlier[_experiment(each.earlier)]) for each in found
        ]
    )


def _experiment(run: str) -> str:
    return run.partition(".")[0]


def _change(change: RunChange, run: str, benchmark: Benchmark) -> ChangeDocument:
    entry, interval = change.difference, change.difference.interval
    ends = None
    if interval.low is not None and interval.high is not None:
        ends = (interval.low, interval.high)
    name = "its pinned run" if change.against is Earlier.PINNED else "its run"
    return ChangeDocument(
        run_id=run,
        run_name=change.run,
        against=change.against.value,
        earlier_run_id=change.earlier,
        earlier_benchmark_id=benchmark.id,
        earlier_benchmark_name=benchmark.name,
        ended_at=change.ended,
        metric=entry.metric,
        queries=entry.n,
        difference=entry.difference,
        interval=ends,
        p=entry.p_corrected,
        significant=entry.is_significant,
        unchanged=change.unchanged,
        wins=entry.wins,
        ties=entry.ties,
        losses=entry.losses,
        altered=list(change.altered),
        text=change_sentence(change, f"{name} in {benchmark.name}"),
    )


def comparison(scored: ScoredBenchmark, baseline: str | None, metric: str | None) -> Comparison:
    """Return all runs against one of them, by default the first one, on one metric."""
    return Comparison.model_validate(analysis_page.comparison(subject_of(scored), baseline, metric))


def matrix(scored: ScoredBenchmark, metric: str | None) -> ScoreMatrix:
    """Return the score of every query in every run."""
    return ScoreMatrix.model_validate(analysis_page.matrix(subject_of(scored), metric))


def slices(scored: ScoredBenchmark, metric: str | None, by: str | None) -> Slices:
    """Return the means of each run over the queries with each value of the tag *by*."""
    return Slices.model_validate(analysis_page.slices(subject_of(scored), metric, by))


def curves(scored: ScoredBenchmark) -> Curves:
    """Return the metrics with a cut-off at growing cut-offs."""
    return Curves.model_validate(analysis_page.curves(subject_of(scored)))


def two_sides(
    left: ScoredBenchmark, left_run: str, right: ScoredBenchmark, right_run: str, metric: str | None
) -> TwoSides:
    """Return one run against another, perhaps of another benchmark, on the queries of both."""
    sides = subject_of(left), left_run, subject_of(right), right_run
    return TwoSides.model_validate(analysis_page.two_sides(*sides, metric))


def _labels(config: BenchmarkConfig) -> dict[str, str]:
    """Return the measures as they were typed; empty if a plug-in with one of them is gone."""
    try:
        return config.labels()
    except UnknownName:
        return {}
