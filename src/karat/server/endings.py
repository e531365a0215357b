"""Nobody waits for an end that has been: a stream that lost its last event is given another one.

Events are kept for a while only, and a service may be killed just before it tells one.
"""

from dataclasses import replace

from karat.server import index_job, resolve_job
from karat.server.benchmark_progress import EVENT, standing
from karat.server.hub import ENDS, Followed, is_end
from karat.server.schemas.events import JobProgress
from karat.store.service import Benchmark, Job, JobKind, ServiceStore

__all__ = ["tell_end", "tell_outcome"]

EVENTS = {JobKind.INDEX: index_job.EVENT, JobKind.RESOLVE: resolve_job.EVENT}


def tell_end(store: ServiceStore, followed: Followed) -> None:
    """Tell that *followed* has ended, if it has and its stream does not say so.

    UnknownName where what it was about is there no more.
    """
    newest = store.events.newest(operation=followed.operation, subject=followed.subject)
    if newest is not None and is_end(newest):
        return
    if followed.operation is not None:
        job = store.jobs.get(followed.operation)
        if job.status.ended:
            _tell_job(store, job)
    elif followed.subject is not None:
        benchmark = store.benchmarks.get(followed.subject)
        # The worker tells the end before its job has ended.
        working = benchmark.operation and not store.jobs.get(benchmark.operation).status.ended
        if benchmark.status in ENDS and not working:
            tell_outcome(store, benchmark)


def tell_outcome(store: ServiceStore, benchmark: Benchmark) -> None:
    """Tell how *benchmark* has ended; one that was never started is its own operation."""
    data = standing(benchmark, benchmark.status)
    store.events.add(benchmark.operation or benchmark.id, benchmark.id, EVENT, data)


def _tell_job(store: ServiceStore, job: Job) -> None:
    status = job.status.value
    if job.kind is JobKind.BENCHMARK:
        benchmark = store.benchmarks.get(job.subject)
        if benchmark.operation != job.id or benchmark.status not in ENDS:
            # Started once more since, it stands elsewhere now.
            benchmark = replace(benchmark, operation=job.id, status=status)
        tell_outcome(store, benchmark)
        return
    data = JobProgress(
        subject_id=job.subject,
        status=status,
        stage=status,
        done=0,
        total=0,
        error_message=job.error or None,
    )
    store.events.add(job.id, job.subject, EVENTS[job.kind], data.model_dump(mode="json"))
