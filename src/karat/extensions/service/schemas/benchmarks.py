"""Benchmarks, their previews, and the events of their progress."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from karat.extensions.service.schemas.base import (
    ENDED,
    Answer,
    Commit,
    Description,
    Id,
    Listing,
    Measure,
    Name,
    Request,
    Wide,
)
from karat.extensions.service.schemas.collections import Mode

BenchmarkStatus = Literal["pending", "queued", "running", "completed", "failed", "cancelled"]
RunStatus = Literal["pending", "indexing", "evaluating", "completed", "failed", "cancelled"]
# How many queries are timed.
TimedQueries = Literal["none", "sample", "all"]
JudgeLabels = Literal["exclude", "include", "only"]
TimingStatus = Literal["none", "pending", "done", "failed", "cancelled"]

Depth = Annotated[int, Field(ge=1, le=1000)]
Threshold = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Saturation = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
Fusion = Literal["rrf", "min-max"]


class ConfigMatrix(Request):
    """The values that are combined; a value that a mode does not use makes no further runs.

    A measure whose k exceeds the top_k of a run is null for that run. Engines of the service are
    combined with top_k_values only; with engines, search_modes may be empty.
    """

    search_modes: list[Mode] = Field(max_length=3)
    engines: list[Name] = Field(
        default=[], max_length=50, description="Names from GET /api/v2/engines"
    )
    use_reranker: list[bool] = Field(default=[False], min_length=1, max_length=2)
    models: list[Name] | None = Field(
        default=None,
        min_length=1,
        max_length=20,
        description="Embedding models from choices.models in GET /api/v2/me; null is the model of "
        "the collection",
    )
    rerankers: list[Name] = Field(
        default=["maxsim"],
        min_length=1,
        max_length=20,
        description="Rerankers from choices.rerankers in GET /api/v2/me; used if use_reranker is "
        "true",
    )
    context: list[Name | None] = Field(
        default=[None],
        min_length=1,
        max_length=20,
        description="Chat models that write a context of each chunk, from choices.contexts in "
        "GET /api/v2/me; null means no context",
    )
    top_k_values: list[Depth] | None = Field(
        default=None, min_length=1, max_length=50, description="null is the top_k of the benchmark"
    )
    rrf_k_values: list[Depth] | None = Field(
        default=None,
        min_length=1,
        max_length=50,
        description="Constants of reciprocal rank fusion; null is 60 where fusion has rrf",
    )
    score_thresholds: list[Threshold | None] = Field(default=[None], min_length=1, max_length=50)
    fusion: list[Fusion] | None = Field(
        default=None,
        min_length=1,
        max_length=2,
        description="For mode hybrid; null is rrf if there are rrf_k_values, else min-max",
    )
    dense_weight: list[Threshold | None] = Field(
        default=[None], min_length=1, max_length=50, description="For mode hybrid; null: default"
    )
    k1: list[Saturation | None] = Field(
        default=[None], min_length=1, max_length=50, description="BM25; null is the default"
    )
    b: list[Threshold | None] = Field(
        default=[None], min_length=1, max_length=50, description="BM25; null is the default"
    )
    code_ranking: list[bool | None] = Field(default=[None], min_length=1, max_length=3)
    rerank_depth: list[Depth | None] = Field(
        default=[None],
        min_length=1,
        max_length=50,
        description="Number of hits that a reranker scores",
    )
    primary_k: Depth = 10
    k_values_for_metrics: list[Depth] = Field(default=[1, 5, 10], min_length=1, max_length=20)

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "search_modes": ["dense", "hybrid"],
                    "use_reranker": [False],
                    "top_k_values": [10],
                    "rrf_k_values": [60],
                }
            ]
        }
    )


class BenchmarkCreate(Request):
    """A benchmark to create; it runs when it is started."""

    name: Name = Field(examples=["Dense against hybrid"])
    description: Description = ""
    mapping_id: UUID
    config_matrix: ConfigMatrix
    top_k: Depth = 10
    metrics_to_compute: list[Measure] = Field(
        default=["precision", "recall", "mrr", "ndcg", "ap"], min_length=1, max_length=50
    )
    timing: TimedQueries = Field(
        default="sample",
        description="Queries whose latency is measured: none, a sample of 20, or all",
    )
    judge_labels: JudgeLabels = Field(
        default="exclude",
        description="Labels of models in the dataset: ignored, used for hits that nobody judged, "
        "or used alone",
    )


class AnnotationCreate(Request):
    """A remark to add to a benchmark."""

    text: Wide = Field(min_length=1)


class Annotation(Answer):
    """A remark on a benchmark, shown where results are shown over time."""

    id: int
    text: str
    owner_id: str
    created_at: datetime


class BestRun(Answer):
    """The run with the highest mean of the primary metric; the verdict says whether it is better.

    *mean* is by the judgments that were there when the run was scored.
    """

    run_id: str
    name: str
    metric: str
    mean: float


class Benchmark(Answer):
    """A benchmark with its status; *operation_uuid* names the operation of its last start.

    *commit* is the revision searched, null before that and for documents outside a repository.
    *warning* is a sentence about more than 25 runs, else null. A run counts in *completed_runs* as
    soon as all its queries are scored; its latency may be measured after that. *best_run* is null
    before the first one. *error_message* is why it has failed. *queue_position* counts from 1 while
    it is queued, else it is null. While *is_stopping*, a worker has not yet noticed the
    cancellation, and it cannot be continued.
    """

    id: Id
    name: str
    description: str
    owner_id: str
    mapping_id: Id
    dataset_id: Id
    dataset_name: str
    collection_id: Id
    collection_name: str
    status: BenchmarkStatus
    error_message: str | None
    queue_position: int | None
    is_stopping: bool
    total_runs: int
    completed_runs: int
    failed_runs: int
    best_run: BestRun | None
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    operation_uuid: Id | None
    commit: Commit | None
    config_matrix: ConfigMatrix
    timing: TimedQueries
    judge_labels: JudgeLabels
    warning: str | None
    annotations: list[Annotation]

    @property
    def ended(self) -> bool:
        """Return whether the work has ended."""
        return self.status in ENDED


class Benchmarks(Listing):
    """A page of benchmarks, the newest first."""

    benchmarks: list[Benchmark]


class BenchmarkStart(Answer):
    """The status after a request to start or to cancel."""

    id: Id
    status: BenchmarkStatus
    operation_uuid: Id | None
    message: str


class Example(Answer):
    """The example benchmark; its documents are indexed before it runs."""

    collection_id: Id
    dataset_id: Id
    mapping_id: Id
    benchmark_id: Id
    status: Literal["indexing"] | BenchmarkStatus


class RunConfig(Answer):
    """One configuration of a mode or an engine; unused parameters are null."""

    search_mode: Mode | None
    engine: str | None
    use_reranker: bool
    top_k: int
    rrf_k: int | None
    score_threshold: float | None
    fusion: Fusion | None = None
    dense_weight: float | None = None
    k1: float | None = None
    b: float | None = None
    code_ranking: bool | None = None
    rerank_depth: int | None = None
    model: str | None = None
    reranker: str | None = None
    context: str | None = None


class PreviewRequest(Request):
    """A matrix whose runs are listed before anything is created.

    With *mapping_id* they are those on its collection, by its chunks and its model.
    """

    config_matrix: ConfigMatrix
    top_k: Depth = 10
    mapping_id: UUID | None = None


class PreviewRun(Answer):
    """A run of the matrix."""

    name: str
    config: RunConfig


class SharedWork(Answer):
    """Work that the runs share: the number of *retrievals* and of *indexes*."""

    retrievals: int
    indexes: int
    words: str


class Preview(Answer):
    """The exact runs of a matrix; more than 50 are rejected, above 25 there is a warning."""

    total_runs: int
    runs: list[PreviewRun]
    shared: SharedWork
    warning: str | None
