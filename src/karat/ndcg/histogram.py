"""The Prometheus histogram ``vector_ndcg_avg``."""

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from karat.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Histogram

__all__ = ["BUCKETS", "recorder", "vector_ndcg_avg"]

# The first counts exact zeros: rankings that found nothing.
BUCKETS = tuple(step / 10 for step in range(11))

_histograms: "WeakKeyDictionary[CollectorRegistry, Histogram]" = WeakKeyDictionary()
_lock = Lock()


def vector_ndcg_avg(registry: "CollectorRegistry | None" = None) -> "Histogram":
    """Return the histogram of *registry* (Prometheus' own without one), registered only once.

    Label ``k`` is the cut-off. Raise MissingExtra without prometheus_client.
    """
    try:
        from prometheus_client import REGISTRY, Histogram
    except ImportError as missing:
        raise MissingExtra(
            "prometheus-client", extra="prometheus", purpose="the histogram vector_ndcg_avg"
        ) from missing
    registry = REGISTRY if registry is None else registry
    with _lock:
        known = _histograms.get(registry)
        if known is not None:
            return known
        try:
            made = Histogram(
                "vector_ndcg_avg",
                "NDCG of evaluated rankings, by cut-off k.",
                labelnames=["k"],
                buckets=BUCKETS,
                registry=registry,
            )
        except ValueError:
            raise InputError(
                "the registry holds another metric named vector_ndcg_avg; give a registry of its "
                "own, or prometheus=False"
            ) from None
        _histograms[registry] = made
        return made


def recorder(
    wanted: bool | None, registry: "CollectorRegistry | None"
) -> Callable[[int, float], None] | None:
    """Return what records (k, ndcg); None where it is not *wanted* or, undecided, not installed."""
    if wanted is False:
        return None
    try:
        histogram = vector_ndcg_avg(registry)
    except MissingExtra:
        if wanted:
            raise
        return None

    def record(k: int, value: float) -> None:
        histogram.labels(k=str(k)).observe(value)

    return record
