"""The law of jobs: done by one worker at a time, and by the next one when that falls silent."""

# A suite of tests asserts, wherever it is kept.

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from karat.errors import Conflict, InputError, TooManyJobs, UnknownName
from karat.experiments.store.base import LEASE_S
from karat.extensions.service.store import Job, JobKind, JobStatus, ServiceStore
from karat.testing.store import ELSEWHERE
from tests.extensions.service.store.conftest import Clock, OpenService
from tests.lease_clock import LeaseClock

FAR = ("far:1", "far:2", "far:3")


def queue(service: ServiceStore, count: int, clock: Clock) -> list[str]:
    ids = []
    for _ in range(count):
        ids.append(service.jobs.add(JobKind.INDEX, str(uuid4()), owner="ann").id)
        clock.forward(1)
    return ids


def test_the_oldest_first_and_each_once(service: ServiceStore, clock: Clock) -> None:
    """Each worker has a job of its own, with a lease."""
    ids = queue(service, 3, clock)
    taken = [service.jobs.claim(worker) for worker in (*FAR, ELSEWHERE)]
    assert [job and job.id for job in taken] == [*ids, None]
    first = taken[0]
    assert first
    assert (first.status, first.worker, first.attempts) == (JobStatus.RUNNING, FAR[0], 1)


def test_it_knows_the_request_that_began_it(service: ServiceStore) -> None:
    """By its correlation id."""
    asked = service.jobs.add(JobKind.INDEX, "x", owner="ann", correlation="request-1")
    assert asked.correlation == "request-1"
    assert service.jobs.add(JobKind.INDEX, "y", owner="ann").correlation is None


def outlived(service: ServiceStore, worker: str, lease_clock: LeaseClock) -> Job:
    """Return the job that *worker* takes over from a silent one, after a lease."""
    for _ in range(int(LEASE_S) + 2):
        lease_clock.forward(1)
        if job := service.jobs.claim(worker):
            return job
    pytest.fail("the lease never ended")


def test_who_sends_heartbeats_keeps_the_job(
    service: ServiceStore, clock: Clock, lease_clock: LeaseClock
) -> None:
    """For as long as they come; the time of day does not matter."""
    (job,) = queue(service, 1, clock)
    assert service.jobs.claim(FAR[0])
    for _ in range(int(LEASE_S)):
        clock.forward(3600)
        lease_clock.forward(2)
        assert service.jobs.check(job, FAR[0]) == (True, False)
        assert service.jobs.claim(FAR[1]) is None
        service.leases.heartbeat()


def test_who_is_silent_loses_it(
    service: ServiceStore, clock: Clock, lease_clock: LeaseClock
) -> None:
    """To the next worker; later writes of the first one have no effect."""
    (job,) = queue(service, 1, clock)
    service.jobs.claim(FAR[0])
    taken = outlived(service, FAR[1], lease_clock)
    assert (taken.worker, taken.attempts) == (FAR[1], 2)
    service.leases.heartbeat()
    assert service.jobs.check(job, FAR[0], progress=True).mine is False
    assert service.jobs.get(job).attempts == 2
    assert not service.jobs.end(job, FAR[0], JobStatus.FAILED, error="late")
    service.jobs.hand_back(job, FAR[0])
    assert service.jobs.get(job).worker == FAR[1]
    assert service.jobs.end(job, FAR[1], JobStatus.COMPLETED)
    assert not service.jobs.end(job, FAR[1], JobStatus.FAILED)
    assert service.jobs.get(job).status == JobStatus.COMPLETED


def test_who_lets_go_loses_it_at_once(
    service: ServiceStore, clock: Clock, lease_clock: LeaseClock, open_service: OpenService
) -> None:
    """Without waiting for the lease to end."""
    (job,) = queue(service, 1, clock)
    with open_service(clock) as other:
        assert other.jobs.claim(FAR[1])
        assert service.jobs.claim(FAR[0]) is None
    # Others are watched once a second.
    assert service.jobs.claim(FAR[0]) is None
    lease_clock.forward(1)
    taken = service.jobs.claim(FAR[0])
    assert taken
    assert taken.id == job


def test_who_has_given_up_may_take_it_again(service: ServiceStore, clock: Clock) -> None:
    """After an error of the database, for example, when the next look at others is due."""
    (job,) = queue(service, 1, clock)
    assert service.jobs.claim(FAR[0])
    assert service.jobs.claim(FAR[0]) is None
    service.leases.drop(FAR[0], job)
    queue(service, 1, clock)
    taken = service.jobs.claim(FAR[0])
    assert taken
    assert (taken.id, taken.attempts) == (job, 2)


