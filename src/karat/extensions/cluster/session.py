"""Sessions on a slot: an engine group that stays alive from unit to unit."""

import threading
from collections.abc import Callable, Mapping, Set
from copy import deepcopy
from functools import partial
from time import monotonic
from uuid import uuid4

from karat.engines.base import EmbedPart
from karat.experiments.workers.plan import Group, QueryTexts, RunSettings, SnapshotQueries
from karat.experiments.workers.process import EngineFailure
from karat.experiments.workers.run_collector import (
    EventKind,
    GroupEngine,
    QueryResult,
    UsageCounters,
)
from karat.experiments.workers.session import GroupSession
from karat.experiments.workers.timing import TimedRun, TimedTurns
from karat.extensions.cluster.unit import (
    QueryEnded,
    RunNews,
    SlotEvent,
    TimedMachine,
    TimingTurn,
    Unit,
    UnitEnded,
    UnitLost,
)
from karat.model.frozen import EMPTY

# A session without a unit for so long ends by itself: the driver may be gone.
IDLE_S = 60.0

# Receives the events of a unit.
Emit = Callable[[SlotEvent], None]


class UnitSession:
    """The engines of a group, for one unit after the other."""

    def __init__(
        self,
        configurations: Group,
        settings: RunSettings,
        environment: Mapping[str, str] = EMPTY,
    ) -> None:
        """Start no process yet; *environment* are variables that this machine may lack."""
        self._queries = QueryTexts()
        self._emit: Emit = lambda _: None
        self._unit = ""
        self._session = GroupSession(
            configurations, self._queries, settings, self._report, environment
        )

    def run(self, unit: Unit, emit: Emit, stopped: Callable[[], bool]) -> None:
        """Run *unit* and pass its events to *emit*; *stopped* is called between queries."""
        self._emit, self._unit = emit, unit.id
        if unit.part:
            self._embed(unit, unit.part, emit, stopped)
            return
        self._queries.add(unit.queries)
        session = self._session
        session.run(
            [*unit.snapshots, *(SnapshotQueries(one, ()) for one in unit.ahead)],
            ((snapshot, row) for snapshot in unit.snapshots for row in snapshot.rows),
            lambda member, row: row not in unit.skip[member],
            lambda member, result: emit(QueryEnded(unit.id, member, result)),
            stopped,
        )
        if session.interrupted:
            # Its counters include engines that were killed on purpose.
            emit(UnitLost(unit.id, "the session was interrupted", counted=False))
        else:
            emit(UnitEnded(unit.id, session.id, deepcopy(session.usage)))

    def _embed(self, unit: Unit, part: EmbedPart, emit: Emit, stopped: Callable[[], bool]) -> None:
        """Embed a part of the texts of *unit*; its work is counted apart from that of searches."""
        session = self._session
        embedded: Mapping[int, int] | EngineFailure = {}
        if not stopped():
            embedded = session.group.embed([one.source for one in unit.snapshots], part)
        if isinstance(embedded, EngineFailure):
            if embedded.gone:
                emit(UnitLost(unit.id, embedded.message))
                return
            # A model that cannot embed is reported by the queries.
            embedded = {}
        usage = tuple(
            UsageCounters(
                work={"embedded": count} if (count := embedded.get(member)) else {},
                together=counters.together,
            )
            for member, counters in enumerate(session.usage)
        )
        emit(UnitEnded(unit.id, f"{session.id} embed {part.number}", usage))

    def interrupt(self) -> None:
        """Kill the processes from another thread; the running query has no result."""
        self._session.interrupt()

    def close(self) -> None:
        """End the processes."""
        self._session.close()

    def _report(self, member: int, kind: EventKind, detail: Mapping[str, object]) -> None:
        self._emit(RunNews(self._unit, member, kind, detail))


class TimingSession:
    """The engines of one unit that measures latency, each in turn."""

    def __init__(self, unit: Unit, turn: TimingTurn) -> None:
        """Start no process yet."""
        self.id = uuid4().hex
        self._turn = turn
        self._emit: Emit = lambda _: None
        self._interrupted = False
        self._usage = tuple(UsageCounters() for _ in unit.configurations)
        runs = [
            TimedRun(
                GroupEngine(configuration, usage, partial(self._report, unit.id, member)),
                partial(_wants, skip),
                partial(self._add, unit.id, member),
            )
            for member, (configuration, usage, skip) in enumerate(
                zip(unit.configurations, self._usage, unit.skip, strict=True)
            )
        ]
        self._turns = TimedTurns(
            runs, QueryTexts(unit.queries), unit.snapshots, unit.settings, unit.environment
        )

    def run(self, unit: Unit, emit: Emit, stopped: Callable[[], bool]) -> None:
        """Run *unit* as soon as no other karat run works on this machine."""
        self._emit = emit
        self._turns.take(self._turn.command, wait=self._turn.wait, cancelled=stopped)
        machine = TimedMachine(self._turns.alone, self._turns.load)
        emit(UnitEnded(unit.id, self.id, deepcopy(self._usage), machine))

    def interrupt(self) -> None:
        """Kill the processes from another thread; the running query has no result."""
        self._interrupted = True
        self._turns.interrupt()

    def close(self) -> None:
        """End the processes."""
        self._turns.close()

    def _add(self, unit: str, member: int, result: QueryResult) -> None:
        if not self._interrupted:
            self._emit(QueryEnded(unit, member, result))

    def _report(
        self, unit: str, member: int, kind: EventKind, detail: Mapping[str, object]
    ) -> None:
        self._emit(RunNews(unit, member, kind, detail))


def _wants(skip: Set[int], row: int) -> bool:
    return row not in skip


class SlotHost:
    """The worker side of one slot: runs units one by one, and keeps the session of the last.

    A unit of another engine group replaces the session. The host is used by one thread at a time,
    except for :meth:`stop`, :meth:`interrupt` and :meth:`expire`.
    """

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        """Start without a session."""
        self._clock = clock
        self._session: UnitSession | TimingSession | None = None
        self._group = ""
        self._busy = threading.Lock()
        self._stopped = threading.Event()
        self._interrupted = False
        self._used = clock()

    def run(self, unit: Unit, emit: Emit) -> None:
        """Run *unit* in the session of its group."""
        with self._busy:
            try:
                if self._session and (unit.timing or self._group != unit.group):
                    self._end()
                if not self._session:
                    self._session = (
                        TimingSession(unit, unit.timing)
                        if unit.timing
                        else UnitSession(unit.configurations, unit.settings, unit.environment)
                    )
                    self._group = unit.group
                if self._interrupted:
                    self._session.interrupt()
                self._session.run(unit, emit, self._stopped.is_set)
            finally:
                self._used = self._clock()

    @property
    def stopped(self) -> bool:
        """Return whether no further query may start."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Start no further query; the running one may end."""
        self._stopped.set()

    def interrupt(self) -> None:
        """Kill the running processes, from another thread."""
        self._interrupted = True
        self._stopped.set()
        if session := self._session:
            session.interrupt()

    def expire(self, idle_s: float = IDLE_S) -> bool:
        """End the session if it had no unit for *idle_s*; return whether none is left."""
        if not self._busy.acquire(blocking=False):
            return False
        try:
            if self._clock() - self._used >= idle_s:
                self._end()
            return self._session is None
        finally:
            self._busy.release()

    def close(self) -> None:
        """End the session."""
        with self._busy:
            self._end()

    def _end(self) -> None:
        session, self._session = self._session, None
        if session:
            session.close()
