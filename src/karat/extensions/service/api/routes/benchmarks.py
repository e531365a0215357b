"""Benchmarks: create, start, follow, cancel and delete them."""

from collections.abc import Iterable, Sequence
from math import isnan
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, HTTPException

from karat.errors import InputError, UnknownName
from karat.experiments import group_searches
from karat.experiments.matrix import Matrix
from karat.experiments.store import ScoredRun
from karat.extensions.service.api.failures import failures
from karat.extensions.service.api.state import CurrentCaller, CurrentService, RequestedPage, Service
from karat.extensions.service.benchmarks import BenchmarkConfig
from karat.extensions.service.datasets import check_resolved
from karat.extensions.service.events import report_outcome
from karat.extensions.service.logs import correlation_id
from karat.extensions.service.progress import BENCHMARK_EVENT, standing
from karat.extensions.service.schemas.base import NO_NUL
from karat.extensions.service.schemas.benchmarks import (
    Annotation,
    AnnotationCreate,
    Benchmark,
    BenchmarkCreate,
    Benchmarks,
    BenchmarkStart,
    BenchmarkStatus,
    BestRun,
    ConfigMatrix,
    JudgeLabels,
    Preview,
    PreviewRequest,
    PreviewRun,
    SharedWork,
    TimedQueries,
)
from karat.extensions.service.store import Annotation as StoredAnnotation
from karat.extensions.service.store import Benchmark as StoredBenchmark
from karat.extensions.service.store import Collection
from karat.extensions.service.views import options_of
from karat.model.judgments import label_use

router = APIRouter(prefix="/api/v2/benchmarks", tags=["benchmarks"])

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=NO_NUL,
        description="A repeated key returns the benchmark that the first request started",
    ),
]


@router.post("", status_code=201, responses=failures(400, 404))
def create_benchmark(
    serving: CurrentService, caller: CurrentCaller, asked: BenchmarkCreate
) -> Benchmark:
    """Create a benchmark of a matrix on a mapping; it runs when it is started."""
    store = serving.store
    mapping = store.mappings.get(str(asked.mapping_id), owner=caller.sees)
    check_resolved(store, mapping)
    config = _config(
        asked.config_matrix,
        asked.top_k,
        metrics=asked.metrics_to_compute,
        timing=asked.timing,
        judge_labels=asked.judge_labels,
    )
    if asked.judge_labels != "exclude":
        dataset = store.datasets.get(mapping.dataset)
        if label_use(store.datasets.gold(dataset.gold)) is None:
            raise InputError(f"dataset {dataset.name!r} has no labels of models to use")
    matrix = _matrix(serving, config, store.collections.get(mapping.collection))
    made = store.benchmarks.add(
        caller.owner,
        asked.name,
        description=asked.description,
        mapping=mapping.id,
        config=config.to_json(),
        total_runs=matrix.count(),
    )
    return _with_annotations(serving, made)


@router.post("/preview", responses=failures(400, 404))
def preview_benchmark(
    serving: CurrentService, caller: CurrentCaller, asked: PreviewRequest
) -> Preview:
    """List the runs of a matrix and the work that they share; nothing is created."""
    collection = None
    if asked.mapping_id:
        mapping = serving.store.mappings.get(str(asked.mapping_id), owner=caller.sees)
        collection = serving.store.collections.get(mapping.collection)
    entries = _matrix(
        serving, _config(asked.config_matrix, asked.top_k), collection
    ).configurations()
    plan = group_searches(entries, files=False)
    return Preview(
        total_runs=len(entries),
        runs=[PreviewRun(name=each.name, config=options_of(each.options)) for each in entries],
        shared=SharedWork(
            retrievals=plan.counts.searches,
            indexes=plan.counts.indexes,
            words="; ".join(plan.lines()) or "nothing is shared",
        ),
        warning=_warning(serving, len(entries)),
    )


