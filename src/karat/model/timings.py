"""Latencies of the queries of a run, and its other costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from karat.model.equality import by_value
from karat.model.frozen import EMPTY
from karat.model.run import Run

__all__ = ["LatencySample", "RunResult", "Timings", "latency_ms"]

NS_PER_MS = 1_000_000


@by_value
class LatencySample(NamedTuple):
    """The latencies of one answered query; errors and timeouts have none.

    *cold_ns* is the first repetition, after a reset of the engine if it supports that; *warm_ns*
    are the further ones. *first_result_ns* is the time to the first hit of a streamed answer, 0 if
    answers are not streamed. *phases*, *tokens* and *cost* are reported by the engine for its first
    repetition.
    """

    query_id: str
    cold_ns: int
    warm_ns: tuple[int, ...] = ()
    first_result_ns: int = 0
    phases: Mapping[str, int] = EMPTY
    tokens: int = 0
    cost: float = 0.0


def latency_ms(sample: LatencySample) -> float:
    """Return the latency of a query: the median of its warm repetitions, else the cold one.

    >>> latency_ms(LatencySample("q1", 9_000_000, (2_000_000, 1_000_000)))
    1.5
    """
    from statistics import median

    return median(sample.warm_ns or (sample.cold_ns,)) / NS_PER_MS


@dataclass(frozen=True, slots=True)
class Timings:
    """The latencies of one run, in the order of the queries.

    *index_bytes* is 0 if the engine does not report the size of its index; *peak_bytes* is the peak
    memory of the engine's process. *warm_up* queries ran before the first sample. *alone* means
    that no other work of Karat ran at the same time; only then are the latencies reliable.
    """

    samples: tuple[LatencySample, ...]
    index_ns: int
    index_bytes: int
    peak_bytes: int
    warm_up: int
    repetitions: int
    alone: bool

    def latencies_ms(self) -> tuple[float, ...]:
        """Return the latency of each sample; see ``karat.scoring.stats.percentiles``."""
        return tuple(latency_ms(sample) for sample in self.samples)

    def cold_ms(self) -> tuple[float, ...]:
        """Return the latency of each first repetition."""
        return tuple(sample.cold_ns / NS_PER_MS for sample in self.samples)


@by_value
@dataclass(frozen=True, slots=True)
class RunResult:
    """A run with its timings; None if they were not measured.

    *engine* is the digest of the engine's specification, *name* the name in reports. *notes* are
    remarks for the reader, as JSON values.
    """

    run: Run
    timings: Timings | None
    engine: str
    name: str
    notes: Mapping[str, object] = field(default_factory=dict)
