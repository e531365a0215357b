"""Events of the progress of jobs, as they are sent."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from karat.service.api.schemas.base import (
    Answer,
)
from karat.service.api.schemas.benchmarks import BenchmarkStatus, RunConfig, TimingStatus
from karat.service.api.schemas.results import Metrics, Timing

__all__ = ["BenchmarkProgress", "Event", "JobProgress"]


class RunningProcess(Answer):
    """Another process of Karat on the machine: the command that it runs, and since when."""

    pid: int
    command: str
    since: datetime


class CurrentRun(Answer):
    """The run in progress.

    ``waiting`` lasts until no other karat run is active on the machine, so that latency is not
    distorted; *waiting_for* lists these runs, as far as they are known.
    """

    run_id: str
    run_order: int
    config: RunConfig
    config_summary: str
    total_queries: int
    completed_queries: int
    stage: Literal["pending", "waiting", "indexing", "evaluating", "timing"]
    waiting_for: list[RunningProcess]


class CompletedRun(Answer):
    """The run that was scored last, or whose latency was measured last, with its scores."""

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
    timing_status: TimingStatus


class BenchmarkProgress(Answer):
    """The progress of a benchmark; *stage* is that of its current run, or the end of the last one.

    ``comparing`` comes when all runs have their scores, before latency is measured; ``explaining``
    comes after that, while loss reasons are computed.
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
    """The progress of indexing a collection, or of resolving a mapping."""

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
