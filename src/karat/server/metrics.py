"""Numbers for Prometheus: what the service does, and how good the searches are that it measures."""

from collections.abc import Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from karat.installation import __version__
from karat.ndcg.histogram import recorder

__all__ = ["CONTENT_TYPE_LATEST", "Metrics"]

# As OpenTelemetry advises for the durations of requests, in seconds.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
LONG_SECONDS = (1, 5, 15, 60, 300, 900, 3600, 14_400)


class Metrics:
    """The metrics of one service, in a registry of its own.

    Labels are routes, statuses and cut-offs, never the text of a query: each value is a series.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self.registry = registry = CollectorRegistry()
        self._ndcg = recorder(True, registry)
        self.requests = Histogram(
            "karat_http_request_duration_seconds",
            "How long requests took, by route; streams count until they end.",
            ["method", "route", "status"],
            buckets=SECONDS,
            registry=registry,
        )
        self.queries = Counter(
            "karat_queries", "Queries that have ended, by how.", ["status"], registry=registry
        )
        self.search_latency = Histogram(
            "karat_search_latency_seconds",
            "How long one search took, where it was timed alone.",
            buckets=(0.0005, 0.001, 0.0025, *SECONDS),
            registry=registry,
        )
        self.run_duration = Histogram(
            "karat_run_duration_seconds",
            "How long runs took, by how they ended.",
            ["status"],
            buckets=LONG_SECONDS,
            registry=registry,
        )
        self.active_runs = Gauge(
            "karat_active_runs", "Runs that are being worked on.", registry=registry
        )
        self.retries = Counter(
            "karat_retries", "Engines started again because they died or hung.", registry=registry
        )
        self.cache_hits = Counter(
            "karat_cache_hits", "Embeddings found in a cache.", registry=registry
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