@router.get("", responses=failures())
def list_benchmarks(
    serving: CurrentService,
    caller: CurrentCaller,
    paging: RequestedPage,
    status_filter: BenchmarkStatus | None = None,
) -> Benchmarks:
    """List benchmarks, the newest first, optionally of one status."""
    store = serving.store.benchmarks
    page = store.page(owner=caller.sees, status=status_filter, **paging.part)
    return Benchmarks(
        benchmarks=_benchmarks(serving, page.items),
        total=page.total,
        **paging._asdict(),
    )


@router.get("/latest", responses=failures(404))
def latest_benchmark(serving: CurrentService, caller: CurrentCaller) -> Benchmark:
    """Return the newest benchmark."""
    for benchmark in serving.store.benchmarks.page(owner=caller.sees, limit=1).items:
        return _with_annotations(serving, benchmark)
    raise UnknownName("no benchmark yet")


@router.get("/{benchmark_id}", responses=failures(404))
def get_benchmark(serving: CurrentService, caller: CurrentCaller, benchmark_id: UUID) -> Benchmark:
    """Return one benchmark with its status."""
    benchmark = serving.store.benchmarks.get(str(benchmark_id), owner=caller.sees)
    return _with_annotations(serving, benchmark)


@router.delete("/{benchmark_id}", status_code=204, responses=failures(404, 409))
def delete_benchmark(serving: CurrentService, caller: CurrentCaller, benchmark_id: UUID) -> None:
    """Delete a benchmark with its results; one that is running must be cancelled first."""
    benchmark = serving.store.benchmarks.get(str(benchmark_id), owner=caller.sees)
    serving.store.benchmarks.delete(benchmark.id)


@router.post("/{benchmark_id}/start", responses=failures(404, 409))
def start_benchmark(
    serving: CurrentService,
    caller: CurrentCaller,
    benchmark_id: UUID,
    idempotency_key: IdempotencyKey = None,
) -> BenchmarkStart:
    """Start a benchmark, or continue one that has failed or was cancelled."""
    store = serving.store
    benchmark = store.benchmarks.get(str(benchmark_id), owner=caller.sees)
    check_resolved(store, store.mappings.get(benchmark.mapping))
    started = store.benchmarks.start(
        benchmark.id,
        key=idempotency_key,
        correlation=correlation_id(),
        most=serving.most_jobs(caller),
    )
    if started.operation and started.operation != benchmark.operation:
        store.events.add(
            started.operation, started.id, BENCHMARK_EVENT, standing(started, "pending")
        )
    return BenchmarkStart(
        id=started.id,
        status=started.current_status,
        operation_uuid=started.operation,
        message=f"{started.total_runs} runs, {started.completed_runs} of them completed",
    )


@router.post("/{benchmark_id}/cancel", responses=failures(404, 409))
def cancel_benchmark(
    serving: CurrentService, caller: CurrentCaller, benchmark_id: UUID
) -> BenchmarkStart:
    """Cancel a benchmark that is pending or running; completed runs are kept."""
    store = serving.store
    benchmark = store.benchmarks.get(str(benchmark_id), owner=caller.sees)
    cancelled = store.benchmarks.cancel(benchmark.id)
    report_outcome(store, cancelled)
    return BenchmarkStart(
        id=cancelled.id,
        status=cancelled.status,
        operation_uuid=cancelled.operation,
        message=f"{cancelled.completed_runs} of {cancelled.total_runs} runs are kept",
    )


@router.post("/{benchmark_id}/annotations", status_code=201, responses=failures(404))
def annotate_benchmark(
    serving: CurrentService, caller: CurrentCaller, benchmark_id: UUID, asked: AnnotationCreate
) -> Annotation:
    """Add a remark to a benchmark."""
    benchmark = serving.store.benchmarks.get(str(benchmark_id), owner=caller.sees)
    return _annotation(
        serving.store.benchmarks.annotate(benchmark.id, asked.text, author=caller.owner)
    )


