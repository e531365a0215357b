"""The local executor: threads divide the queries, each with worker processes of this machine.

The queries of an engine group form shares: neighbouring snapshots with their queries. A thread runs
a share query by query, so that its session indexes each snapshot once and moves from one to the
next. A thread without a share takes one that nobody has begun, else the second half of the longest
one.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from math import inf
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from time import monotonic

from karat.errors import InputError
from karat.experiments.executors.base import CompleteGroup, Executor, QualityPass
from karat.experiments.workers.plan import QueryTexts, SnapshotQueries
from karat.experiments.workers.run_collector import EventKind, QueryResult
from karat.experiments.workers.session import GroupSession

# Poll: a signal that arrives right before the wait does not wake it up.
POLL_S = 0.1
# Seconds that running queries may still take after a cancel.
GRACE_S = 2.0
JOIN_S = 0.1


@dataclass(frozen=True, slots=True)
class LocalExecutor(Executor):
    """Runs engines in processes of this machine, at most *workers* at once."""

    workers: int = 1

    def collect(self, hits: QualityPass) -> Iterator[CompleteGroup]:
        """Run the queries in as many threads as there are workers."""
        yield from _LocalPass(hits, self.workers).run()


@dataclass(slots=True)
class Share:
    """Queries of *group* in the order in which one thread runs them; *begun* once it does."""

    group: int
    queries: deque[tuple[SnapshotQueries, int]]
    begun: bool = False

    def snapshots(self) -> list[SnapshotQueries]:
        """Return what is left, as snapshots with their rows."""
        alike = groupby(self.queries, key=lambda query: id(query[0]))
        some = (list(queries) for _, queries in alike)
        return [SnapshotQueries(one[0][0].source, tuple(row for _, row in one)) for one in some]


@dataclass(slots=True)
class _GroupState:
    """The number of unfinished *shares* of a group, and which of its engines have *failed*.

    *each_s* are the seconds of a query, *ready_s* those from the start of a session to its first
    result; None before there was one.
    """

    shares: int = 0
    failed: set[int] = field(default_factory=set)
    each_s: float | None = None
    ready_s: float | None = None


class Backlog:
    """The queries that no thread has taken yet; threads use it together."""

    def __init__(self, groups: Sequence[Sequence[SnapshotQueries]]) -> None:
        """Make one share of each of *groups* that has queries."""
        self._lock = Lock()
        self.states = [_GroupState() for _ in groups]
        self._shares: list[Share] = []
        for group, snapshots in enumerate(groups):
            queries = deque((one, row) for one in snapshots for row in one.rows)
            if queries:
                self._add(Share(group, queries))

    def take(self, group: int | None) -> Share | None:
        """Return the next share of a thread with a session of *group*; None if it is not needed."""
        with self._lock:
            free = [one for one in self._shares if not one.begun]
            mine = (one for one in free if one.group == group)
            share = next(mine, None) or (free[0] if free else self._steal(group))
            if share:
                share.begun = True
            return share

    def queries(self, share: Share) -> Iterator[tuple[SnapshotQueries, int]]:
        """Yield the queries of *share*, without those that other threads take meanwhile."""
        while True:
            with self._lock:
                if not share.queries:
                    return
                query = share.queries.popleft()
            yield query

    def end(self, group: int) -> bool:
        """Note the end of a share of *group*; return whether it was the last one."""
        with self._lock:
            self.states[group].shares -= 1
            return not self.states[group].shares

    def _add(self, share: Share) -> Share:
        self._shares.append(share)
        self.states[share.group].shares += 1
        return share

    def _steal(self, group: int | None) -> Share | None:
        """Cut the second half off the longest share, if that saves time."""
        ranked = sorted(self._shares, key=lambda one: (-self._seconds(one), one.group != group))
        for share in ranked:
            state, size = self.states[share.group], second_half(share.queries)
            # A session of another group has to start and index first.
            ready_s = 0.0 if share.group == group else state.ready_s
            if size and (not ready_s or size * (state.each_s or 0.0) > ready_s):
                tail = deque(share.queries.pop() for _ in range(size))
                tail.reverse()
                return self._add(Share(share.group, tail))
        return None

    def _seconds(self, share: Share) -> float:
        return len(share.queries) * (self.states[share.group].each_s or 1.0)


def second_half(queries: Sequence[tuple[SnapshotQueries, int]]) -> int:
    """Return how many of *queries* another thread can take: half of them at most.

    If there are several snapshots, they are whole ones, and at least the last one.

    >>> from karat.experiments.workers import Source
    >>> some = [SnapshotQueries(Source.of_texts({}), rows) for rows in ((1,), (2, 3), (4,))]
    >>> second_half([(snapshot, row) for snapshot in some for row in snapshot.rows])
    1
    >>> second_half([(some[1], row) for row in (1, 2, 3)])
    1
    """
    sizes = [len(list(alike)) for _, alike in groupby(queries, key=lambda query: id(query[0]))]
    if len(sizes) < 2:
        return len(queries) // 2
    tail = sizes.pop()
    while len(sizes) > 1 and 2 * (tail + sizes[-1]) <= len(queries):
        tail += sizes.pop()
    return tail


class _LocalPass:
    """The threads of a pass; what they report is handled in the thread of the caller."""

    def __init__(self, hits: QualityPass, workers: int) -> None:
        self.hits = hits
        self.queries = QueryTexts.of(hits.dataset)
        self.backlog = Backlog([hits.snapshots(group) for group in range(len(hits.collectors))])
        self.events: SimpleQueue[Callable[[], object] | BaseException] = SimpleQueue()
        self.stopped = Event()
        self._complete: list[int] = []
        self._threads = [_Worker(self) for _ in range(workers)]

    def run(self) -> Iterator[CompleteGroup]:
        """Run all queries, and yield each group that is complete."""
        for thread in self._threads:
            thread.start()
        try:
            try:
                yield from self._follow()
            finally:
                self._close()
        except KeyboardInterrupt:
            self._handle_rest()
            raise
        self._handle_rest()

    def ended(self, session: GroupSession, group: int) -> None:
        """Note the end of a share; the counters of engines killed on purpose do not count."""
        if not session.interrupted:
            for collector, usage in zip(self.hits.collectors[group], session.usage, strict=True):
                collector.use(session.id, usage)
        if self.backlog.end(group) and not self.stopped.is_set():
            self._complete.append(group)

    def _follow(self) -> Iterator[CompleteGroup]:
        deadline = inf
        while self.hits.left and monotonic() < deadline:
            # Before the queue: a thread that ends has put its last event.
            working = any(thread.is_alive() for thread in self._threads)
            if not self._handle(POLL_S) and not working:
                return
            for group in self._complete:
                yield self.hits.complete(group)
            self._complete.clear()
            if deadline == inf and self.hits.callbacks.cancelled():
                deadline = monotonic() + GRACE_S
                self.stopped.set()

    def _handle(self, timeout_s: float) -> bool:
        """Handle the next event, if there is one in time; raise the error of a thread."""
        try:
            event = self.events.get(timeout=timeout_s) if timeout_s else self.events.get_nowait()
        except Empty:
            return False
        if isinstance(event, BaseException):
            raise event
        event()
        return True

    def _handle_rest(self) -> None:
        """Handle what was not looked at before the end."""
        while self._handle(0):
            pass

    def _close(self) -> None:
        """End all threads; those with a running query are interrupted."""
        self.stopped.set()
        while alive := [thread for thread in self._threads if thread.is_alive()]:
            # One whose share has just ended closes its engines in order.
            alive[0].join(JOIN_S)
            for thread in alive:
                thread.interrupt()


class _Worker(Thread):
    """Runs share after share, in a session for each engine group."""

    def __init__(self, work: _LocalPass) -> None:
        super().__init__(name="karat-worker", daemon=True)
        self._work = work
        self._session: GroupSession | None = None
        self._group: int | None = None
        self._busy = False

    def run(self) -> None:
        """Run shares until nothing is left to take."""
        work = self._work
        try:
            while not work.stopped.is_set() and (share := work.backlog.take(self._group)):
                self._busy = True
                self._run(share)
                self._busy = False
        except BaseException as error:  # noqa: BLE001 - raised again by the caller's thread
            work.events.put(error)
        finally:
            if self._session:
                self._session.close()

    def interrupt(self) -> None:
        """Kill the running query, from another thread."""
        if self._busy and (session := self._session):
            session.interrupt()

    def _run(self, share: Share) -> None:
        work, group = self._work, share.group
        state, collectors = work.backlog.states[group], work.hits.collectors[group]
        new = self._group != group
        session = self._session if self._session and not new else self._start(group)

        def wants(member: int, row: int) -> bool:
            return member not in state.failed and collectors[member].wants(row)

        def add(member: int, result: QueryResult) -> None:
            work.events.put(partial(collectors[member].add, result))

        queries = _timed(work.backlog.queries(share), state, new=new)
        session.run(share.snapshots(), queries, wants, add, work.stopped.is_set)
        state.failed.update(member for member, usage in enumerate(session.usage) if usage.failed)
        work.events.put(partial(work.ended, session, group))

    def _start(self, group: int) -> GroupSession:
        """Return a new session of *group*, which replaces that of another group."""
        if self._session:
            self._session.close()
        work, collectors = self._work, self._work.hits.collectors[group]

        def report(member: int, kind: EventKind, detail: Mapping[str, object]) -> None:
            work.events.put(partial(collectors[member].report, kind, detail))

        configurations = tuple(one.configuration for one in collectors)
        self._session = GroupSession(configurations, work.queries, work.hits.settings, report)
        self._group = group
        return self._session


def _timed(
    queries: Iterator[tuple[SnapshotQueries, int]], state: _GroupState, *, new: bool
) -> Iterator[tuple[SnapshotQueries, int]]:
    """Yield *queries*, and note in *state* how long they take, and a *new* session before them."""
    since = first = monotonic()
    for number, query in enumerate(queries):
        # Each is taken when the one before the last has ended.
        now = monotonic()
        if number == 2:
            first = now
            state.ready_s = now - since if new else state.ready_s
        elif number > 2:
            state.each_s = (now - first) / (number - 2)
        yield query


def local_executor(address: str, workers: int) -> LocalExecutor:
    """Return an executor on this machine; *address* may be a number of workers."""
    if address and not (address.isascii() and address.isdigit() and int(address)):
        raise InputError(
            f"executor local:{address}: {address!r} is not a number of workers above 0; expected "
            "local or, for example, local:8"
        )
    return LocalExecutor(int(address) if address else workers)
