"""A job is done: its worker says again and again that it lives, and learns when to stop.

Whatever ends the work, the job ends in order. One that was cancelled stays cancelled. One whose
worker must stop is handed back, and the next worker continues it. One that a faster worker has
taken is left to that. And one on which workers die, again and again, is given up.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from threading import Event, Thread
from typing import Protocol

from karat.errors import EngineError, InputError, KaratError, MissingExtra, UnknownName
from karat.installation import without_checkout
from karat.service.settings import ServiceSettings
from karat.service.store import Job, JobStatus, ServiceStore

__all__ = ["Handler", "Handlers", "JobContext", "perform"]

logger = logging.getLogger("karat.jobs")

BEAT_S = 1.0
MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class JobContext:
    """A job to be done, and all that it takes.

    *stopped* is asked between steps; once it is true, the work ends where it is. *progressed* is
    called when something was done that need not be done again.
    """

    job: Job
    store: ServiceStore
    settings: ServiceSettings
    stopped: Callable[[], bool]
    progressed: Callable[[], None]

    def tell(self, kind: str, data: Mapping[str, object]) -> None:
        """Tell everybody who follows this job."""
        self.store.events.add(self.job.id, self.job.subject, kind, data)


class Handler(Protocol):
    """Does one kind of job. Done twice, also in part, it leaves what it would have left once."""

    def run(self, work: JobContext) -> None:
        """Do the work, or the rest of it; a KaratError says why it cannot be done."""
        ...

    def ended(self, work: JobContext, status: JobStatus, error: str) -> None:
        """Write down how the work ended, unless that is known, and tell it."""
        ...


Handlers = Mapping[str, Handler]


@dataclass(slots=True)
class _Standing:
    """What is known of the job while it is done; the thread that beats writes it."""

    progress: bool = False
    cancelled: bool = False
    lost: bool = False


def perform(
    job: Job,
    worker: str,
    *,
    store: ServiceStore,
    settings: ServiceSettings,
    handlers: Handlers,
    stopping: Event,
) -> None:
    """Do *job*, which *worker* has claimed; *stopping* asks it to hand the job back."""
    standing = _Standing(cancelled=job.cancel)

    def stopped() -> bool:
        return standing.cancelled or standing.lost or stopping.is_set()

    def progressed() -> None:
        standing.progress = True

    handler = handlers[job.kind]
    work = JobContext(job, store, settings, stopped, progressed)
    status, error = JobStatus.COMPLETED, ""
    with _beating(job, worker, store, standing):
        if job.attempts > MOST_ATTEMPTS:
            status, error = JobStatus.FAILED, f"given up: {MOST_ATTEMPTS} workers died on it"
        elif not stopped():
            status, error = _outcome(handler, work)
        if standing.lost:
            logger.warning("job was taken over", extra={"job": job.id})
        elif standing.cancelled:
            _end(work, handler, worker, JobStatus.CANCELLED, "")
        elif stopping.is_set() and status is JobStatus.COMPLETED:
            # Whether anything was left undone finds out who takes it next.
            store.jobs.hand_back(job.id, worker)
        else:
            _end(work, handler, worker, status, error)


def _outcome(handler: Handler, work: JobContext) -> tuple[JobStatus, str]:
    try:
        handler.run(work)
    except (InputError, EngineError, MissingExtra) as error:
        return JobStatus.FAILED, without_checkout(str(error))
    except Exception:  # Also what says how a database failed, and where it is.
        logger.exception("job broke", extra={"job": work.job.id})
        return JobStatus.FAILED, "the service broke while it worked on this; its log knows why"
    return JobStatus.COMPLETED, ""


def _end(work: JobContext, handler: Handler, worker: str, status: JobStatus, error: str) -> None:
    # The subject first: killed in between, the job is claimed once more and ends the same way.
    with suppress(UnknownName):  # It may have been deleted meanwhile.
        handler.ended(work, status, error)
    work.store.jobs.end(work.job.id, worker, status, error=error)


@contextmanager
def _beating(job: Job, worker: str, store: ServiceStore, standing: _Standing) -> Iterator[None]:
    """Say once a second that the worker lives, and hear whether it is to go on."""
    ended = Event()

    def beat() -> None:
        while not ended.wait(BEAT_S) and not standing.lost:
            progress, standing.progress = standing.progress, False
            try:
                mine, cancel = store.jobs.beat(job.id, worker, progress=progress)
            except KaratError:
                # The lease outlasts a database that does not answer for a moment.
                logger.exception("no beat", extra={"job": job.id})
                continue
            standing.lost = not mine
            standing.cancelled |= cancel

    # What it logs belongs to the same request.
    thread = Thread(target=copy_context().run, args=(beat,), name="beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
