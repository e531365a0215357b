"""Records of the service's tables, and the base class of the tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import uuid4

from sqlalchemy import Connection, Row, Select, Table, func, select

from karat.errors import UnknownName
from karat.experiments.store.database import Database

Item = TypeVar("Item")


class Page(NamedTuple, Generic[Item]):
    """Some of a list, and how many there are in all."""

    items: tuple[Item, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Token:
    """A token and its scopes; *digest* is the SHA-256 of the secret, which is not stored."""

    id: str
    owner: str
    name: str
    digest: str
    scopes: tuple[str, ...]
    created: datetime
    expires: datetime | None
    revoked: datetime | None

    def valid(self, now: datetime) -> bool:
        """Return whether the token is valid at *now*."""
        return self.revoked is None and (self.expires is None or now < self.expires)


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents to search; *status* is ``pending``, ``indexing``, ``ready`` or ``failed``.

    *facts* is the result of indexing, as JSON; *operation* is the last job.
    """

    id: str
    owner: str
    name: str
    description: str
    source: Mapping[str, object]
    index: Mapping[str, object]
    status: str
    error: str
    snapshot: str
    facts: Mapping[str, object]
    operation: str | None
    created: datetime
    updated: datetime


class StoredDocument(NamedTuple):
    """A document of a collection, with its size in bytes."""

    path: str
    size: int
    lines: int
    chunks: int


@dataclass(frozen=True, slots=True)
class BenchmarkDataset:
    """A gold set as it was uploaded, found by its digest *gold*.

    *version* is 1 for the upload, and one more for every judgment since.
    """

    id: str
    owner: str
    name: str
    description: str
    gold: str
    schema_version: str
    version: int
    created: datetime
    updated: datetime
    queries: int


@dataclass(frozen=True, slots=True)
class StoredJudgment:
    """A grade given to a place by *author*; None takes the place out of the judgments.

    *before* is the grade until then; *undoes* the version that this one undoes.
    """

    version: int
    query: str
    path: str
    start_line: int
    end_line: int
    grade: float | None
    before: float | None
    reason: str
    author: str
    undoes: int | None
    created: datetime


@dataclass(frozen=True, slots=True)
class DatasetMapping:
    """A dataset on a collection; *status* is ``pending``, ``resolved`` or ``partial``.

    *resolved* is the digest of the gold set whose references are bound to documents. Of those that
    are not, *unresolved* has the reasons; *by_hand* has those that a user has mapped.
    """

    id: str
    dataset: str
    collection: str
    status: str
    mapped: int
    total: int
    unresolved: Sequence[Mapping[str, object]]
    by_hand: Sequence[Mapping[str, str]]
    resolved: str | None
    operation: str | None
    created: datetime
    resolved_at: datetime | None
    owner: str


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A matrix of configurations over a mapping, with the statuses of seed 003.

    *config* is the request; *experiment* has the results, None before the start.
    *revision* is the commit that was searched, None where that is unknown. *position* is the place
    of its job in the queue, from 1, None where it is not queued; *stopping* says that a worker has
    not yet noticed that it was cancelled.
    """

    id: str
    owner: str
    name: str
    description: str
    mapping: str
    config: Mapping[str, object]
    total_runs: int
    status: str
    error: str
    experiment: str | None
    operation: str | None
    created: datetime
    started: datetime | None
    completed: datetime | None
    revision: Mapping[str, str] | None
    dataset: str
    dataset_name: str
    collection: str
    collection_name: str
    completed_runs: int
    failed_runs: int
    position: int | None
    stopping: bool

    @property
    def current_status(self) -> str:
        """Return the status, which is ``queued`` while no worker runs what was started."""
        return "queued" if self.status == "running" and self.position else self.status


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on a benchmark."""

    id: int
    benchmark: str
    text: str
    author: str
    created: datetime


class JobKind(StrEnum):
    """A kind of job of the service; its subject is a collection, a mapping or a benchmark."""

    INDEX = "index"
    RESOLVE = "resolve"
    BENCHMARK = "benchmark"


class JobStatus(StrEnum):
    """The status of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Return whether the job has ended."""
        return self not in {JobStatus.QUEUED, JobStatus.RUNNING}


@dataclass(frozen=True, slots=True)
class Job:
    """Work for one worker at a time, which has it for as long as it sends heartbeats.

    *kind* is a JobKind, or one that an extension adds. *attempts* counts the workers that have
    taken it since it last made progress; *correlation* is the id of the request that began it.
    """

    id: str
    owner: str
    kind: str
    subject: str
    status: JobStatus
    cancel: bool
    worker: str | None
    attempts: int
    error: str
    created: datetime
    started: datetime | None
    ended: datetime | None
    correlation: str | None


@dataclass(frozen=True, slots=True)
class ServiceEvent:
    """An event of a job; *id* grows, and a client continues after the last id it has seen."""

    id: int
    operation: str
    subject: str
    type: str
    data: Mapping[str, object]
    created: datetime


def new_id() -> str:
    """Return a random id that cannot be guessed and is never a path."""
    return str(uuid4())


class ServiceTable:
    """The rows of one kind in *database*; *clock* returns the time."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        """Store the database; nothing is read yet."""
        self._database = database
        self._clock = clock

    def _one(self, statement: Select[*tuple[Any, ...]], what: str, **values: str) -> Row[Any]:
        """Return the only row; UnknownName with *what* where it does not exist."""
        with self._database.asking() as connection:
            return one(connection, statement, what, **values)

    def _page(
        self,
        statement: Select[*tuple[Any, ...]],
        kind: Callable[..., Item],
        *,
        limit: int,
        offset: int,
    ) -> Page[Item]:
        with self._database.reading() as connection:
            total = select(func.count()).select_from(statement.order_by(None).subquery())
            rows = connection.execute(statement.limit(limit).offset(offset))
            items = tuple(record(kind, row) for row in rows)
            return Page(items, connection.execute(total).scalar_one())


def one(
    connection: Connection, statement: Select[*tuple[Any, ...]], what: str, **values: str
) -> Row[Any]:
    """Return the only row of *statement*, whose parameters are *values*.

    UnknownName with *what* is raised where it does not exist.
    """
    row = connection.execute(statement, values).one_or_none()
    if row is None:
        raise UnknownName(f"no {what}")
    return row


def record(kind: Callable[..., Item], row: Row[Any]) -> Item:
    """Return *row* as a *kind*, whose fields have the names of the columns."""
    return kind(**row._asdict())


def owned(statement: Select[*tuple[Any, ...]], table: Table, owner: str | None) -> Any:
    """Return *statement* of *owner* only, where one is named."""
    return statement if owner is None else statement.where(table.c.owner == owner)
