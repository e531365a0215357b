"""The quality pass: what engines find, by as many processes at once as one likes; no times."""

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from karat.model import Dataset
from karat.model.timings import Measured
from karat.runner.alone import lock_file, working
from karat.runner.events import Hooks, Kind
from karat.runner.lane import Lane, Taken
from karat.runner.plan import Configuration, Settings, Visit, pieces
from karat.runner.record import Record

__all__ = ["QUALITY", "quality"]

# Nothing is timed, so nothing needs to be warm.
QUALITY = Settings(warm_up=0, repetitions=1)
# More pieces than processes, so that one with hard queries does not keep the others waiting.
PIECES_EACH = 4
JOIN_S = 0.1


def quality(
    configurations: Sequence[Configuration],
    dataset: Dataset,
    visits: Sequence[Visit],
    *,
    workers: int = 1,
    settings: Settings = QUALITY,
    hooks: Hooks | None = None,
    lock: Path | None = None,
) -> list[Measured]:
    """Return the run of each configuration, one after the other, without timings.

    The queries of one are shared out among *workers* processes, neighbouring trees to the same
    one; the answers do not depend on their number. Cancelling is as for
    :func:`karat.runner.timing.timing`.
    """
    hooks = hooks or Hooks()
    done: list[Measured] = []
    interrupted = False
    for configuration in configurations:
        record = Record(configuration, dataset, visits, settings=settings, hooks=hooks)
        try:
            waiting = _Waiting(record)
            place = lock or lock_file()
            with working(place, alone=False, waiting=waiting, cancelled=hooks.cancelled):
                if not interrupted and not hooks.cancelled():
                    record.tell("started", {"pass": "quality"})
                    _Shards(record, dataset, settings).run(workers, hooks)
        except KeyboardInterrupt:
            interrupted = True
        done.append(record.measured(timed=False))
    return done


class _Waiting:
    def __init__(self, record: Record) -> None:
        self._record = record

    def __call__(self) -> None:
        self._record.tell("waiting", {})


class _Said(NamedTuple):
    """What a thread has to tell: what became of its process, or the error that ended it."""

    kind: Kind
    detail: Mapping[str, object]
    error: BaseException | None = None


class _Shards:
    """One run by several processes, a thread for each; all answers go through one queue."""

    def __init__(self, record: Record, dataset: Dataset, settings: Settings) -> None:
        self._record = record
        self._dataset = dataset
        self._settings = settings
        self._pieces: deque[list[Visit]] = deque()
        self._news: SimpleQueue[Taken | _Said | None] = SimpleQueue()
        self._stop = threading.Event()
        self._interrupted = False

    def run(self, workers: int, hooks: Hooks) -> None:
        """Ask everything; answers, events and errors reach the caller in its own thread."""
        self._pieces.extend(pieces(self._record.visits, workers * PIECES_EACH))
        threads = [
            threading.Thread(
                target=self._work, args=(self._lane(),), name="karat-shard", daemon=True
            )
            for _ in range(min(workers, len(self._pieces)))
        ]
        for thread in threads:
            thread.start()
        running = len(threads)
        try:
            while running:
                news = self._news.get()
                if news is None:
                    running -= 1
                elif isinstance(news, Taken):
                    self._record.add(news)
                elif news.error:
                    raise news.error
                else:
                    self._record.tell(news.kind, news.detail)
                if hooks.cancelled():
                    self._stop.set()
        except KeyboardInterrupt:
            self._end(threads)
            self._keep_the_rest()
            raise
        finally:
            self._end(threads)

    def _keep_the_rest(self) -> None:
        """Add the answers that came before the interruption and were not looked at."""
        while not self._news.empty():
            news = self._news.get()
            if isinstance(news, Taken):
                self._record.add(news)

    def _lane(self) -> Lane:
        def tell(kind: Kind, detail: Mapping[str, object]) -> None:
            self._news.put(_Said(kind, detail))

        record = self._record
        lane = Lane(record.configuration, self._dataset, self._settings, timed=False, tell=tell)
        record.lanes.append(lane)
        return lane

    def _work(self, lane: Lane) -> None:
        try:
            while not self._stop.is_set() and self._pieces:
                self._ask(lane, self._pieces.popleft())
        except BaseException as error:  # noqa: BLE001 - raised again by the caller's thread
            self._news.put(_Said("finished", {}, error))
        finally:
            lane.close()
            self._news.put(None)

    def _ask(self, lane: Lane, piece: Sequence[Visit]) -> None:
        lane.expect(piece)
        for visit in piece:
            for row in visit.rows:
                if self._stop.is_set():
                    return
                taken = lane.ask(visit, row)
                if taken and not self._interrupted:
                    self._news.put(taken)
                if lane.failed:
                    self._stop.set()
                    return

    def _end(self, threads: Sequence[threading.Thread]) -> None:
        """Wait for the threads; those that still ask something are interrupted."""
        if any(thread.is_alive() for thread in threads):
            self._interrupted = True
            self._stop.set()
        while alive := [thread for thread in threads if thread.is_alive()]:
            for lane in self._record.lanes:
                lane.interrupt()
            alive[0].join(JOIN_S)
