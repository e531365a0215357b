"""How long the queries of a run took, and what else the run cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from karat.model.equality import by_value
from karat.model.frozen import EMPTY
from karat.model.run import Run

__all__ = ["Measured", "Sample", "Timings", "latency_ms"]

NS_PER_MS = 1_000_000


@by_value
class Sample(NamedTuple):
    """The times of one answered query; errors and timeouts have none.

    *cold_ns* is the first repetition, after the engine was reset where it can be, and *warm_ns*
    are the further ones. *first_result_ns* is when the first hit of a streamed answer came, 0
    where answers come whole. *phases*, *tokens* and *cost* are what the engine says of its first
    repetition.
    """

    query_id: str
    cold_ns: int
    warm_ns: tuple[int, ...] = ()
    first_result_ns: int = 0
    phases: Mapping[str, int] = EMPTY
    tokens: int = 0
    cost: float = 0.0


def latency_ms(sample: Sample) -> float:
    """Return the latency of a query: the median of its warm repetitions, else the cold one.

    >>> latency_ms(Sample("q1", 9_000_000, (2_000_000, 1_000_000)))
    1.5
    """
    from statistics import median

    return median(sample.warm_ns or (sample.cold_ns,)) / NS_PER_MS


@dataclass(frozen=True, slots=True)
class Timings:
    """The times of one run, in the order asked.

    *index_bytes* is 0 where the engine does not say how large its index is; *peak_bytes* is the
    most memory that the process of the engine held. *warm_up* queries came before the first
    sample. *alone* says that no other work of Karat ran at the same time; only then do the times
    tell how fast the engine is.
    """

    samples: tuple[Sample, ...]
    index_ns: int
    index_bytes: int
    peak_bytes: int
    warm_up: int
    repetitions: int
    alone: bool

    def latencies_ms(self) -> tuple[float, ...]:
        """Return the latency of each sample; ``karat.scoring.stats.percentiles`` sums them up."""
        return tuple(latency_ms(sample) for sample in self.samples)

    def cold_ms(self) -> tuple[float, ...]:
        """Return the time of each first repetition."""
        return tuple(sample.cold_ns / NS_PER_MS for sample in self.samples)


@by_value
@dataclass(frozen=True, slots=True)
class Measured:
    """A run with its timings; None where they were not measured.

    *engine* is the digest of the specification that the engine was built from, *name* what
    reports call it. *notes* holds what a reader must know beside the numbers, as JSON can hold it.
    """

    run: Run
    timings: Timings | None
    engine: str
    name: str
    notes: Mapping[str, object] = field(default_factory=dict)
