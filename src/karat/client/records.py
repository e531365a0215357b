"""Answers of the service as records; unknown fields of a newer service are ignored."""

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

__all__ = [
    "Benchmark",
    "BenchmarkStart",
    "Collection",
    "Dataset",
    "Engine",
    "Event",
    "Mapping",
    "MappingResolution",
    "QueryResult",
    "Results",
    "RunResult",
    "record",
]

Record = TypeVar("Record")
Json = AnyMapping[str, Any]


def record(kind: type[Record], answer: Json) -> Record:
    """Return *answer* as a record of *kind*; an older service may lack a field with a default.

    >>> answer = {"id": "1", "status": "running", "message": "", "operation_uuid": None, "more": 1}
    >>> record(BenchmarkStart, answer).status
    'running'
    """
    known = [each.name for each in fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: answer[name] for name in known if name in answer})


@dataclass(frozen=True, slots=True)
class Dataset:
    """A gold set that the service holds."""

    id: str
    name: str
    description: str
    owner_id: str
    query_count: int
    schema_version: str
    version: int
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents that the service searches."""

    id: str
    name: str
    description: str
    owner_id: str
    source: Json
    status: str
    error_message: str | None
    chunker: str
    dense: Json
    sparse: Json
    document_count: int
    chunk_count: int
    snapshot: str | None
    created_at: str
    updated_at: str
    operation_uuid: str | None


@dataclass(frozen=True, slots=True)
class Engine:
    """A search that the service offers, by the name that a matrix has for it."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dataset on a collection."""

    id: str
    dataset_id: str
    collection_id: str
    mapping_status: str
    mapped_count: int
    total_count: int
    created_at: str
    resolved_at: str | None


@dataclass(frozen=True, slots=True)
class MappingResolution:
    """The result of resolving; *operation_uuid* is that of the job, if a job does it."""

    id: str
    operation_uuid: str | None
    mapping_status: str
    mapped_count: int
    total_count: int
    unresolved: list[Json]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A matrix of configurations over a mapping; *commit* is the one that was searched.

    *timing* is of which queries the latency is measured: ``none``, ``sample`` or ``all``;
    *judge_labels* whether labels of models count: ``exclude``, ``include`` or ``only``.
    """

    id: str
    name: str
    description: str
    owner_id: str
    mapping_id: str
    status: str
    total_runs: int
    completed_runs: int
    failed_runs: int
    created_at: str
    started_at: str | None
    completed_at: str | None
    operation_uuid: str | None
    commit: Json | None
    timing: str
    judge_labels: str

    @property
    def ended(self) -> bool:
        """Return whether the work has ended."""
        return self.status in {"completed", "failed", "cancelled"}


@dataclass(frozen=True, slots=True)
class BenchmarkStart:
    """The outcome of a request to start or to cancel."""

    id: str
    status: str
    operation_uuid: str | None
    message: str


@dataclass(frozen=True, slots=True)
class RunResult:
    """One run of a benchmark with its scores and times.

    It is completed when all its queries are scored; *timing_status* says whether its latency is
    measured: ``none``, ``pending``, ``done``, ``failed`` or ``cancelled``.
    """

    id: str
    run_order: int
    name: str
    config: Json
    snapshot: str
    status: str
    error_message: str | None
    metrics: Json
    metrics_flat: AnyMapping[str, float | None]
    intervals: AnyMapping[str, list[float]]
    timing: Json
    timing_status: str
    latency: Json
    answered: int
    errors: int
    timeouts: int
    invalid: int
    fates: AnyMapping[str, int]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Results:
    """All runs of a benchmark; *labels* are the measures as they were typed."""

    benchmark_id: str
    status: str
    primary_k: int
    primary_metric: str
    k_values_for_metrics: list[int]
    query_count: int
    runs: tuple[RunResult, ...]
    summary: Json
    labels: AnyMapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, answer: Json) -> "Results":
        """Return *answer* with its runs as records."""
        return record(cls, {**answer, "runs": tuple(record(RunResult, r) for r in answer["runs"])})


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The result of one query in one run."""

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


@dataclass(frozen=True, slots=True)
class Event:
    """Progress of an operation; *id* is from where a stream continues."""

    id: int
    type: str
    timestamp: str
    data: Json
