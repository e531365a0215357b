"""The results of one run while it is going on, and the whole run when it has ended."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from karat.experiments.workers.plan import Configuration, RunSettings, SnapshotQueries
from karat.experiments.workers.process import EngineFailure, WorkerReply
from karat.model import Answer, Dataset, Outcome, Run
from karat.model.frozen import EMPTY
from karat.model.run import AS_RETURNED, TIES
from karat.model.timings import NS_PER_MS, LatencySample, RunResult, Timings, latency_ms, spent_in

EventKind = Literal[
    "checking",
    "waiting",
    "disturbed",
    "started",
    "indexing",
    "indexed",
    "restarted",
    "answered",
    "finished",
    "units",
]


class RunEvent(NamedTuple):
    """Something that happened to *run*: *done* of its *total* queries have ended by now.

    *detail* is what JSON can hold: of ``indexing`` the *stage* (``loading``, ``indexing`` or
    ``embedding``) with *done* of *total* (0: unknown) and the number of *runs* that share it, of
    ``indexed`` the time, the corpus and its size, of ``restarted`` why and the corpus, of
    ``answered`` the query, how it ended and after how long (-1: unknown), of ``finished`` the
    status. ``indexing`` comes only while indexing takes long, and a few times a second at most.
    ``waiting`` has the *holders*: the karat runs that must end before latency is measured, each
    with *pid*, *command* and *since* (ISO 8601). It comes again whenever they change. ``units``
    has the number of running *units*, of *slots* and of *lost* units of an executor that uses other
    machines; *embedded* of *to_embed* embed units have ended. ``checking`` comes before everything
    else, while it is not known whether the process that has the run is alive; it has its *holder*
    and *command*.
    """

    kind: EventKind
    run: str
    done: int = 0
    total: int = 0
    detail: Mapping[str, object] = EMPTY


@dataclass(frozen=True, slots=True)
class Callbacks:
    """How the caller takes part in a run.

    *listen* receives every event. *on_result* receives every query result: the name of the run, the
    answer, and a sample if the query was answered and timed. *skip* holds, by run, the ids of
    queries that have a result already and are not run again. *cancelled* is called between queries;
    once it returns True, no further query starts, and running queries get little time to end. All
    are called in the thread of the caller, except *cancelled*, which any thread may call. Other
    karat runs see this one as *command*. Without *wait*, latency is measured at once, even while
    another karat run disturbs it.
    """

    listen: Callable[[RunEvent], None] = lambda _: None
    on_result: Callable[[str, Answer, LatencySample | None], None] = lambda *_: None
    skip: Mapping[str, Collection[str]] = field(default_factory=dict)
    cancelled: Callable[[], bool] = lambda: False
    command: str = "run"
    wait: bool = True


# Receives the kind of an event and its detail.
EventCallback = Callable[[EventKind, Mapping[str, object]], None]


@dataclass(slots=True)
class UsageCounters:
    """Counters of what one configuration has used, over all its processes.

    *failed* says why it cannot run further queries, "" as long as it can. *index_ns* is the time of
    indexing; indexing again after a restart does not count. *together* are the names of all
    configurations in the same process, which share its memory.
    """

    failed: str = ""
    index_ns: int = 0
    index_bytes: int = 0
    peak_bytes: int = 0
    restarts: int = 0
    work: Mapping[str, float] = field(default_factory=dict)
    corpora: dict[str, None] = field(default_factory=dict)
    together: tuple[str, ...] = ()


class GroupEngine(NamedTuple):
    """A configuration with its usage counters and its event callback."""

    configuration: Configuration
    usage: UsageCounters
    report: EventCallback


class QueryResult(NamedTuple):
    """The answer to one query, its times if it was timed, and the traceback of an error."""

    answer: Answer
    sample: LatencySample | None = None
    traceback: str = ""


def query_result(
    query_id: str,
    snapshot: SnapshotQueries,
    replies: Sequence[WorkerReply | EngineFailure],
    *,
    timed: bool,
) -> QueryResult:
    """Return the result of all repetitions of a query, the first of which is the cold one.

    A failure of any of them is the result.
    """
    extra: dict[str, object] = {}
    if snapshot.source.revision:
        extra["revision"] = snapshot.source.revision
    for reply in replies:
        if isinstance(reply, EngineFailure):
            extra |= {"reason": reply.reason, "error": reply.message}
            answer = Answer(query_id, (), reply.outcome, extra=extra)
            return QueryResult(answer, None, reply.traceback)
    cold, *warm = (reply for reply in replies if isinstance(reply, WorkerReply))
    for name, counts in (("invalid", cold.invalid), ("mended", cold.mended)):
        if counts:
            extra[name] = dict(counts)
    if cold.invalid:
        extra["accepted"] = cold.accepted
    if cold.spent:
        extra["spent"] = dict(cold.spent)
    marks = {
        "unstable": not all(reply.same for reply in warm),
        "repeated": bool(warm) and not timed,
    }
    extra |= {name: True for name, holds in marks.items() if holds}
    if not timed:
        return QueryResult(Answer(query_id, cold.hits, extra=extra))
    spent = spent_in(extra)
    sample = LatencySample(
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


class RunCollector:
    """Collects the query results of *configuration* and passes each on to the *callbacks*.

    The run has its answers in the order of the plan, in whatever order they arrived.
    """

    def __init__(
        self,
        configuration: Configuration,
        dataset: Dataset,
        snapshots: Sequence[SnapshotQueries],
        *,
        settings: RunSettings,
        callbacks: Callbacks,
    ) -> None:
        """Start without a result."""
        self.configuration = configuration
        # By session: the counters of this configuration since the session began.
        self._usage: dict[str, UsageCounters] = {}
        # Notes about the slots, such as the number of lost units.
        self.slot_notes: Mapping[str, object] = EMPTY
        skipped = set(callbacks.skip.get(configuration.name, ()))
        self._query_ids = {
            row: dataset.query_ids[row]
            for snapshot in snapshots
            for row in snapshot.rows
            if dataset.query_ids[row] not in skipped
        }
        self.total = len(self._query_ids)
        self._order = {
            query_id: position for position, query_id in enumerate(self._query_ids.values())
        }
        self._settings = settings
        self._callbacks = callbacks
        self._results: dict[str, QueryResult] = {}

    @property
    def failed(self) -> str:
        """Return why the run cannot go on, "" as long as it can."""
        return next((counters.failed for counters in self._usage.values() if counters.failed), "")

    def wants(self, row: int) -> bool:
        """Return whether the run needs the query at *row*."""
        return row in self._query_ids

    def group_engine(self) -> GroupEngine:
        """Return this run as an engine of a group in this process."""
        counters = self._usage.setdefault("", UsageCounters())
        return GroupEngine(self.configuration, counters, self.report)

    def use(self, session: str, usage: UsageCounters) -> None:
        """Note what the run has used in *session* so far."""
        self._usage[session] = usage

    def add(self, result: QueryResult) -> None:
        """Add one more result."""
        answer = result.answer
        self._results[answer.query_id] = result
        self._callbacks.on_result(self.configuration.name, answer, result.sample)
        detail = {
            "query_id": answer.query_id,
            "outcome": answer.outcome.name.lower(),
            "latency_ns": answer.latency_ns,
        }
        self.report("answered", detail)

    def report(self, kind: EventKind, detail: Mapping[str, object]) -> None:
        """Report an event."""
        done = len(self._results)
        self._callbacks.listen(RunEvent(kind, self.configuration.name, done, self.total, detail))

    def measured(self, *, timed: bool, alone: bool = False) -> RunResult:
        """Return the run as far as it has come, and report that it is finished."""
        query_result = sorted(
            self._results.values(), key=lambda one: self._order[one.answer.query_id]
        )
        answers = [one.answer for one in query_result]
        error = self.failed or no_answer_error(answers)
        status = "failed" if error else "completed"
        if not error and len(answers) < self.total:
            status = "cancelled"
        spec, name = self.configuration.spec, self.configuration.name
        notes = self._notes(query_result) | {"status": status} | ({"error": error} if error else {})
        self.report("finished", {"status": status} | ({"error": error} if error else {}))
        metadata = {"seed": self._settings.seed, "k": self.configuration.k, TIES: AS_RETURNED}
        return RunResult(
            Run.of(answers, name=name, metadata=metadata),
            self._timings(query_result, alone=alone) if timed else None,
            spec.digest,
            name,
            notes,
        )

    def _timings(self, query_result: Sequence[QueryResult], *, alone: bool) -> Timings:
        usage = list(self._usage.values())
        samples = tuple(one.sample for one in query_result if one.sample)
        return Timings(
            samples=samples,
            index_ns=sum(one.index_ns for one in usage),
            index_bytes=max((one.index_bytes for one in usage), default=0),
            peak_bytes=max((one.peak_bytes for one in usage), default=0),
            warm_up=self._settings.warm_up,
            repetitions=self._settings.repetitions,
            # Without latencies, nothing can be disturbed.
            alone=alone or not samples,
        )

    def _notes(self, query_result: Sequence[QueryResult]) -> dict[str, object]:
        usage = list(self._usage.values())
        together = [name for one in usage[:1] for name in one.together]
        corpora = dict.fromkeys(corpus for one in usage for corpus in one.corpora)
        return {
            "seed": self._settings.seed,
            "corpora": list(corpora),
            **count_problems([one.answer for one in query_result]),
            "restarts": sum(one.restarts for one in usage),
            "work": _summed(one.work for one in usage),
            "tracebacks": {
                one.answer.query_id: one.traceback for one in query_result if one.traceback
            },
            **({"together": together} if together else {}),
            **self.slot_notes,
        }


def count_problems(answers: Sequence[Answer]) -> dict[str, object]:
    """Count failures and hits that were dropped or mended; list queries with unstable rankings."""
    extras = [(answer.query_id, answer.extra) for answer in answers]
    return {
        "failures": Counter(extra["reason"] for _, extra in extras if "reason" in extra),
        "invalid": _summed(extra.get("invalid") for _, extra in extras),
        "mended": _summed(extra.get("mended") for _, extra in extras),
        "unstable": [query_id for query_id, extra in extras if "unstable" in extra],
    }


def no_answer_error(answers: Sequence[Answer]) -> str:
    """Return the error of a run without any answered query, "" if one was answered."""
    if not answers or any(answer.outcome is Outcome.ANSWERED for answer in answers):
        return ""
    return f"no query was answered; the first error: {answers[0].extra.get('error', '')}"


def _summed(counts: Iterable[object]) -> dict[str, float]:
    total: dict[str, float] = {}
    for count in counts:
        if isinstance(count, Mapping):
            for name, number in count.items():
                total[name] = total.get(name, 0) + number
    return total
