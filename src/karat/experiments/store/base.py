"""The protocols and records of stores: query results are saved as they end, and read back."""

import json
from base64 import b32encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from math import inf
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple, Protocol, Self
from urllib.parse import urlsplit

from karat.errors import InputError, UnknownName
from karat.formats.gold import gold_digest
from karat.model import Answer, Dataset, Outcome
from karat.model.evaluation import Summary
from karat.model.spec import Spec
from karat.model.timings import LatencySample, RunResult, Timings
from karat.registry import Registry

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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun(RunDefinition):
    """A run of an experiment, with what became of it.

    *id* is that of the experiment, a point and the position from 1.
    *answers* counts the queries that have ended, well or not; *error* says why a run has failed;
    *index_ns* is how long indexing took, None where that was not measured. *scored* is when the
    scores over all queries were stored, None before that; *status* may still be ``evaluating``
    then, or ``cancelled``, because latency is measured afterwards. *content* has the digests of the
    files that the engine was made of when the first answer was stored, None where that is unknown.
    A *pinned* run is one that later runs of its engine are compared with.
    """

    id: str
    status: RunStatus
    error: str
    answers: int
    begun: datetime | None
    ended: datetime | None
    index_ns: int | None = None
    scored: datetime | None = None
    content: Mapping[str, str] | None = None
    pinned: bool = False


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


class PastRun(NamedTuple):
    """A run whose queries are all answered, and all that may explain why a later one differs.

    *dataset* is the digest of its gold set, *engine* that of its specification; *snapshot*,
    *content* and *pinned* are those of a :class:`StoredRun`; *version* is that of Karat.
    """

    id: str
    label: str
    ended: datetime
    dataset: str
    engine: str
    snapshot: str
    content: Mapping[str, str] | None
    version: str
    pinned: bool

    @property
    def experiment(self) -> str:
        """Return the id of its experiment."""
        return self.id.partition(".")[0]


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


class Recorder(Protocol):
    """Records a run: claim it, add answers, finish it. Runs are named by their whole id.

    The contract, which ``karat.testing.StoreSuite`` checks together with that of a Store:

    - an answer is on disk when ``add`` returns, and survives the death of the process;
    - each query has one answer: of two answers the first stays, also if another process adds the
      second;
    - an answer without times gets those that are added later; stored times stay, and an error or a
      timeout has none;
    - ``claim`` gives a run to one worker at a time, and to the next one when that worker is dead;
    - a worker is dead when it has closed its store, when its process has provably ended, or after
      ``LEASE_S`` seconds without a heartbeat; until then it loses nothing;
    - a run that has failed, was cancelled or lost its worker continues with its stored answers;
    - a worker cannot change a run that another worker has claimed since.

    Several processes and threads may record at once.
    """

    def claim(self, run: str, *, completed: bool = False) -> bool:
        """Claim *run* for this worker; its status becomes ``indexing``.

        False if it is completed, unless *completed* runs are claimed too, or if another worker that
        may be alive has it.
        """
        ...

    def heartbeat(self) -> None:
        """Renew the lease on all claimed runs.

        The store does it by itself about once a second, in a thread of its own.
        """
        ...

    def clear(self, run: str, *, content: Mapping[str, str] | None = None) -> None:
        """Delete all answers and scores of *run*, which the caller has claimed.

        *content* becomes that of the run.
        """
        ...

    def begin(self, run: str) -> None:
        """Set the status of *run* to ``evaluating``: it is indexed, and its queries run now."""
        ...

    def answered(self, run: str, *, timed: bool = False) -> frozenset[str]:
        """Return the ids of the queries that have ended, successfully or not.

        With *timed*, only those that need no times: they have them, or have failed.
        """
        ...

    def add(self, run: str, answer: Answer, sample: LatencySample | None = None) -> bool:
        """Store an answer, with its times if there are any; False if nothing of it is new."""
        ...

    def add_many(self, answers: Iterable[StoredQueryResult]) -> int:
        """Store all answers in one transaction, and return how many were new or got times."""
        ...

    def finish(
        self,
        run: str,
        status: RunStatus,
        *,
        error: str = "",
        timings: Timings | None = None,
        notes: Mapping[str, object] | None = None,
    ) -> None:
        """Finish *run* with the costs of its index; samples are stored with their answers."""
        ...


