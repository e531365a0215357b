"""The records of a store: definitions of experiments, experiments and their runs."""

import json
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from karat.errors import InputError
from karat.formats.gold import gold_digest
from karat.model import Answer, Dataset
from karat.model.evaluation import Summary
from karat.model.spec import Spec
from karat.model.timings import LatencySample, Timings

__all__ = [
    "LEASE_S",
    "Experiment",
    "ExperimentDefinition",
    "ExperimentKind",
    "LeaseHolder",
    "RunCosts",
    "RunDefinition",
    "RunStatus",
    "ScoredRun",
    "StoredQueryResult",
    "StoredRun",
]

ID_LENGTH = 10
# A worker that sends no heartbeat for so long is dead.
LEASE_S = 20.0


class ExperimentKind(StrEnum):
    """Which command an experiment belongs to."""

    EVALUATE = "evaluate"
    COMPARE = "compare"
    SWEEP = "sweep"


class RunStatus(StrEnum):
    """The status of a run."""

    PENDING = "pending"
    INDEXING = "indexing"
    EVALUATING = "evaluating"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def running(self) -> bool:
        """Return whether a worker has claimed it."""
        return self in {RunStatus.INDEXING, RunStatus.EVALUATING}

    @property
    def ended(self) -> bool:
        """Return whether the work on it has ended."""
        return self in {RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED}


class LeaseHolder(NamedTuple):
    """A worker that has claimed *runs*, by their labels; *alive* is None if that is not known yet.

    >>> holder = LeaseHolder("m1:812:5d1f0c9b7a3e2468", ("bm25",), alive=None)
    >>> holder.label
    'host m1, process 812'
    """

    worker: str
    runs: tuple[str, ...]
    alive: bool | None

    @property
    def label(self) -> str:
        """Return host and process of the worker, as they were when it started."""
        host, _, rest = self.worker.partition(":")
        process = rest.partition(":")[0].partition("@")[0]
        return f"host {host}, process {process}" if process.isdigit() else self.worker


class StoredQueryResult(NamedTuple):
    """An answer of *run*, with its times if there are any."""

    run: str
    answer: Answer
    sample: LatencySample | None = None


@dataclass(frozen=True, slots=True)
class RunDefinition:
    """One engine on one corpus.

    *snapshot* is the hash of the corpus, "" where each query has its own. *metadata* becomes that
    of the Run: what decides the hits beside engine and corpus, such as their number k.
    """

    label: str
    engine: Spec
    snapshot: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class ExperimentDefinition:
    """All that decides the results of an experiment, and nothing of when and where it runs.

    *config* is the command with its options, as JSON can hold it; *version* is that of Karat.
    """

    name: str
    kind: ExperimentKind
    dataset: Dataset
    runs: tuple[RunDefinition, ...]
    config: Mapping[str, object] = field(default_factory=dict)
    seed: int = 0
    version: str = ""

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the plan; the same command gives the same one."""
        content = {
            "name": self.name,
            "kind": self.kind,
            "dataset": gold_digest(self.dataset),
            "runs": [
                [run.label, run.engine.digest, run.snapshot, dict(run.metadata)]
                for run in self.runs
            ],
            "config": dict(self.config),
            "seed": self.seed,
            "version": self.version,
        }
        try:
            text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"plan {self.name!r} cannot be stored: {error}") from error
        return sha256(text.encode()).hexdigest()

    @property
    def id(self) -> str:
        """Return the id of the experiment: the first letters of its digest in base 32."""
        return b32encode(bytes.fromhex(self.digest)).decode().lower()[:ID_LENGTH]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run of an experiment; *id* is that of the experiment, a point and the position from 1.

    *answers* counts the queries that have ended, well or not; *error* says why a run has failed;
    *index_ns* is how long indexing took, None where that was not measured. *scored* is when the
    scores over all queries were stored, None before that; *status* may still be ``evaluating``
    then, or ``cancelled``, because latency is measured afterwards.
    """

    id: str
    label: str
    engine: Spec
    snapshot: str
    metadata: Mapping[str, object]
    status: RunStatus
    error: str
    answers: int
    begun: datetime | None
    ended: datetime | None
    index_ns: int | None = None
    scored: datetime | None = None


class RunCosts(NamedTuple):
    """The timings and the notes of a run, without its answers.

    *timings* is None until the run was finished with some.
    """

    timings: Timings | None
    notes: Mapping[str, object]


class ScoredRun(NamedTuple):
    """A run whose queries are all answered, with the scores that were stored for it."""

    id: str
    label: str
    ended: datetime | None
    scores: tuple[Summary, ...]


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment as it stands; *dataset* is the digest of its gold set, of *queries* queries."""

    id: str
    name: str
    kind: ExperimentKind
    dataset: str
    queries: int
    config: Mapping[str, object]
    seed: int
    version: str
    environment: Mapping[str, object]
    created: datetime
    runs: tuple[StoredRun, ...]

    @property
    def status(self) -> str:
        """Return ``running`` or ``pending`` if any run is so, else the worst end of a run."""
        statuses = {run.status for run in self.runs}
        if any(status.running for status in statuses):
            return "running"
        for status in (RunStatus.PENDING, RunStatus.FAILED, RunStatus.CANCELLED):
            if status in statuses:
                return status.value
        return RunStatus.COMPLETED.value
