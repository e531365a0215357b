"""A process that does jobs, one after the other, for as long as the service that started it lives.

It is given its settings as one line of JSON on its standard input, which shows no secret to
others. When that input ends, because the service stops or was killed, it hands its job back and
ends too.
"""

import json
import logging
import sys
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TextIO

from karat.errors import KaratError
from karat.experiments.store.environment import this_worker
from karat.model.spec import Spec
from karat.service.jobs.benchmark import BenchmarkJob
from karat.service.jobs.collection import IndexJob, ResolveJob
from karat.service.jobs.job import Handlers, perform
from karat.service.observability.correlation import correlated
from karat.service.observability.logs import start_log
from karat.service.observability.tracing import span, start_tracing
from karat.service.settings import ServiceSettings
from karat.service.store import JobKind, ServiceStore

__all__ = ["HANDLERS", "as_line", "main", "work_on"]

HANDLERS: Handlers = {
    JobKind.BENCHMARK: BenchmarkJob(),
    JobKind.INDEX: IndexJob(),
    JobKind.RESOLVE: ResolveJob(),
}


logger = logging.getLogger("karat.worker")

IDLE_S = 0.2
TIDY_S = 60.0
# So long may it take to unpack what was uploaded.
MAKING = timedelta(minutes=10)


def as_line(settings: ServiceSettings) -> str:
    """Return of *settings* what a worker needs, as :func:`main` reads it."""
    needed = {
        "store": settings.store,
        "data": str(settings.data),
        "roots": [str(root) for root in settings.roots],
        "engines": {name: asdict(spec) for name, spec in settings.engines.items()},
    }
    return json.dumps(needed) + "\n"


def main(source: TextIO = sys.stdin) -> None:
    """Do jobs until *source*, of which the first line holds the settings, comes to its end."""
    start_log()
    start_tracing()
    given = json.loads(source.readline())
    settings = ServiceSettings(
        store=given["store"],
        data=Path(given["data"]),
        roots=tuple(map(Path, given["roots"])),
        engines={name: Spec(**spec) for name, spec in given["engines"].items()},
    )
    stopping = Event()

    def watch() -> None:
        source.read()
        stopping.set()

    Thread(target=watch, name="watch", daemon=True).start()
    with ServiceStore(settings.store) as store:
        work_on(store, settings, stopping=stopping)


def work_on(store: ServiceStore, settings: ServiceSettings, *, stopping: Event) -> None:
    """Claim and do jobs until *stopping*."""
    worker, tidied = this_worker(), -TIDY_S
    while not stopping.is_set():
        try:
            job = store.jobs.claim(worker)
            if job is None:
                if monotonic() - tidied > TIDY_S:
                    store.collections.give_up(MAKING)
                    tidied = monotonic()
                stopping.wait(IDLE_S)
                continue
            with (
                correlated(job.correlation or ""),
                span(job.kind.value, job=job.id, subject=job.subject, attempt=job.attempts),
            ):
                logger.info("job begun", extra={"job": job.id, "kind": job.kind.value})
                perform(
                    job,
                    worker,
                    store=store,
                    settings=settings,
                    handlers=HANDLERS,
                    stopping=stopping,
                )
                status = store.jobs.get(job.id).status
                logger.info("job left", extra={"job": job.id, "status": status})
        except KaratError:
            # The database may come back; the job is claimed again when its lease has ended.
            logger.exception("no job could be done")
            stopping.wait(IDLE_S * 10)


if __name__ == "__main__":
    main()