class Store(Recorder, Protocol):
    """Stores experiments. Ids may be shortened as long as they are unambiguous.

    The contract, beside that of a Recorder:

    - what is read equals what was stored;
    - the same definition is the same experiment, with its stored runs and answers;
    - deleting removes all of an experiment, and nothing else;
    - an unknown or ambiguous id raises UnknownName.
    """

    def __enter__(self) -> Self:
        """Return the store itself; leaving the context closes it."""
        ...

    def __exit__(self, *exception: object) -> None:
        """Close the store."""
        ...

    def experiment(self, plan: ExperimentDefinition) -> str:
        """Return the id of the experiment that *plan* defines; it is created if it is new."""
        ...

    def experiments(
        self, kind: ExperimentKind | None = None, *, limit: int = 20, offset: int = 0
    ) -> tuple[Experiment, ...]:
        """Return experiments, the newest first."""
        ...

    def latest(self) -> Experiment:
        """Return the newest experiment; UnknownName if there is none."""
        ...

    def show(self, experiment: str) -> Experiment:
        """Return an experiment with its runs in the order planned."""
        ...

    def dataset(self, digest: str) -> Dataset:
        """Return the gold set with this digest."""
        ...

    def measured(self, run: str) -> RunResult:
        """Return a run with its answers in the order in which they ended.

        Its metadata also say that hits are ranked as returned (``ties``: ``order``). Timings are
        None until the run was finished with some.
        """
        ...

    def costs(self, run: str) -> RunCosts:
        """Return the timings and notes of :meth:`measured` without reading any answer."""
        ...

    def outcomes(self, experiment: str) -> Mapping[str, Mapping[Outcome, int]]:
        """Return the number of queries of each run by outcome, without zeros."""
        ...

    def keep_scores(
        self, run: str, summaries: Iterable[Summary], *, complete: bool = False
    ) -> None:
        """Replace the scores of a run; claiming the run again removes them.

        *complete* scores cover all queries: the run counts as completed, even if its latency is
        not measured yet, and claiming it for that does not remove them.
        """
        ...

    def scores(self, run: str) -> tuple[Summary, ...]:
        """Return the stored scores of a run."""
        ...

    def completed(self, *experiments: str) -> tuple[ScoredRun, ...]:
        """Return the runs of these experiments, by their whole ids, that have all their scores.

        Those are the completed ones, and those that only lack their latency.
        """
        ...

    def past_runs(
        self, label: str, *, dataset: str = "", gold: str = "", limit: int = 20
    ) -> tuple[PastRun, ...]:
        """Return the runs called *label* that have all their scores, the newest first.

        They are those on the gold set with the digest *dataset*, or with the name *gold*; without
        both, on any. Pinned runs come beyond the *limit* too.
        """
        ...

    def pin(self, run: str, *, pinned: bool = True) -> None:
        """Pin *run*, or unpin it.

        One run of each label is pinned on a gold set: the others with the same digest or name of
        the gold set are unpinned. InputError if *run* has no scores yet.
        """
        ...

    def holders(self, experiment: str) -> tuple[LeaseHolder, ...]:
        """Return the other workers that have claimed runs of an experiment.

        Each call is a look at their heartbeats. A worker is alive once its heartbeat has changed
        between two looks; :func:`watch_holders` looks until it is alive or dead.
        """
        ...

    def release(self, experiment: str) -> None:
        """Set all claimed runs to ``pending``; the caller knows that their workers have ended."""
        ...

    def delete(self, experiment: str, *, force: bool = False) -> None:
        """Delete an experiment, and its gold set if no other uses it.

        InputError if a worker that may be alive has one of its runs, unless *force* is given.
        """
        ...

    def vacuum(self) -> None:
        """Give the space of deleted rows back to the disk."""
        ...

    def close(self) -> None:
        """Close the database; calling it twice is fine."""
        ...


