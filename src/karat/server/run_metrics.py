"""Runs that end anywhere, in whichever process, are counted where Prometheus asks."""

import logging
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from karat.errors import KaratError, UnknownName
from karat.model import Outcome
from karat.server.metrics import Metrics
from karat.store import StoredRun
from karat.store.service import Event, ServiceStore

__all__ = ["RunMetrics"]

logger = logging.getLogger("karat.server")


class RunMetrics:
    """Hears the stream of events, and counts each run of which it says that it has ended.

    A run whose latency is not measured yet has not. The numbers are read from the store, in a
    thread: what hears the stream must not wait.
    """

    def __init__(self, store: ServiceStore, metrics: Metrics) -> None:
        """Start to count."""
        self._store = store
        self._metrics = metrics
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="run-metrics")
        # By operation, since a run that failed may end once more in another one.
        self._last: dict[str, str] = {}

    def __call__(self, event: Event) -> None:
        """Take notice of *event*."""
        ended: Any = event.data.get("last_completed_run")
        if isinstance(ended, Mapping) and ended.get("timing_status") != "pending":
            self._thread.submit(self._count, event.operation, str(ended["run_id"]))
        if event.data.get("status") != "running":
            self._thread.submit(self._last.pop, event.operation, None)

    def close(self) -> None:
        """Count what was heard, and no more."""
        self._thread.shutdown()

    def _count(self, operation: str, run_id: str) -> None:
        if self._last.get(operation) == run_id:
            return
        try:
            experiment = self._store.results.show(run_id.partition(".")[0])
            run = next(each for each in experiment.runs if each.id == run_id)
            # It was scored; that it has ended is told as well.
            if not run.status.ended:
                return
            self._last[operation] = run_id
            self._observe(run)
        except UnknownName:
            logger.info("a run was deleted before it was counted")
        except (KaratError, StopIteration):
            logger.exception("a run could not be counted")

    def _observe(self, run: StoredRun) -> None:
        measured = self._store.results.measured(run.id)
        outcomes = Counter(Outcome(code).name.lower() for code in measured.run.outcomes)
        timings = measured.timings
        notes: Any = measured.notes
        self._metrics.run_ended(
            run.status.value,
            seconds=(run.ended - run.begun).total_seconds() if run.begun and run.ended else 0.0,
            outcomes=outcomes,
            latencies_s=[value / 1e3 for value in timings.latencies_ms()] if timings else [],
            ndcg=self._ndcg(run),
            cache_hits=notes.get("work", {}).get("reused", 0),
            retries=notes.get("restarts", 0),
        )

    def _ndcg(self, run: StoredRun) -> dict[int, float]:
        found = {}
        for summary in self._store.results.scores(run.id):
            name, _, k = summary.measure.partition("@")
            if name == "ndcg" and k.isdecimal() and summary.n:
                found[int(k)] = summary.mean
        return found
