"""Results: what each run of a benchmark scored, over all queries and for each."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from karat.service.api.schemas.base import Answer, Listing
from karat.service.api.schemas.benchmarks import BenchmarkStatus, RunConfig, RunStatus, TimingStatus
from karat.service.api.schemas.commits import Commit

__all__ = [
    "Drilldown",
    "DrilldownHit",
    "DrilldownRun",
    "DrilldownTarget",
    "Latency",
    "Metrics",
    "QueryResult",
    "QueryResults",
    "Results",
    "RunResult",
    "Summary",
    "Timing",
    "Trend",
    "TrendPoint",
]


class Metrics(Answer):
    """Means over all queries; inner keys are the k. Null where k exceeds the run's top_k."""

    mrr: float | None
    ap: float | None
    precision: dict[str, float | None] = Field(examples=[{"10": 0.31}])
    recall: dict[str, float | None]
    ndcg: dict[str, float | None]


class Timing(Answer):
    """Where the time of a run went, in milliseconds."""

    indexing_ms: float | None
    evaluation_ms: float | None
    total_ms: float | None


class Latency(Answer):
    """Milliseconds of one query, by linear interpolation; null where there are too few samples.

    p90 needs 10 samples, p95 needs 20 and p99 needs 100. *disturbed* says that other karat runs
    worked, or may have worked, while latency was measured.
    """

    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    samples: int
    measured: bool
    disturbed: bool


class RunResult(Answer):
    """One run; *intervals* are 95 % intervals of the means in *metrics_flat*.

    *resolved_metrics_flat* leaves unresolved references out of the truth; null where there are
    none. *fates* counts the relevant targets by what became of them at the primary k, and is empty
    before the benchmark has ended. *identical_to* names runs whose rankings are the same, hit for
    hit. The run is ``completed`` when all its queries are scored. *timing_status* tells whether its
    latency is measured: ``none`` is not wanted, ``pending`` waits or is being measured; ``failed``
    and ``cancelled`` are measured when the benchmark is started again.
    """

    id: str
    run_order: int
    name: str
    config_hash: str
    config: RunConfig
    snapshot: str = Field(description="SHA-256 over all paths and contents that were searched")
    status: RunStatus
    error_message: str | None
    metrics: Metrics
    metrics_flat: dict[str, float | None] = Field(examples=[{"ndcg@10": 0.71}])
    resolved_metrics_flat: dict[str, float | None] | None
    intervals: dict[str, tuple[float, float]] = Field(examples=[{"ndcg@10": [0.64, 0.78]}])
    timing: Timing
    timing_status: TimingStatus
    latency: Latency
    answered: int
    errors: int
    timeouts: int
    invalid: int
    fates: dict[str, int] = Field(examples=[{"found": 61, "too low": 4, "fusion": 2}])
    warnings: list[str]
    identical_to: list[str]


class Summary(Answer):
    """What the runs say together; *best_runs* are all that are not worse beyond the noise."""

    total_runs: int
    completed_runs: int
    failed_runs: int
    best_run: str | None
    best_primary_metric: float | None
    best_runs: list[str]
    comparison: str | None


class Results(Answer):
    """All runs of a benchmark, scored by the judgments of *judgments_version*."""

    benchmark_id: UUID
    status: BenchmarkStatus
    primary_k: int
    primary_metric: str = Field(examples=["ndcg@10"])
    k_values_for_metrics: list[int]
    query_count: int
    judgments_version: int
    runs: list[RunResult]
    summary: Summary
    total_runs: int


class QueryResult(Answer):
    """What one run answered to one query, at the primary k."""

    query_id: str
    query_key: str
    query_text: str
    retrieved_doc_ids: list[str]
    precision_at_k: float | None
    recall_at_k: float | None
    reciprocal_rank: float | None
    ndcg_at_k: float | None
    search_time_ms: float | None
    rerank_time_ms: float | None


class QueryResults(Listing):
    """A page of the queries of one run."""

    run_id: str
    results: list[QueryResult]


class DrilldownTarget(Answer):
    """Something relevant: at which rank each run found it, and why it was lost below primary k."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    grade: float
    found_at: dict[str, int | None]
    lost: dict[str, str]


class DrilldownHit(Answer):
    """A hit of one run; *grade* is null where nobody has judged it."""

    rank: int
    path: str
    start_line: int
    end_line: int
    symbol: str
    score: float
    grade: float | None
    relevant: bool


class DrilldownRun(Answer):
    """What one run answered."""

    run_id: str
    name: str
    metrics: dict[str, float | None]
    hits: list[DrilldownHit]
    search_time_ms: float | None
    rerank_time_ms: float | None


class DrilldownQuery(Answer):
    """The query itself."""

    query_id: str
    query_key: str
    query_text: str
    tags: dict[str, str]


class Drilldown(Answer):
    """One query across all runs of a benchmark."""

    query: DrilldownQuery
    targets: list[DrilldownTarget]
    runs: list[DrilldownRun]


class TrendPoint(Answer):
    """One run in the course of time; *commit* is null where the documents are in no repository."""

    benchmark_id: UUID
    benchmark_name: str
    run_id: str
    run_name: str
    created_at: datetime
    commit: Commit | None
    values: dict[str, float | None]
    intervals: dict[str, tuple[float, float]]
    annotations: list[str]


class Trend(Answer):
    """All completed runs over one dataset, the oldest first."""

    dataset_id: UUID
    points: list[TrendPoint]
