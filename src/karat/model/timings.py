"""Latencies of the queries of a run, and its other costs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

from karat.model.frozen import EMPTY, by_value
from karat.model.run import Run

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


# The keys of notes on targets that were not searched.
MISSING_NOTE, LEFT_OUT_NOTE = "unresolved", "left_out"


@by_value
@dataclass(frozen=True, slots=True, eq=False)
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

    @property
    def missing(self) -> Mapping[str, Sequence[str]]:
        """The paths of targets that do not exist in the searched files, by query.

        In a run file they are in the metadata.
        """
        missing = self.notes.get(MISSING_NOTE, self.run.metadata.get(MISSING_NOTE))
        return missing if isinstance(missing, Mapping) else EMPTY

    @property
    def left_out(self) -> Mapping[str, str]:
        """The paths of targets that exist and were not searched, with the reasons."""
        reasons = self.notes.get(LEFT_OUT_NOTE, self.run.metadata.get(LEFT_OUT_NOTE))
        return reasons if isinstance(reasons, Mapping) else EMPTY


TOTALS = ("tokens", "total_tokens", "tokens_used")
# Two vocabularies for the same two counts; an answer may have both.
INPUT = ("input_tokens", "prompt_tokens")
OUTPUT = ("output_tokens", "completion_tokens")
TOKEN_NAMES = (*TOTALS, *INPUT, *OUTPUT)
COST_NAMES = ("cost", "cost_usd", "total_cost")
# Keys under which providers of language models report their counts, and under which an answer of
# the Model Context Protocol, or of any other, may have all values.
USAGE = "usage"
METADATA = ("_meta", "metadata")
# Larger integers are not exact in a float; no query costs as much.
MOST = 2.0**53


@by_value
class QueryCost(NamedTuple):
    """Tokens and money of one query, None if the engine does not report them.

    *ignored* counts reported values that are not finite numbers from 0 up.
    """

    tokens: int | None = None
    cost: float | None = None
    ignored: int = 0


def spent(metadata: Mapping[str, object]) -> QueryCost:
    """Return the spending that *metadata* of an answer reports.

    If there is no total, the tokens of input and output are summed.

    >>> spent({"usage": {"input_tokens": 900, "output_tokens": 100}, "cost_usd": 0.002})
    QueryCost(tokens=1000, cost=0.002, ignored=0)
    >>> spent({"tokens": -5})
    QueryCost(tokens=None, cost=None, ignored=1)
    """
    if not metadata:
        return QueryCost()
    tokens = reported(metadata, TOKEN_NAMES)
    costs = reported(metadata, COST_NAMES)
    parts = [_first(tokens, names) for names in (INPUT, OUTPUT)]
    count = _first(tokens, TOTALS)
    if count is None and parts != [None, None]:
        count = sum(part for part in parts if part is not None)
    ignored = sum(_number(value) is None for value in (*tokens.values(), *costs.values()))
    return QueryCost(None if count is None else round(count), _first(costs, COST_NAMES), ignored)


def reported(answer: object, names: Iterable[str]) -> dict[str, object]:
    """Return the values of *names* in *answer*: at its top level, in ``usage`` or ``metadata``.

    The top level wins over ``usage``, and both over ``metadata`` and ``_meta``. Lists and mappings
    are unrelated values under the same name, so they are not counted as ignored.

    >>> reported({"hits": [], "metadata": {"cost": 1, "usage": {"cost": 2}}}, ["cost"])
    {'cost': 1}
    """
    if not isinstance(answer, Mapping):
        return {}
    values: dict[str, object] = {}
    for outer in (*(answer.get(name) for name in METADATA), answer):
        if isinstance(outer, Mapping):
            usage = outer.get(USAGE)
            for level in (usage if isinstance(usage, Mapping) else {}, outer):
                values.update({name: level[name] for name in names if _is_value(level.get(name))})
    return values


def total(parts: Iterable[QueryCost]) -> QueryCost:
    """Return the total spending of several queries.

    >>> total([QueryCost(3, 0.5), QueryCost(4)])
    QueryCost(tokens=7, cost=0.5, ignored=0)
    """
    all_of = list(parts)
    tokens = [part.tokens for part in all_of if part.tokens is not None]
    costs = [part.cost for part in all_of if part.cost is not None]
    return QueryCost(
        sum(tokens) if tokens else None,
        sum(costs) if costs else None,
        sum(part.ignored for part in all_of),
    )


def spent_in(extra: Mapping[str, object]) -> QueryCost:
    """Return the spending stored in the *extra* of an answer under ``spent``.

    >>> spent_in({"spent": {"tokens": 12}})
    QueryCost(tokens=12, cost=None, ignored=0)
    """
    stored = extra.get("spent")
    if not isinstance(stored, Mapping):
        return QueryCost()
    spending = spent({name: stored.get(name) for name in ("tokens", "cost")})
    ignored = stored.get("ignored")
    return spending._replace(ignored=ignored) if isinstance(ignored, int) else spending


def _first(values: Mapping[str, object], names: Iterable[str]) -> float | None:
    numbers = (_number(values.get(name)) for name in names)
    return next((number for number in numbers if number is not None), None)


def _is_value(value: object) -> bool:
    return value is not None and not isinstance(value, Mapping | list | tuple)


def _number(value: object) -> float | None:
    """Return *value*, a number or its text, as a finite number of 0 or more, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) and 0 <= number <= MOST else None