def _config(
    matrix: ConfigMatrix,
    top_k: int,
    *,
    metrics: list[str] | None = None,
    timing: TimedQueries = "sample",
    judge_labels: JudgeLabels = "exclude",
) -> BenchmarkConfig:
    given: dict[str, Any] = {} if metrics is None else {"metrics": tuple(metrics)}
    config = BenchmarkConfig(
        matrix.model_dump(), top_k, **given, timing=timing, judge_labels=judge_labels
    )
    try:
        config.measures()
    except UnknownName as error:
        raise InputError(str(error)) from error
    return config


def _matrix(
    serving: Service, config: BenchmarkConfig, collection: Collection | None = None
) -> Matrix:
    settings = serving.settings
    matrix = config.matrix_for(collection, offered=settings.engines, choices=settings.choices)
    count, most = matrix.count(), serving.settings.limits.runs
    if count > most:
        raise HTTPException(422, f"{count} runs; at most {most} are allowed, remove some values")
    return matrix


def _with_annotations(serving: Service, benchmark: StoredBenchmark) -> Benchmark:
    (shown,) = _benchmarks(serving, [benchmark])
    return shown


def _benchmarks(serving: Service, stored: Sequence[StoredBenchmark]) -> list[Benchmark]:
    """Return benchmarks with what people noted on them, and their best runs."""
    remarks = serving.store.benchmarks.annotations(*(each.id for each in stored))
    experiments = [each.experiment for each in stored if each.experiment is not None]
    scored: dict[str, list[ScoredRun]] = {}
    for run in serving.store.results.completed(*experiments):
        scored.setdefault(run.id.rpartition(".")[0], []).append(run)
    return [
        _benchmark(serving, each, remarks, scored.get(each.experiment or "", ())) for each in stored
    ]


def _best_run(runs: Iterable[ScoredRun], metric: str) -> BestRun | None:
    """Return the run with the highest mean of *metric*, the first one of several."""
    means = [
        BestRun(run_id=run.id, name=run.label, metric=metric, mean=score.mean)
        for run in runs
        for score in run.scores
        if score.measure == metric and not isnan(score.mean)
    ]
    return max(means, key=lambda best: best.mean, default=None)


def _benchmark(
    serving: Service,
    stored: StoredBenchmark,
    remarks: Iterable[StoredAnnotation],
    scored: Iterable[ScoredRun],
) -> Benchmark:
    config = BenchmarkConfig.from_json(stored.config)
    return Benchmark(
        id=stored.id,
        name=stored.name,
        description=stored.description,
        owner_id=stored.owner,
        mapping_id=stored.mapping,
        dataset_id=stored.dataset,
        dataset_name=stored.dataset_name,
        collection_id=stored.collection,
        collection_name=stored.collection_name,
        status=stored.current_status,
        error_message=serving.settings.without_locations(stored.error) or None,
        queue_position=stored.position,
        is_stopping=stored.stopping,
        total_runs=stored.total_runs,
        completed_runs=stored.completed_runs,
        failed_runs=stored.failed_runs,
        best_run=_best_run(scored, config.primary),
        created_at=stored.created,
        started_at=stored.started,
        completed_at=stored.completed,
        operation_uuid=stored.operation,
        commit=stored.revision,
        config_matrix=stored.config["config_matrix"],
        timing=config.timing,
        judge_labels=config.judge_labels,
        warning=_warning(serving, stored.total_runs),
        annotations=[_annotation(each) for each in remarks if each.benchmark == stored.id],
    )


def _annotation(stored: StoredAnnotation) -> Annotation:
    return Annotation(
        id=stored.id, text=stored.text, owner_id=stored.author, created_at=stored.created
    )


def _warning(serving: Service, runs: int) -> str | None:
    if runs <= serving.settings.limits.runs_warned:
        return None
    return f"{runs} runs take long, and among many runs small differences are hard to detect"
