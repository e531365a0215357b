"""Events: one stream of progress, sent as server-sent events and over the WebSocket alike."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from karat.server.schemas.base import Answer
from karat.server.schemas.benchmarks import BenchmarkStatus, RunConfig
from karat.server.schemas.results import Metrics, Timing

__all__ = ["BenchmarkProgress", "Event", "JobProgress"]


class CurrentRun(Answer):
    """The run that is worked on; ``waiting`` is until another measurement has ended."""

    run_id: str
    run_order: int
    config: RunConfig
    config_summary: str
    total_queries: int
    completed_queries: int
    stage: Literal["pending", "waiting", "indexing", "evaluating", "timing"]


class CompletedRun(Answer):
    """The run that has ended last, with its scores."""

    run_id: str
    run_order: int
    config: RunConfig
    config_summary: str
    total_queries: int
    completed_queries: int
    stage: Literal["completed", "failed", "cancelled"]
    metrics: Metrics | None
    metrics_flat: dict[str, float | None] | None
    timing: Timing | None


class BenchmarkProgress(Answer):
    """How far a benchmark is; *stage* is that of its current run, or how the last one has ended.

    ``explaining`` comes after all runs: it is found out why they have missed what they have.
    """

    benchmark_id: UUID
    status: BenchmarkStatus
    total_runs: int
    completed_runs: int
    failed_runs: int
    stage: str
    current_run: CurrentRun | None
    last_completed_run: CompletedRun | None


class JobProgress(Answer):
    """How far the indexing of a collection, or the resolving of a mapping, is."""

    subject_id: UUID
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    stage: str
    done: int
    total: int
    error_message: str | None


class Event(Answer):
    """One event; its sequence number is the ``id:`` of the server-sent event."""

    timestamp: datetime
    type: Literal["benchmark_progress", "collection_progress", "mapping_progress"]
    data: BenchmarkProgress | JobProgress
