"""What is known of one run while it goes on, and the outcome when it has ended."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from karat.experiments.workers.plan import Configuration, RunSettings, Visit
from karat.experiments.workers.process import EngineFailure, WorkerReply
from karat.model import Answer, Dataset, Outcome, Run
from karat.model.frozen import EMPTY
from karat.model.spending import spent_in
from karat.model.timings import NS_PER_MS, Measured, Sample, Timings, latency_ms

__all__ = [
    "Account",
    "Hooks",
    "Kind",
    "Member",
    "QueryResult",
    "Record",
    "RunEvent",
    "Sink",
    "Tell",
    "counted",
    "silence",
    "taken",
]

Kind = Literal["waiting", "started", "indexing", "indexed", "restarted", "answered", "finished"]


class RunEvent(NamedTuple):
    """Something that happened to *run*: *done* of its *total* queries have ended by now.

    *detail* is what JSON can hold: of ``indexing`` the *stage* (``loading``, ``indexing`` or
    ``embedding``) with *done* of *total* (0: unknown) and the number of *runs* that share it, of
    ``indexed`` the time, the corpus and its size, of ``restarted`` why and the corpus, of
    ``answered`` the query, how it ended and after how long (-1: unknown), of ``finished`` the
    status. ``indexing`` comes only while indexing takes long, and a few times a second at most.
    ``waiting`` has the *holders*: the karat runs that must end before latency is measured, each
    with *pid*, *command* and *since* (ISO 8601). It comes again whenever they change.
    """

    kind: Kind
    run: str
    done: int = 0
    total: int = 0
    detail: Mapping[str, object] = EMPTY


class Sink(Protocol):
    """Keeps answers, each as it ends."""

    def on_answer(self, run: str, answer: Answer, sample: Sample | None) -> None:
        """Keep *answer* of *run*; there is a *sample* where it was answered and timed.

        Called in the thread that started the run.
        """
        ...


@dataclass(frozen=True, slots=True)
class Hooks:
    """How whoever starts a run takes part in it.

    *listen* is told of every event, *sink* of every answer. *skip* holds, by run, the ids of
    queries that have an answer already and are not asked again. *cancelled* is asked between
    queries; once it is true, nothing more is asked, and hits that do not come soon are not waited
    for. All are called in the thread of the caller, except that *cancelled* may be called in any.
    Other karat runs see this one as *command*. Without *wait*, latency is measured at once, also
    where another karat run disturbs it.
    """

    listen: Callable[[RunEvent], None] = lambda _: None
    sink: Sink | None = None
    skip: Mapping[str, Collection[str]] = field(default_factory=dict)
    cancelled: Callable[[], bool] = lambda: False
    command: str = "run"
    wait: bool = True


Tell = Callable[[Kind, Mapping[str, object]], None]


@dataclass(slots=True)
class Account:
    """What one configuration has taken, in one process after the other.

    *failed* says why it cannot be asked any more, "" as long as it can. *index_ns* is the time that
    indexing has taken; what a process has to index because the one before it is gone does not
    count. *together* are the names of all that lived in the same process, whose memory is theirs.
    """

    failed: str = ""
    index_ns: int = 0
    index_bytes: int = 0
    peak_bytes: int = 0
    restarts: int = 0
    work: Mapping[str, int] = field(default_factory=dict)
    corpora: dict[str, None] = field(default_factory=dict)
    together: tuple[str, ...] = ()


class Member(NamedTuple):
    """A configuration, its account, and who hears what becomes of its process."""

    configuration: Configuration
    account: Account
    tell: Tell


class QueryResult(NamedTuple):
    """The answer to one query; a sample where it was answered and timed; else perhaps a trace."""

    answer: Answer
    sample: Sample | None = None
    traceback: str = ""


def taken(
    query_id: str, visit: Visit, replies: Sequence[WorkerReply | EngineFailure], *, timed: bool
) -> QueryResult:
    """Return what *replies* say, the first of which is the cold one; a failure is an answer too."""
    extra: dict[str, object] = {}
    if visit.source.revision:
        extra["revision"] = visit.source.revision
    for reply in replies:
        if isinstance(reply, EngineFailure):
            extra |= {"reason": reply.reason, "error": reply.message}
            answer = Answer(query_id, (), reply.outcome, extra=extra)
            return QueryResult(answer, None, reply.traceback)
    cold, *warm = (reply for reply in replies if isinstance(reply, WorkerReply))
    for name, counts in (("invalid", cold.invalid), ("mended", cold.mended)):
        if counts:
            extra[name] = dict(counts)
    if cold.spent:
        extra["spent"] = dict(cold.spent)
    if not all(reply.same for reply in warm):
        extra["unstable"] = True
    if not timed:
        return QueryResult(Answer(query_id, cold.hits, extra=extra))
    spent = spent_in(extra)
    sample = Sample(
        query_id,
        cold.ns,
        tuple(reply.ns for reply in warm),
        cold.phases.get("first_hit", 0),
        cold.phases,
        spent.tokens or 0,
        spent.cost or 0.0,
    )
    latency_ns = round(latency_ms(sample) * NS_PER_MS)
    return QueryResult(Answer(query_id, cold.hits, latency_ns=latency_ns, extra=extra), sample)


class Record:
    """Collects the answers of *configuration* and tells the *hooks* of each.

    Answers are kept in the order of the plan, whichever process gave them and whenever.
    """

    def __init__(
        self,
        configuration: Configuration,
        dataset: Dataset,
        visits: Sequence[Visit],
        *,
        settings: RunSettings,
        hooks: Hooks,
    ) -> None:
        """Begin without an answer."""
        self.configuration = configuration
        self._accounts: list[Account] = []
        skipped = set(hooks.skip.get(configuration.name, ()))
        self._rows = {
            row: dataset.query_ids[row]
            for visit in visits
            for row in visit.rows
            if dataset.query_ids[row] not in skipped
        }
        self.total = len(self._rows)
        self._order = {query_id: place for place, query_id in enumerate(self._rows.values())}
        self._settings = settings
        self._hooks = hooks
        self._taken: dict[str, QueryResult] = {}

    @property
    def failed(self) -> str:
        """Return why the run cannot go on, "" as long as it can."""
        return next((account.failed for account in self._accounts if account.failed), "")

    def wants(self, row: int) -> bool:
        """Say whether the query at *row* is to be asked for this run."""
        return row in self._rows

    def member(self, tell: Tell | None = None) -> Member:
        """Return this run as a member of one more crew, with an account of its own."""
        self._accounts.append(account := Account())
        return Member(self.configuration, account, tell or self.tell)

    def add(self, taken: QueryResult) -> None:
        """Keep one more answer."""
        answer = taken.answer
        self._taken[answer.query_id] = taken
        if self._hooks.sink:
            self._hooks.sink.on_answer(self.configuration.name, answer, taken.sample)
        detail = {
            "query_id": answer.query_id,
            "outcome": answer.outcome.name.lower(),
            "latency_ns": answer.latency_ns,
        }
        self.tell("answered", detail)

    def tell(self, kind: Kind, detail: Mapping[str, object]) -> None:
        """Say what happens."""
        done = len(self._taken)
        self._hooks.listen(RunEvent(kind, self.configuration.name, done, self.total, detail))

    def measured(self, *, timed: bool, alone: bool = False) -> Measured:
        """Return the run as far as it came, and say that it is finished."""
        taken = sorted(self._taken.values(), key=lambda one: self._order[one.answer.query_id])
        answers = [one.answer for one in taken]
        error = self.failed or silence(answers)
        status = "failed" if error else "completed"
        if not error and len(answers) < self.total:
            status = "cancelled"
        spec, name = self.configuration.spec, self.configuration.name
        notes = self._notes(taken) | {"status": status} | ({"error": error} if error else {})
        self.tell("finished", {"status": status} | ({"error": error} if error else {}))
        metadata = {"seed": self._settings.seed, "k": self.configuration.k}
        return Measured(
            Run.of(answers, name=name, metadata=metadata),
            self._timings(taken, alone=alone) if timed else None,
            spec.digest,
            name,
            notes,
        )

    def _timings(self, taken: Sequence[QueryResult], *, alone: bool) -> Timings:
        accounts = self._accounts
        samples = tuple(one.sample for one in taken if one.sample)
        return Timings(
            samples=samples,
            index_ns=sum(one.index_ns for one in accounts),
            index_bytes=max((one.index_bytes for one in accounts), default=0),
            peak_bytes=max((one.peak_bytes for one in accounts), default=0),
            warm_up=self._settings.warm_up,
            repetitions=self._settings.repetitions,
            # Where nothing was measured, nothing was disturbed.
            alone=alone or not samples,
        )

    def _notes(self, taken: Sequence[QueryResult]) -> dict[str, object]:
        accounts = self._accounts
        together = [name for one in accounts[:1] for name in one.together]
        corpora = dict.fromkeys(corpus for one in accounts for corpus in one.corpora)
        return {
            "seed": self._settings.seed,
            "corpora": list(corpora),
            **counted([one.answer for one in taken]),
            "restarts": sum(one.restarts for one in accounts),
            "work": _summed(one.work for one in accounts),
            "tracebacks": {one.answer.query_id: one.traceback for one in taken if one.traceback},
            **({"together": together} if together else {}),
        }


def counted(answers: Sequence[Answer]) -> dict[str, object]:
    """Return what *answers* say of failures, of hits that were dropped or mended, and of chance."""
    extras = [(answer.query_id, answer.extra) for answer in answers]
    return {
        "failures": Counter(extra["reason"] for _, extra in extras if "reason" in extra),
        "invalid": _summed(extra.get("invalid") for _, extra in extras),
        "mended": _summed(extra.get("mended") for _, extra in extras),
        "unstable": [query_id for query_id, extra in extras if "unstable" in extra],
    }


def silence(answers: Sequence[Answer]) -> str:
    """Return the error of a run of which no query was answered, "" where one was."""
    if not answers or any(answer.outcome is Outcome.ANSWERED for answer in answers):
        return ""
    return f"no query was answered; the first error: {answers[0].extra.get('error', '')}"


def _summed(counts: Iterable[object]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for count in counts:
        if isinstance(count, Mapping):
            total.update(count)
    return dict(total)
