"""Progress as the data of events: workers send it, streams and pages show it."""

from karat.extensions.service.schemas.results import (
    BenchmarkProgress,
    CompletedRun,
    CurrentRun,
    JobProgress,
)
from karat.extensions.service.store import Benchmark

BENCHMARK_EVENT = "benchmark_progress"
COLLECTION_EVENT = "collection_progress"
MAPPING_EVENT = "mapping_progress"
# Of jobs that extensions add.
OPERATION_EVENT = "operation_progress"


def standing(
    benchmark: Benchmark,
    stage: str,
    *,
    current: CurrentRun | None = None,
    last: CompletedRun | None = None,
) -> dict[str, object]:
    """Return the progress of *benchmark* as the data of an event."""
    data = BenchmarkProgress(
        benchmark_id=benchmark.id,
        status=benchmark.current_status,
        error_message=benchmark.error or None,
        total_runs=benchmark.total_runs,
        completed_runs=benchmark.completed_runs,
        failed_runs=benchmark.failed_runs,
        stage=stage,
        current_run=current,
        last_completed_run=last,
    )
    return data.model_dump(mode="json")


def job_progress(
    subject: str, status: str, stage: str, *, done: int = 0, total: int = 0, error: str = ""
) -> dict[str, object]:
    """Return the progress of another job on *subject* as the data of an event."""
    data = JobProgress(
        subject_id=subject,
        status=status,
        stage=stage,
        done=done,
        total=total,
        error_message=error or None,
    )
    return data.model_dump(mode="json")
