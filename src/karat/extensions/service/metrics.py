"""Metrics for Prometheus: requests, jobs, and the quality of the engines under test."""

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from karat.errors import KaratError, StoreUnavailable, UnknownName
from karat.experiments.store import StoredRun
from karat.extensions.ndcg.evaluator import recorder
from karat.extensions.service.store import ServiceEvent, ServiceStore
from karat.installation import __version__

__all__ = ["CONTENT_TYPE_LATEST", "RunMetrics", "ServiceMetrics"]

# As OpenTelemetry advises for the durations of requests, in seconds.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
LONG_SECONDS = (1, 5, 15, 60, 300, 900, 3600, 14_400)


class ServiceMetrics:
    """The metrics of one service, in a registry of its own.

    Labels are routes, statuses and cut-offs, never the text of a query: each value is a series.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self.registry = registry = CollectorRegistry()
        self._ndcg = recorder(True, registry)
        self.requests = Histogram(
            "karat_http_request_duration_seconds",
            "Duration of requests, by route; of streams, until they end.",
            ["method", "route", "status"],
            buckets=SECONDS,
            registry=registry,
        )
        self.queries = Counter(
            "karat_queries", "Finished queries, by status.", ["status"], registry=registry
        )
        self.search_latency = Histogram(
            "karat_search_latency_seconds",
            "Latency of a query, measured while nothing else ran.",
            buckets=(0.0005, 0.001, 0.0025, *SECONDS),
            registry=registry,
        )
        self.run_duration = Histogram(
            "karat_run_duration_seconds",
            "Duration of runs, by final status.",
            ["status"],
            buckets=LONG_SECONDS,
            registry=registry,
        )
        self.active_runs = Gauge("karat_active_runs", "Runs in progress.", registry=registry)
        self.retries = Counter(
            "karat_retries", "Engines restarted after a crash or a timeout.", registry=registry
        )
        self.cache_hits = Counter(
            "karat_cache_hits", "Embeddings read from a cache.", registry=registry
        )
        build = Gauge("karat_build_info", "Always 1.", ["version"], registry=registry)
        build.labels(version=__version__).set(1)

    def run_ended(
        self,
        status: str,
        *,
        seconds: float,
        outcomes: Mapping[str, int],
        latencies_s: Sequence[float],
        ndcg: Mapping[int, float],
        cache_hits: int = 0,
        retries: int = 0,
    ) -> None:
        """Count a run: its queries by outcome, its timed searches, and its mean NDCG by k."""
        self.run_duration.labels(status=status).observe(seconds)
        for outcome, count in outcomes.items():
            self.queries.labels(status=outcome).inc(count)
        for latency in latencies_s:
            self.search_latency.observe(latency)
        for k, value in ndcg.items():
            if self._ndcg is not None:
                self._ndcg(k, value)
        self.cache_hits.inc(cache_hits)
        self.retries.inc(retries)

    def text(self) -> bytes:
        """Return everything as Prometheus reads it."""
        return generate_latest(self.registry)


logger = logging.getLogger("karat.service")


class RunMetrics:
    """A subscriber of the event bus that counts each run that has ended.

    A run whose latency is not measured yet has not ended. A thread reads the numbers from the
    store, so that the event bus does not wait.
    """

    def __init__(self, store: ServiceStore, metrics: ServiceMetrics) -> None:
        """Start to count."""
        self._store = store
        self._metrics = metrics
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="run-metrics")
        # By operation, since a run that failed may end once more in another one.
        self._last: dict[str, str] = {}

    def __call__(self, event: ServiceEvent) -> None:
        """Handle *event*."""
        ended: Any = event.data.get("last_completed_run")
        if isinstance(ended, Mapping) and ended.get("timing_status") != "pending":
            self._thread.submit(self._count, event.operation, str(ended["run_id"]))
        if event.data.get("status") != "running":
            self._thread.submit(self._last.pop, event.operation, None)

    def close(self) -> None:
        """Count the events received so far, then stop."""
        self._thread.shutdown()

    def _count(self, operation: str, run_id: str) -> None:
        if self._last.get(operation) == run_id:
            return
        try:
            experiment = self._store.results.show(run_id.partition(".")[0])
            run = next(each for each in experiment.runs if each.id == run_id)
            # It was scored; another event follows when it has ended.
            if not run.status.ended:
                return
            self._last[operation] = run_id
            self._observe(run)
        except UnknownName:
            logger.info("a run was deleted before it was counted")
        except (KaratError, StopIteration) as error:
            # A traceback would name the host and the user of a database that is away.
            is_away = isinstance(error, StoreUnavailable)
            logger.error("a run could not be counted", exc_info=not is_away)  # noqa: TRY400

    def _observe(self, run: StoredRun) -> None:
        usage = self._store.benchmarks.run_usage(run.id)
        self._metrics.run_ended(
            run.status.value,
            seconds=(run.ended - run.begun).total_seconds() if run.begun and run.ended else 0.0,
            outcomes=usage.outcomes,
            latencies_s=[value / 1e3 for value in usage.latencies_ms],
            ndcg=self._ndcg(run),
            cache_hits=usage.notes.get("work", {}).get("reused", 0),
            retries=usage.notes.get("restarts", 0),
        )

    def _ndcg(self, run: StoredRun) -> dict[int, float]:
        ndcg_at = {}
        for summary in self._store.results.scores(run.id):
            name, _, k = summary.measure.partition("@")
            if name == "ndcg" and k.isdecimal() and summary.n:
                ndcg_at[int(k)] = summary.mean
        return ndcg_at
