"""The quality pass: what engines find, by as many processes at once as one likes; no times."""

import gc
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import zip_longest
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import NamedTuple

from karat.experiments.workers.announcements import announced
from karat.experiments.workers.plan import Group, RunSettings, Visit, pieces
from karat.experiments.workers.record import Hooks, Kind, Member, QueryResult, Record
from karat.experiments.workers.worker_group import WorkerGroup
from karat.model import Dataset
from karat.model.timings import Measured

__all__ = ["QUALITY", "quality", "settled"]


@contextmanager
def settled() -> Iterator[None]:
    """Let the collector look through what is new only.

    All modules and what they hold would take it tens of milliseconds, between two queries, and
    nothing of it is garbage.
    """
    if gc.get_freeze_count():
        # Somebody else has done so, and ends it.
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


# Nothing is timed, so nothing needs to be warm.
QUALITY = RunSettings(warm_up=0, repetitions=1)
# More pieces than processes, so that one with hard queries does not keep the others waiting.
PIECES_EACH = 4
JOIN_S = 0.1
# A signal that comes between two instructions wakes nobody who falls asleep right after it.
HEAR_S = 0.1
# How long the queries that are being asked may still take when all is cancelled.
LAST_S = 2.0


def quality(
    groups: Sequence[Group],
    dataset: Dataset,
    visits: Sequence[Visit],
    *,
    workers: int = 1,
    settings: RunSettings = QUALITY,
    hooks: Hooks | None = None,
    announcements: Path | None = None,
) -> list[Measured]:
    """Return the run of each configuration, group after group, without timings.

    All engines of a group run a query together and share work; each returns the hits that it would
    return alone. The queries are divided among *workers* processes, neighbouring snapshots to the
    same process; the hits do not depend on their number. Cancel works as in
    :func:`karat.experiments.workers.timing.timing`. The run is announced in the folder
    *announcements*, so that runs that measure latency see it; it never waits.
    """
    hooks = hooks or Hooks()
    done: list[Measured] = []
    interrupted = False
    for group in groups:
        records = [
            Record(configuration, dataset, visits, settings=settings, hooks=hooks)
            for configuration in group
        ]
        try:
            if not interrupted and not hooks.cancelled():
                with announced(hooks.command, announcements), settled():
                    for record in records:
                        record.tell("started", {"pass": "quality"})
                    _Shards(records, dataset, settings).run(visits, workers, hooks)
        except KeyboardInterrupt:
            interrupted = True
        done += [record.measured(timed=False) for record in records]
    return done


class _Said(NamedTuple):
    """What a thread has to tell of a run: an answer, or what became of its process."""

    record: Record
    news: QueryResult | tuple[Kind, Mapping[str, object]]


class _Shards:
    """The runs of a group by several processes, a thread for each; one queue has all answers."""

    def __init__(self, records: Sequence[Record], dataset: Dataset, settings: RunSettings) -> None:
        self._records = records
        self._dataset = dataset
        self._settings = settings
        self._crews: list[WorkerGroup] = []
        self._pieces: deque[list[Visit]] = deque()
        self._said: SimpleQueue[_Said | BaseException | None] = SimpleQueue()
        self._stop = threading.Event()
        self._interrupted = False

    def run(self, visits: Sequence[Visit], workers: int, hooks: Hooks) -> None:
        """Ask everything; answers, events and errors reach the caller in its own thread."""
        wanted = [
            Visit(source, tuple(row for row in rows if self._wanting(row)))
            for source, rows in visits
        ]
        self._pieces.extend(pieces(wanted, workers * PIECES_EACH))
        threads = [
            threading.Thread(
                target=self._work, args=(self._crew(),), name="karat-shard", daemon=True
            )
            for _ in range(min(workers, len(self._pieces)))
        ]
        for thread in threads:
            thread.start()
        running, deadline = len(threads), inf
        try:
            while running and monotonic() < deadline:
                try:
                    said = self._said.get(timeout=HEAR_S)
                except Empty:
                    pass
                else:
                    running -= self._heard(said)
                if not self._stop.is_set() and hooks.cancelled():
                    self._stop.set()
                    deadline = monotonic() + LAST_S
        except KeyboardInterrupt:
            self._end(threads)
            self._keep_the_rest()
            raise
        finally:
            self._end(threads)
        self._keep_the_rest()

    def _heard(self, said: _Said | BaseException | None) -> bool:
        """Pass on what a thread has *said*, and return whether it has ended."""
        if isinstance(said, BaseException):
            raise said
        if said is None:
            return True
        if isinstance(said.news, QueryResult):
            said.record.add(said.news)
        else:
            said.record.tell(*said.news)
        return False

    def _keep_the_rest(self) -> None:
        """Add the answers that came before the interruption and were not looked at."""
        while not self._said.empty():
            said = self._said.get()
            if isinstance(said, _Said) and isinstance(said.news, QueryResult):
                said.record.add(said.news)

    def _wanting(self, row: int) -> list[int]:
        """Return the places of the runs that lack the query at *row*, and can still be asked."""
        return [
            place
            for place, record in enumerate(self._records)
            if record.wants(row) and not record.failed
        ]

    def _crew(self) -> WorkerGroup:
        def member(record: Record) -> Member:
            return record.member(lambda *news: self._said.put(_Said(record, news)))

        crew = WorkerGroup(
            list(map(member, self._records)), self._dataset, self._settings, timed=False
        )
        self._crews.append(crew)
        return crew

    def _work(self, crew: WorkerGroup) -> None:
        try:
            for piece in self._left():
                self._ask(crew, piece)
        except BaseException as error:  # noqa: BLE001 - raised again by the caller's thread
            self._said.put(error)
        finally:
            crew.close()
            self._said.put(None)

    def _left(self) -> Iterator[list[Visit]]:
        """Yield pieces that no other thread has taken, until it is time to stop."""
        # Not asked ahead whether one is left: another thread may be faster.
        with suppress(IndexError):
            while not self._stop.is_set():
                yield self._pieces.popleft()

    def _ask(self, crew: WorkerGroup, piece: Sequence[Visit]) -> None:
        crew.expect(piece)
        for visit in piece:
            for row, after in zip_longest(visit.rows, visit.rows[1:]):
                wanting = self._wanting(row)
                if self._stop.is_set() or not wanting:
                    continue
                then = after if after is not None and self._wanting(after) == wanting else None
                for place, taken in crew.ask(visit, row, wanting, then):
                    if not self._interrupted:
                        self._said.put(_Said(self._records[place], taken))

    def _end(self, threads: Sequence[threading.Thread]) -> None:
        """Wait for the threads; those that still ask something are interrupted."""
        if any(thread.is_alive() for thread in threads):
            self._interrupted = True
            self._stop.set()
        while alive := [thread for thread in threads if thread.is_alive()]:
            for crew in self._crews:
                crew.interrupt()
            alive[0].join(JOIN_S)
