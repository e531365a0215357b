"""However the work on a job ends, the job ends in order, or somebody else continues it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from uuid import uuid4

import pytest

from karat.errors import InputError, KaratError, UnknownName
from karat.extensions.service.jobs import job as job_module
from karat.extensions.service.jobs.job import JobContext, perform
from karat.extensions.service.settings import ServiceSettings
from karat.extensions.service.store import Job, JobKind, JobStatus, ServiceStore

WORKER = "far:1"

TakeOver = Callable[[str], Job]


@dataclass
class Fake:
    """A handler that does what it is told, and remembers how it ended."""

    do: Callable[[JobContext], None] = lambda _: None
    ends: list[tuple[JobStatus, str]] = field(default_factory=list)

    def run(self, work: JobContext) -> None:
        self.do(work)

    def ended(self, work: JobContext, status: JobStatus, error: str) -> None:
        self.ends.append((status, error))
        work.add_event("collection_progress", {"status": status.value})


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_module, "CHECK_S", 0.005)


@pytest.fixture
def job(store: ServiceStore) -> Job:
    store.jobs.add(JobKind.INDEX, str(uuid4()), owner="ann")
    claimed = store.jobs.claim(WORKER)
    assert claimed
    return claimed


def until_stopped(work: JobContext) -> None:
    waiting = Event()
    while not work.stopped():
        waiting.wait(0.005)


@dataclass
class Doing:
    store: ServiceStore
    settings: ServiceSettings

    def __call__(self, job: Job, handler: Fake, *, stopping: bool = False) -> Job:
        asked = Event()
        if stopping:
            asked.set()
        perform(
            job,
            WORKER,
            store=self.store,
            settings=self.settings,
            handlers={JobKind.INDEX: handler},
            stopping=asked,
        )
        return self.store.jobs.get(job.id)


@pytest.fixture
def doing(store: ServiceStore, settings: ServiceSettings) -> Doing:
    return Doing(store, settings)


def test_done(doing: Doing, job: Job) -> None:
    handler = Fake()
    assert doing(job, handler).status == JobStatus.COMPLETED
    assert handler.ends == [(JobStatus.COMPLETED, "")]
    (event,) = doing.store.events.after(0)
    assert (event.operation, event.subject) == (job.id, job.subject)


def test_it_cannot_be_done(doing: Doing, job: Job) -> None:
    def refuse(_: JobContext) -> None:
        raise InputError("no such folder")

    handler = Fake(refuse)
    ended = doing(job, handler)
    assert (ended.status, ended.error) == (JobStatus.FAILED, "no such folder")
    assert handler.ends == [(JobStatus.FAILED, "no such folder")]


@pytest.mark.parametrize("broken", [RuntimeError, KaratError])
def test_it_breaks(doing: Doing, job: Job, broken: type[Exception]) -> None:
    def crash(_: JobContext) -> None:
        raise broken("secret detail")

    ended = doing(job, Fake(crash))
    assert ended.status == JobStatus.FAILED
    assert "secret" not in ended.error


def test_it_is_cancelled(doing: Doing, store: ServiceStore, benchmark: str) -> None:
    started = store.benchmarks.start(benchmark)
    claimed = store.jobs.claim(WORKER)
    assert claimed

    def cancel(work: JobContext) -> None:
        store.benchmarks.cancel(benchmark)
        until_stopped(work)

    handler = Fake(cancel)
    perform(
        claimed,
        WORKER,
        store=store,
        settings=doing.settings,
        handlers={JobKind.BENCHMARK: handler},
        stopping=Event(),
    )
    assert started.operation
    assert store.jobs.get(started.operation).status == JobStatus.CANCELLED
    assert handler.ends == [(JobStatus.CANCELLED, "")]


def test_it_was_cancelled_before_anybody_came_back_to_it(
    doing: Doing, store: ServiceStore, benchmark: str, take_over: TakeOver
) -> None:
    store.benchmarks.start(benchmark)
    assert store.jobs.claim("far:0")
    store.benchmarks.cancel(benchmark)
    claimed = take_over(WORKER)
    handler = Fake(lambda _: pytest.fail("nobody wants it any more"))
    perform(
        claimed,
        WORKER,
        store=store,
        settings=doing.settings,
        handlers={JobKind.BENCHMARK: handler},
        stopping=Event(),
    )
    assert store.jobs.get(claimed.id).status == JobStatus.CANCELLED


def test_its_worker_must_stop(doing: Doing, job: Job) -> None:
    handler = Fake(until_stopped)
    left = doing(job, handler, stopping=True)
    assert (left.status, left.worker, handler.ends) == (JobStatus.QUEUED, None, [])


def test_somebody_else_has_it(doing: Doing, job: Job, take_over: TakeOver) -> None:
    def lose(work: JobContext) -> None:
        take_over("far:2")
        until_stopped(work)

    handler = Fake(lose)
    left = doing(job, handler)
    assert (left.status, left.worker, handler.ends) == (JobStatus.RUNNING, "far:2", [])


def test_it_kills_whoever_takes_it(doing: Doing, job: Job, take_over: TakeOver) -> None:
    for _ in range(job_module.MOST_ATTEMPTS):
        taken = take_over(WORKER)
    handler = Fake(lambda _: pytest.fail("it was to be given up"))
    ended = doing(taken, handler)
    assert ended.status is JobStatus.FAILED
    assert ended.error.startswith("3 workers died while running it, usually out of memory; use a ")
    assert handler.ends == [(JobStatus.FAILED, ended.error)]


def test_progress_is_told(doing: Doing, store: ServiceStore, job: Job, take_over: TakeOver) -> None:
    taken = take_over(WORKER)
    assert taken.attempts == 2
    waiting = Event()

    def work_on(work: JobContext) -> None:
        work.progressed()
        while store.jobs.get(job.id).attempts > 1:
            waiting.wait(0.005)

    assert doing(taken, Fake(work_on)).status == JobStatus.COMPLETED


def test_its_subject_is_gone(doing: Doing, job: Job) -> None:
    class Gone(Fake):
        def ended(self, work: JobContext, status: JobStatus, error: str) -> None:
            raise UnknownName("no collection")

    assert doing(job, Gone()).status == JobStatus.COMPLETED
