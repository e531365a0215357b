"""Worker processes: each runs jobs one after the other, until the service that started it ends."""

import logging
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from time import monotonic

from karat.errors import KaratError, ProcessError, StoreUnavailable
from karat.experiments.store.database import log_retry
from karat.extensions.service.jobs.job import load_handlers, perform
from karat.extensions.service.logs import correlated, span, start_log, start_tracing
from karat.extensions.service.settings import ModelChoices, ServiceSettings
from karat.extensions.service.store import ServiceStore
from karat.model.spec import Spec
from karat.system.processes import ChildProcess, Message, ParentLink, encode

logger = logging.getLogger("karat.workers")

IDLE_S = 0.2
RETRY_S = 2.0
TIDY_S = 60.0
# An upload may take this long to unpack.
MAKING = timedelta(minutes=10)
POLL_S = 0.2
# A worker that dies sooner than this is not replaced at once.
SHORT_LIFE_S = 2.0
GRACE_S = 10.0


def settings_message(settings: ServiceSettings) -> Message:
    """Return the part of *settings* that a worker needs, as :func:`main` reads it."""
    return {
        "store": settings.store,
        "data": str(settings.data),
        "roots": [str(root) for root in settings.roots],
        "engines": {name: asdict(spec) for name, spec in settings.engines.items()},
        "choices": asdict(settings.choices),
    }


def main() -> None:
    """Read the settings, then run jobs until the parent closes the pipe."""
    start_log()
    start_tracing()
    link = ParentLink()
    message = link.receive()
    settings = ServiceSettings(
        store=message["store"],
        data=Path(message["data"]),
        roots=tuple(map(Path, message["roots"])),
        engines={name: Spec(**spec) for name, spec in message["engines"].items()},
        choices=ModelChoices(**message["choices"]),
    )
    stopping = Event()
    link.when_closed(stopping.set)
    if store := open_when_up(settings.store, stopping=stopping):
        with store:
            work_on(store, settings, stopping=stopping)


def open_when_up(location: str, *, stopping: Event) -> ServiceStore | None:
    """Return the store once its database answers, None where *stopping* was set before."""
    while not stopping.is_set():
        try:
            return ServiceStore(location)
        except StoreUnavailable as error:
            log_retry(logger, "the store cannot be opened", error)
            stopping.wait(RETRY_S)
    return None


def work_on(store: ServiceStore, settings: ServiceSettings, *, stopping: Event) -> None:
    """Claim and run jobs until *stopping*."""
    worker, tidied, handlers = store.leases.worker, -TIDY_S, load_handlers()
    while not stopping.is_set():
        try:
            job = store.jobs.claim(worker, handlers)
            if job is None:
                if monotonic() - tidied > TIDY_S:
                    store.collections.give_up(MAKING)
                    tidied = monotonic()
                stopping.wait(IDLE_S)
                continue
            with (
                correlated(job.correlation or ""),
                span(job.kind, job=job.id, subject=job.subject, attempt=job.attempts),
            ):
                logger.info("job started", extra={"job": job.id, "kind": job.kind})
                perform(
                    job,
                    worker,
                    store=store,
                    settings=settings,
                    handlers=handlers,
                    stopping=stopping,
                )
                ended = store.jobs.get(job.id)
                about = {"job": job.id, "status": ended.status}
                logger.info(
                    "job ended", extra=about | ({"reason": ended.error} if ended.error else {})
                )
        except KaratError as error:
            # The database may come back; the job is claimed again when its lease expires.
            log_retry(logger, "jobs cannot be claimed", error)
            stopping.wait(RETRY_S)


class WorkerPool:
    """The workers, which start and stop with the service; unfinished jobs are handed back."""

    def __init__(self, settings: ServiceSettings, *, count: int | None = None) -> None:
        """Plan *count* workers, by default the number in *settings*; none is started yet."""
        self._settings = encode(settings_message(settings))
        self._count = settings.workers if count is None else count
        self._children: list[ChildProcess] = []
        self._stopping = Event()
        self._monitor = Thread(target=self._replace_dead, name="workers", daemon=True)

    @property
    def pids(self) -> list[int]:
        """Return the process ids of the current workers."""
        return [child.pid for child in self._children]

    def start(self) -> None:
        """Start all workers and the thread that replaces dead ones."""
        self._children = [self._start_worker() for _ in range(self._count)]
        self._monitor.start()

    def stop(self) -> None:
        """Let all workers hand back their jobs; kill those that still run after the grace time."""
        self._stopping.set()
        self._monitor.join()
        for child in self._children:
            child.close_input()
        deadline = monotonic() + GRACE_S
        for child in self._children:
            child.close(grace_s=deadline - monotonic())

    def _start_worker(self) -> ChildProcess:
        # Its log goes to the standard error of the service.
        child = ChildProcess.python("karat.extensions.service.jobs.worker", capture_stderr=False)
        try:
            child.send(self._settings, monotonic() + GRACE_S)
        except (EOFError, TimeoutError):
            logger.warning("a new worker did not read its settings", extra={"pid": child.pid})
        return child

    def _replace_dead(self) -> None:
        started = [monotonic()] * self._count
        while not self._stopping.wait(POLL_S):
            for index, child in enumerate(self._children):
                age_s = monotonic() - started[index]
                code = child.exit_code()
                if code is None or age_s < SHORT_LIFE_S:
                    continue
                logger.error("a worker died", extra={"status": code})
                child.kill()
                try:
                    self._children[index] = self._start_worker()
                except ProcessError:
                    # Memory may be short; the worker may have died of that.
                    logger.exception("cannot start a replacement worker; retrying")
                started[index] = monotonic()


if __name__ == "__main__":
    main()
