"""What the service keeps, as it is read back. All moments are in UTC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

__all__ = [
    "Annotation",
    "Benchmark",
    "BenchmarkDataset",
    "Collection",
    "DatasetMapping",
    "Document",
    "Job",
    "JobKind",
    "JobStatus",
    "Page",
    "ServiceEvent",
    "StoredJudgment",
    "Token",
]

Item = TypeVar("Item")


class Page(NamedTuple, Generic[Item]):
    """Some of a list, and how many there are in all."""

    items: tuple[Item, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Token:
    """Who may do what; *digest* is the SHA-256 of the secret, which nobody keeps."""

    id: str
    owner: str
    name: str
    digest: str
    scopes: tuple[str, ...]
    created: datetime
    expires: datetime | None
    revoked: datetime | None

    def valid(self, now: datetime) -> bool:
        """Return whether it opens anything at *now*."""
        return self.revoked is None and (self.expires is None or now < self.expires)


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents to search; *status* is ``pending``, ``indexing``, ``ready`` or ``failed``.

    *facts* is what indexing has found, as JSON can hold it; *operation* is the last job.
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


class Document(NamedTuple):
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

    *before* is the grade until then; *undoes* the version that this one takes back.
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
    are not, *unresolved* tells the reasons; *by_hand* holds those that a user has bound.
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

    *config* is what was asked for; *experiment* is where the results are, None before the start.
    *revision* is the commit that was searched, None where that is unknown.
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
    collection: str
    completed_runs: int
    failed_runs: int


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on a benchmark."""

    id: int
    benchmark: str
    text: str
    author: str
    created: datetime


class JobKind(StrEnum):
    """What a worker does for a job, whose subject is a collection, a mapping or a benchmark."""

    INDEX = "index"
    RESOLVE = "resolve"
    BENCHMARK = "benchmark"


class JobStatus(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Return whether nobody will work on it any more."""
        return self not in {JobStatus.QUEUED, JobStatus.RUNNING}


@dataclass(frozen=True, slots=True)
class Job:
    """Work for one worker at a time, which has it until *lease_until* and longer if it says so.

    *attempts* counts the workers that have taken it since it last made progress; *correlation* is
    the id of the request that began it.
    """

    id: str
    owner: str
    kind: JobKind
    subject: str
    status: JobStatus
    cancel: bool
    worker: str | None
    lease_until: datetime | None
    attempts: int
    error: str
    created: datetime
    started: datetime | None
    ended: datetime | None
    correlation: str | None


@dataclass(frozen=True, slots=True)
class ServiceEvent:
    """Something that has happened; *id* grows, and is the place from which a client continues."""

    id: int
    operation: str
    subject: str
    type: str
    data: Mapping[str, object]
    created: datetime
