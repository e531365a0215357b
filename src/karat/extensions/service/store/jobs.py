"""Jobs with their leases, and the events that they report."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Table, delete, func, insert, select, text, update

from karat.errors import Conflict, InputError, TooManyJobs
from karat.experiments.store.database import Database
from karat.experiments.store.leases import Leases
from karat.experiments.store.schema import storable
from karat.extensions.service.store.records import (
    Job,
    JobKind,
    JobStatus,
    ServiceEvent,
    ServiceTable,
    new_id,
    owned,
    record,
)
from karat.extensions.service.store.schema import BENCHMARKS, COLLECTIONS, EVENTS, JOBS, MAPPINGS

# The tables of subjects; a job of an extension has a subject that only the extension knows.
SUBJECTS: Mapping[str, Table] = {
    JobKind.INDEX: COLLECTIONS,
    JobKind.RESOLVE: MAPPINGS,
    JobKind.BENCHMARK: BENCHMARKS,
}
BUSY: Mapping[str, str] = {
    JobKind.INDEX: "the collection is being indexed; try again when that has ended",
    JobKind.RESOLVE: "the references are being resolved; try again when that has ended",
    JobKind.BENCHMARK: "the benchmark is still stopping; try again in a few seconds",
}
ALSO_BUSY = "the same is being done already; try again when that has ended"
UNFINISHED = (JobStatus.QUEUED.value, JobStatus.RUNNING.value)
# With a second number, made of a name, it is the turn of one owner, or of one subject.
TURN_LOCK = 723_611_451
UNFINISHED_JOBS = (
    select(JOBS).where(JOBS.c.status.in_(UNFINISHED)).order_by(JOBS.c.created, JOBS.c.id)
)


class LeaseStatus(NamedTuple):
    """Whether the worker still has the lease, and whether the job is to be cancelled."""

    mine: bool
    cancel: bool


class JobRequest(NamedTuple):
    """The owner of a new job, its time, and its request.

    *most* is how many unfinished jobs the owner may have, this one included; None is any number.
    """

    owner: str
    now: datetime
    correlation: str = ""
    most: int | None = None


class JobTable(ServiceTable):
    """A queue, the oldest first. A worker has the *leases* of its jobs and runs together."""

    def __init__(
        self, database: Database, *, clock: Callable[[], datetime], leases: Leases
    ) -> None:
        """Store the database; nothing is read yet."""
        super().__init__(database, clock=clock)
        self._leases = leases

    def add(
        self,
        kind: str,
        subject: str,
        *,
        owner: str,
        correlation: str = "",
        most: int | None = None,
    ) -> Job:
        """Queue work on *subject*, whose operation it becomes; Conflict while it has unfinished.

        *correlation* is the id of the request. TooManyJobs where *owner* has
        *most* that are not finished.
        """
        asked = JobRequest(owner, self._clock(), correlation, most)
        with self._database.writing() as connection:
            job = add_job(connection, kind, subject, asked)
        return self.get(job)

    def get(self, job: str, *, owner: str | None = None) -> Job:
        """Return a job; UnknownName where there is none, or none of *owner*."""
        statement = owned(select(JOBS).where(JOBS.c.id == job), JOBS, owner)
        row = self._one(statement, f"operation {job}")
        return replace(record(Job, row), status=JobStatus(row.status))

    def active(self, owner: str) -> int:
        """Return how many jobs of *owner* are not finished."""
        with self._database.asking() as connection:
            return _active(connection, owner)

    def claim(self, worker: str, kinds: Collection[str] | None = None) -> Job | None:
        """Lease the oldest free job of one of *kinds* to *worker*; None without a free job.

        By default a worker can do every kind. A free job is a queued one, one whose worker is dead,
        or one that *worker* has given up after an error of the database. Other workers are watched
        once a second.
        """
        now = self._clock()
        statement = UNFINISHED_JOBS
        if kinds is not None:
            statement = statement.where(JOBS.c.kind.in_(kinds))
        with self._database.reading() as connection:
            # Most of the time there is nothing to do, and no need to keep writers waiting.
            queued = {_is_queued(row) for row in connection.execute(statement)}
            if True not in queued and not (queued and self._leases.is_due()):
                return None
        # SQLite has one writer at a time; PostgreSQL skips rows that others are claiming.
        with self._database.writing() as connection:
            rows = connection.execute(statement.with_for_update(skip_locked=True)).all()
            alive = self._leases.watch(
                connection, {row.worker for row in rows if not _is_queued(row)}
            )
            for row in rows:
                given_up = row.worker == worker and not self._leases.holds(worker, row.id)
                if _is_queued(row) or given_up or alive[row.worker] is False:
                    connection.execute(
                        update(JOBS)
                        .where(JOBS.c.id == row.id)
                        .values(
                            status=JobStatus.RUNNING.value,
                            worker=worker,
                            attempts=row.attempts + 1,
                            started=row.started or now,
                        )
                    )
                    self._leases.renew(connection, worker)
                    if not _is_queued(row):
                        self._leases.tidy(connection)
                    break
            else:
                return None
        self._leases.hold(worker, row.id)
        return self.get(row.id)

    def check(self, job: str, worker: str, *, progress: bool = False) -> LeaseStatus:
        """Return whether *worker* still has the job; *progress* resets the count of attempts."""
        if progress:
            with self._database.writing() as connection:
                connection.execute(_held(job, worker), {"attempts": 1})
        statement = select(JOBS.c.worker, JOBS.c.status, JOBS.c.cancel).where(JOBS.c.id == job)
        with self._database.asking() as connection:
            row = connection.execute(statement).one_or_none()
        if row is None:
            return LeaseStatus(mine=False, cancel=False)
        mine = row.worker == worker and row.status == JobStatus.RUNNING
        return LeaseStatus(mine, bool(row.cancel))

    def end(self, job: str, worker: str, status: JobStatus, *, error: str = "") -> bool:
        """End a job; False where it is no longer that of *worker*."""
        if not status.ended:
            raise InputError(f"a job cannot end as {status.value!r}")
        values = {"status": status.value, "error": storable(error), "ended": self._clock()}
        with self._database.writing() as connection:
            return connection.execute(_held(job, worker), values).rowcount > 0

    def hand_back(self, job: str, worker: str) -> None:
        """Queue a job again whose worker has to stop; the next one continues it."""
        values = {"status": JobStatus.QUEUED.value, "worker": None, "attempts": 0}
        with self._database.writing() as connection:
            connection.execute(_held(job, worker), values)


def add_job(connection: Connection, kind: str, subject: str, asked: JobRequest) -> str:
    """Queue work in the transaction of *connection*, and return its id."""
    check_idle(connection, kind, subject)
    _check_quota(connection, asked)
    job = new_id()
    row = {
        "id": job,
        "owner": asked.owner,
        "kind": str(kind),
        "subject": subject,
        "status": JobStatus.QUEUED.value,
        "cancel": False,
        "attempts": 0,
        "error": "",
        "created": asked.now,
        "correlation": asked.correlation or None,
    }
    connection.execute(insert(JOBS), row)
    if (table := SUBJECTS.get(kind)) is not None:
        connection.execute(update(table).where(table.c.id == subject).values(operation=job))
    return job


def check_idle(connection: Connection, kind: str, subject: str) -> None:
    """Raise Conflict while *subject*, of jobs of *kind*, has one that is unfinished.

    No other job can be added before the transaction of *connection* ends.
    """
    unfinished = select(JOBS.c.id).where(JOBS.c.subject == subject, JOBS.c.status.in_(UNFINISHED))
    # The subject is locked first, so that two cannot both find nothing unfinished.
    if (table := SUBJECTS.get(kind)) is not None:
        connection.execute(select(table.c.id).where(table.c.id == subject).with_for_update())
    else:
        _wait_for_turn(connection, subject)
    if connection.execute(unfinished).first():
        raise Conflict(BUSY.get(kind, ALSO_BUSY))


def _check_quota(connection: Connection, asked: JobRequest) -> None:
    if asked.most is None:
        return
    # Two that count at once would both find room for one.
    _wait_for_turn(connection, asked.owner)
    if _active(connection, asked.owner) >= asked.most:
        raise TooManyJobs(asked.most)


def _wait_for_turn(connection: Connection, name: str) -> None:
    """Let others of this *name* wait until the transaction ends; SQLite has one writer anyway."""
    if connection.dialect.name != "sqlite":
        turn = text("SELECT pg_advisory_xact_lock(:key, hashtext(:name))")
        connection.execute(turn, {"key": TURN_LOCK, "name": name})


def _active(connection: Connection, owner: str) -> int:
    statement = select(func.count()).where(JOBS.c.owner == owner, JOBS.c.status.in_(UNFINISHED))
    return int(connection.execute(statement).scalar_one())


def _is_queued(row: Row[Any]) -> bool:
    return bool(row.status == JobStatus.QUEUED)


def _held(job: str, worker: str) -> Any:
    return update(JOBS).where(
        JOBS.c.id == job, JOBS.c.worker == worker, JOBS.c.status == JobStatus.RUNNING.value
    )


# Ids are assigned before a transaction commits: a reader could see the higher of two ids first and
# miss the lower one. So writers in PostgreSQL take turns by this advisory lock.
ORDER_LOCK = 7_236_114_510


class EventTable(ServiceTable):
    """Events in the order of their ids: a reader that has seen one has seen all before it."""

    def add(
        self, operation: str, subject: str, kind: str, data: Mapping[str, object]
    ) -> ServiceEvent:
        """Append an event to the stream."""
        row = {"operation": operation, "subject": subject, "type": kind, "data": dict(data)}
        new = insert(EVENTS).values(**row, created=self._clock()).returning(EVENTS)
        with self._database.writing() as connection:
            if not self._database.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ORDER_LOCK})
            return record(ServiceEvent, connection.execute(new).one())

    def after(
        self,
        sequence: int,
        *,
        operation: str | None = None,
        subject: str | None = None,
        limit: int = 1_000,
    ) -> tuple[ServiceEvent, ...]:
        """Return the events after the id *sequence*, of all operations or of one."""
        statement = _of(operation, subject).where(EVENTS.c.id > sequence)
        with self._database.asking() as connection:
            rows = connection.execute(statement.order_by(EVENTS.c.id).limit(limit))
            return tuple(record(ServiceEvent, row) for row in rows)

    def newest(
        self, *, operation: str | None = None, subject: str | None = None
    ) -> ServiceEvent | None:
        """Return the last event, of all or of one operation; None without any."""
        statement = _of(operation, subject).order_by(EVENTS.c.id.desc()).limit(1)
        with self._database.asking() as connection:
            row = connection.execute(statement).one_or_none()
        return None if row is None else record(ServiceEvent, row)

    def last(self) -> int:
        """Return the id of the newest event, 0 without any."""
        with self._database.asking() as connection:
            return int(connection.execute(select(func.max(EVENTS.c.id))).scalar() or 0)

    def drop_older(self, age: timedelta) -> int:
        """Delete events older than *age*, and return their number."""
        old = EVENTS.c.created < self._clock() - age
        with self._database.writing() as connection:
            return connection.execute(delete(EVENTS).where(old)).rowcount


def _of(operation: str | None, subject: str | None) -> Any:
    statement = select(EVENTS)
    if operation is not None:
        statement = statement.where(EVENTS.c.operation == operation)
    if subject is not None:
        statement = statement.where(EVENTS.c.subject == subject)
    return statement
