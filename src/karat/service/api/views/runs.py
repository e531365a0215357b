"""A run of a benchmark as the API shows it, wherever it appears."""

from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any

from karat.experiments.store import RunStatus, StoredRun
from karat.service.api.schemas.benchmarks import RunConfig
from karat.service.api.schemas.results import Timing
from karat.service.benchmarks import BenchmarkConfig
from karat.service.store import Benchmark

__all__ = [
    "config_hash",
    "config_of",
    "options_of",
    "shown_status",
    "timing_of",
    "timing_status",
]

NS_PER_MS = 1_000_000


def config_of(run: StoredRun) -> RunConfig:
    """Return the settings of *run* in the words of the request that made it."""
    return options_of(run.metadata["options"])  # type: ignore[arg-type]


def options_of(options: Mapping[str, Any]) -> RunConfig:
    """Return the options of a configuration; what its mode, or its engine, does not use is None."""
    return RunConfig(
        search_mode=options.get("search_mode"),
        engine=options.get("engine"),
        use_reranker=options.get("use_reranker", False),
        top_k=options["top_k"],
        rrf_k=options.get("rrf_k"),
        score_threshold=options.get("score_threshold"),
    )


def config_hash(run: StoredRun) -> str:
    """Return what tells apart any two runs that are not of the same engine and settings."""
    settings = f"{run.engine.digest} {run.metadata['k']} {run.metadata['threshold']}"
    return sha256(settings.encode()).hexdigest()


def shown_status(run: StoredRun, benchmark: Benchmark) -> str:
    """Return where *run* stands, as part of *benchmark*.

    It is completed as soon as all its queries are answered and scored; what became of its latency
    is told by :func:`timing_status`. Cancelling takes a moment to reach a worker, and one that had
    to stop has cancelled its runs, which the next one continues.
    """
    if run.scored:
        return RunStatus.COMPLETED.value
    if benchmark.status == "cancelled" and not run.status.ended:
        return RunStatus.CANCELLED.value
    if benchmark.status == "running" and run.status is RunStatus.CANCELLED:
        return RunStatus.PENDING.value
    return run.status.value


def timing_status(run: StoredRun, benchmark: Benchmark) -> str:
    """Return how far the latency of *run* is measured.

    ``pending`` is until it is done, also while it is being measured.
    """
    if not run.scored and run.status.ended and benchmark.status != "running":
        return "none"
    if run.status is RunStatus.COMPLETED:
        return "none" if run.index_ns is None else "done"
    if BenchmarkConfig.from_json(benchmark.config).timing == "none":
        return "none"
    if run.scored and run.status is RunStatus.FAILED:
        return "failed"
    return benchmark.status if benchmark.status in {"cancelled", "failed"} else "pending"


def timing_of(run: StoredRun) -> Timing:
    """Return where the time of *run* went; None where that is not known."""
    indexing = None if run.index_ns is None else run.index_ns / NS_PER_MS
    total = None
    if run.begun and run.ended and run.status.ended:
        total = (run.ended - run.begun) / timedelta(milliseconds=1)
    rest = None if total is None or indexing is None else max(total - indexing, 0.0)
    return Timing(indexing_ms=indexing, evaluation_ms=rest, total_ms=total)