# How often heartbeats are looked at, and after how many looks a live worker has mostly been seen.
LOOK_S, FIRST_LOOKS = 0.5, 3


def watch_holders(
    store: Store,
    experiment: str,
    *,
    on_wait: Callable[[LeaseHolder], None],
    wait: Callable[[float], None] | None = None,
) -> tuple[LeaseHolder, ...]:
    """Wait until one of the other workers of *experiment* is alive, or all are dead.

    Return those that are alive. *on_wait* receives the first worker of which that is still unknown
    after more than a heartbeat. *wait* waits for a number of seconds, by default by sleeping.
    """
    looks = 0
    while True:
        holders = store.holders(experiment)
        alive = tuple(holder for holder in holders if holder.alive)
        unknown = [holder for holder in holders if holder.alive is None]
        if alive or not unknown:
            return alive
        looks += 1
        if looks == FIRST_LOOKS:
            on_wait(unknown[0])
        (wait or sleep)(LOOK_S)


# The scheme of a URL selects the function that opens the store.
STORES: Registry[Callable[[str], Store]] = Registry(
    "store",
    {
        "sqlite": "karat.experiments.store.sql_store:SqlStore",
        "postgresql": "karat.experiments.store.sql_store:SqlStore",
    },
    closed=True,
)
SQLITE = "sqlite"
# A folder of this name holds nothing but files of Karat.
OWN_FOLDER = ".karat"


def open_store(url: str, *, new: bool = False) -> Store:
    """Return the store at *url*.

    It is a file, ``sqlite:///file`` or ``postgresql://user@host/database``. Any other scheme is
    that of a store that an extension adds. A file is created only with *new*; in a folder
    ``.karat`` a ``.gitignore`` is written beside it.
    """
    scheme, separator, _ = url.partition("://")
    # As in SQLAlchemy, the driver may follow the scheme: postgresql+psycopg.
    scheme = scheme.partition("+")[0].lower() if separator else SQLITE
    if scheme not in set(STORES):
        known = ", ".join(f"{name}://" for name in STORES)
        raise UnknownName(
            f"no store has the scheme {scheme!r}; expected a file, or one of: {known}"
        )
    file = _file(url) if scheme == SQLITE else None
    if file is not None and not new and not file.is_file():
        raise InputError(
            f"{file}: no results stored yet; karat evaluate, compare and sweep create it"
        )
    store = STORES.get(scheme)(url)
    if file is not None and file.parent.name == OWN_FOLDER:
        ignored = file.parent / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n", encoding="utf-8")
    return store


def _file(url: str) -> Path:
    """Return the file of a SQLite store; a relative path follows three slashes."""
    _, separator, path = url.partition("://")
    return Path(path.removeprefix("/") if separator else url)


def url_without_password(url: str) -> str:
    """Return *url* as a log may show it: without user and password.

    >>> url_without_password(".karat/karat.db"), url_without_password("postgresql://ann:secret@db.example/karat")
    ('.karat/karat.db', 'postgresql://db.example/karat')
    """
    if "://" not in url:
        return url
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


# Long enough for some dozen fast searches, and too short to notice after a slow one.
TOGETHER_S = 0.05


class Buffer:
    """Passes answers on to *recorder*: the first at once, then all of the last *together_s*.

    A transaction for each answer would take longer than many searches. If the process is killed,
    the queries of that short time are lost and run again. Leaving the context stores all answers.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        together_s: float = TOGETHER_S,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Start without an answer."""
        self._recorder = recorder
        self._together_s = together_s
        self._clock = clock
        self._waiting: list[StoredQueryResult] = []
        self._flushed = -inf

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.flush()

    def add(self, run: str, answer: Answer, sample: LatencySample | None = None) -> None:
        """Store an answer of *run*, now or a little later."""
        self._waiting.append(StoredQueryResult(run, answer, sample))
        if self._clock() - self._flushed >= self._together_s:
            self.flush()

    def flush(self) -> None:
        """Store the waiting answers."""
        self._recorder.add_many(self._waiting)
        # Cleared afterwards: an interrupted transaction is repeated.
        self._waiting.clear()
        self._flushed = self._clock()
