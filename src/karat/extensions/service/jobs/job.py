"""Run a job, and learn once a second whether to stop.

A cancelled job stays cancelled. If the worker must stop, it hands the job back, and the next worker
continues it. If another worker has taken the job over, this one leaves it alone. A job on which
workers die repeatedly fails.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from threading import Event, Thread
from typing import Protocol

from karat.errors import (
    EngineError,
    InputError,
    KaratError,
    MissingExtra,
    StoreUnavailable,
    UnknownName,
)
from karat.experiments.store.database import log_retry
from karat.extensions.service.progress import OPERATION_EVENT, job_progress
from karat.extensions.service.settings import FULL_DISK, ServiceSettings
from karat.extensions.service.store import Job, JobStatus, ServiceStore
from karat.registry import Registry
from karat.system.files import is_disk_full

logger = logging.getLogger("karat.jobs")

CHECK_S = 1.0
MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class JobContext:
    """A job with the store, the settings and the callbacks to run it.

    *stopped* is called between steps; once it is true, the work ends. *progressed* is called after
    each result that need not be computed again.
    """

    job: Job
    store: ServiceStore
    settings: ServiceSettings
    stopped: Callable[[], bool]
    progressed: Callable[[], None]

    def add_event(self, kind: str, data: Mapping[str, object]) -> None:
        """Send an event to the subscribers of this job."""
        self.store.events.add(self.job.id, self.job.subject, kind, data)

    def report(
        self,
        status: str,
        stage: str,
        *,
        done: int = 0,
        total: int = 0,
        error: str = "",
        event: str = OPERATION_EVENT,
    ) -> None:
        """Report how far the job is to its subscribers; *status* is one of JobStatus."""
        subject = self.job.subject
        self.add_event(
            event, job_progress(subject, status, stage, done=done, total=total, error=error)
        )


class JobHandler(Protocol):
    """Runs one kind of job. A second or partial run must lead to the same result as one run."""

    def run(self, work: JobContext) -> None:
        """Do the work, or the rest of it; raise a KaratError where that is not possible."""
        ...

    def ended(self, work: JobContext, status: JobStatus, error: str) -> None:
        """Store how the work ended, unless it is stored already, and report it."""
        ...


JobHandlers = Mapping[str, JobHandler]
# Classes of handlers by the kind of job, which extensions add as the service itself does.
JOB_KINDS: Registry[Callable[[], JobHandler]] = Registry("job", {})


def load_handlers() -> JobHandlers:
    """Return the handlers of all kinds; without one that cannot be loaded, other jobs still run."""
    handlers = {}
    for kind in JOB_KINDS:
        try:
            handlers[kind] = JOB_KINDS.get(kind)()
        except Exception:
            if kind in JOB_KINDS.built_in():
                raise
            logger.exception("jobs of a kind cannot be run here", extra={"kind": kind})
    return handlers


@dataclass(slots=True)
class _JobState:
    """The state of a running job; the checking thread writes it."""

    progress: bool = False
    cancelled: bool = False
    lost: bool = False


def perform(
    job: Job,
    worker: str,
    *,
    store: ServiceStore,
    settings: ServiceSettings,
    handlers: JobHandlers,
    stopping: Event,
) -> None:
    """Run *job*, which *worker* has claimed; *stopping* makes it hand the job back."""
    standing = _JobState(cancelled=job.cancel)

    def stopped() -> bool:
        return standing.cancelled or standing.lost or stopping.is_set()

    def progressed() -> None:
        standing.progress = True

    handler = handlers[job.kind]
    work = JobContext(job, store, settings, stopped, progressed)
    status, error = JobStatus.COMPLETED, ""
    with _checked(job, worker, store, standing):
        if job.attempts > MOST_ATTEMPTS:
            status, error = (
                JobStatus.FAILED,
                f"{MOST_ATTEMPTS} workers died while running it, usually out of memory; use a "
                "smaller model or a machine with more memory, then start it again",
            )
        elif not stopped():
            status, error = _outcome(handler, work)
        if standing.lost:
            logger.warning("job was taken over", extra={"job": job.id})
        elif standing.cancelled:
            _end(work, handler, worker, JobStatus.CANCELLED, "")
        elif stopping.is_set() and status is JobStatus.COMPLETED:
            # The next worker finds out whether anything is left to do.
            store.jobs.hand_back(job.id, worker)
        else:
            _end(work, handler, worker, status, error)


def _outcome(handler: JobHandler, work: JobContext) -> tuple[JobStatus, str]:
    try:
        handler.run(work)
    except StoreUnavailable:
        # The job stays claimed; a worker continues it when the database answers again.
        raise
    except (InputError, EngineError, MissingExtra) as error:
        known = work.settings.without_locations(str(error))
        return JobStatus.FAILED, FULL_DISK if is_disk_full(error) else known
    except Exception as error:  # Including those of a database, whose text has its address.
        logger.exception("job failed unexpectedly", extra={"job": work.job.id})
        internal = "an internal error ended this job; see the log of the service"
        return JobStatus.FAILED, FULL_DISK if is_disk_full(error) else internal
    return JobStatus.COMPLETED, ""


def _end(work: JobContext, handler: JobHandler, worker: str, status: JobStatus, error: str) -> None:
    # The subject first: killed in between, the job is claimed once more and ends the same way.
    with suppress(UnknownName):  # The subject may have been deleted meanwhile.
        handler.ended(work, status, error)
    work.store.jobs.end(work.job.id, worker, status, error=error)


@contextmanager
def _checked(job: Job, worker: str, store: ServiceStore, standing: _JobState) -> Iterator[None]:
    """Learn once a second whether the job is cancelled or lost; the lease ends with the block."""
    ended = Event()

    def check() -> None:
        while not ended.wait(CHECK_S) and not standing.lost:
            progress, standing.progress = standing.progress, False
            try:
                mine, cancel = store.jobs.check(job.id, worker, progress=progress)
            except KaratError as error:
                log_retry(logger, "job cannot be checked", error, job=job.id)
                continue
            standing.lost = not mine
            standing.cancelled |= cancel

    # Its log lines get the correlation id of the same request.
    thread = Thread(target=copy_context().run, args=(check,), name="check", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        store.leases.drop(worker, job.id)