def test_progress_forgives_attempts(
    service: ServiceStore, clock: Clock, lease_clock: LeaseClock
) -> None:
    """Only workers that die without any count."""
    (job,) = queue(service, 1, clock)
    service.jobs.claim(FAR[0])
    for worker in FAR[1:]:
        outlived(service, worker, lease_clock)
    assert service.jobs.get(job).attempts == 3
    service.jobs.check(job, FAR[-1], progress=True)
    assert service.jobs.get(job).attempts == 1


def test_who_must_stop_hands_it_back(service: ServiceStore, clock: Clock) -> None:
    """Which is no attempt."""
    (job,) = queue(service, 1, clock)
    service.jobs.claim(FAR[0])
    service.jobs.hand_back(job, FAR[0])
    assert service.jobs.get(job).status == JobStatus.QUEUED
    taken = service.jobs.claim(FAR[1])
    assert taken
    assert taken.attempts == 1


def test_a_subject_has_one_job_at_a_time(service: ServiceStore, collection: str) -> None:
    """And another one when that has ended."""
    job = service.jobs.add(JobKind.INDEX, collection, owner="ann")
    assert service.collections.get(collection).operation == job.id
    with pytest.raises(Conflict, match="the collection is being indexed"):
        service.jobs.add(JobKind.INDEX, collection, owner="ann")
    assert (service.jobs.active("ann"), service.jobs.active("bob")) == (1, 0)
    service.jobs.claim(FAR[0])
    assert service.jobs.active("ann") == 1
    service.jobs.end(job.id, FAR[0], JobStatus.FAILED, error="no folder\0")
    assert service.jobs.get(job.id).error == "no folder?"
    assert service.jobs.active("ann") == 0
    assert service.jobs.add(JobKind.INDEX, collection, owner="ann").id != job.id


def test_many_claim_at_once(service: ServiceStore, clock: Clock) -> None:
    """Each job is given once."""
    ids = queue(service, 12, clock)

    def claim(number: int) -> list[str]:
        # In PostgreSQL one that finds all rows locked comes again.
        taken = [service.jobs.claim(f"far:{number}") for _ in range(12)]
        return [job.id for job in taken if job]

    with ThreadPoolExecutor(4) as threads:
        first = [job for jobs in threads.map(claim, range(4)) for job in jobs]
    rest = iter(lambda: service.jobs.claim("far:9"), None)
    taken = [*first, *(job.id for job in rest)]
    assert sorted(taken) == sorted(ids)


def test_no_more_than_allowed(service: ServiceStore) -> None:
    """Also where all of them ask at once; those of others do not count."""

    def add(owner: str) -> bool:
        try:
            service.jobs.add(JobKind.INDEX, str(uuid4()), owner=owner, most=4)
        except TooManyJobs:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(add, ["ann"] * 16)) == 4
    assert service.jobs.active("ann") == 4
    job = service.jobs.claim(FAR[0])
    assert job
    assert not add("ann")
    service.jobs.end(job.id, FAR[0], JobStatus.COMPLETED)
    assert [add("ann"), add("ann"), add("bob")] == [True, False, True]


def test_what_is_refused(service: ServiceStore, clock: Clock) -> None:
    """An end that is none, and a job that nobody has."""
    (job,) = queue(service, 1, clock)
    with pytest.raises(InputError, match="a job cannot end as 'running'"):
        service.jobs.end(job, FAR[0], JobStatus.RUNNING)
    with pytest.raises(UnknownName, match="no operation x"):
        service.jobs.get("x")


def test_a_worker_takes_only_what_it_can_do(service: ServiceStore, collection: str) -> None:
    """A job of an extension waits until a worker has that extension."""
    subject = "0d5bd28f-1ff5-4b1c-9e80-1ff6f6a4f8a4"
    first = service.jobs.add("count", subject, owner="ann")
    second = service.jobs.add(JobKind.INDEX, collection, owner="ann")
    assert (first.kind, second.kind) == ("count", JobKind.INDEX)
    with pytest.raises(Conflict, match="the same is being done already"):
        service.jobs.add("count", subject, owner="ann")
    taken = service.jobs.claim("w", {"index", "resolve"})
    assert taken
    assert taken.id == second.id
    assert service.jobs.claim("w", {"index"}) is None
    late = service.jobs.claim("w", {"count"})
    assert late
    assert late.id == first.id
    service.jobs.end(first.id, "w", JobStatus.COMPLETED)
    assert service.jobs.add("count", subject, owner="ann").status is JobStatus.QUEUED
