"""The rules of a gate, from what a user writes."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite

from karat.errors import InputError
from karat.metrics import Measure, parse

__all__ = ["Rules", "parse_rules"]

PERCENTILE = re.compile(r"p(?P<at>\d{1,3}(\.\d+)?)", re.IGNORECASE)
DURATION = re.compile(r"(?P<amount>\d+(\.\d+)?)\s*(?P<unit>us|ms|s)", re.IGNORECASE)
IN_MS = {"us": 0.001, "ms": 1.0, "s": 1_000.0}


@dataclass(frozen=True, slots=True)
class Rules:
    """What a run must hold to.

    *minimums* are means by measure, *regressions* what a mean may lose against the baseline, and
    *any_regression* the same for every other measure between 0 and 1. *latencies_ms* are the most
    milliseconds by percentile. A check on fewer than *min_queries* is inconclusive, which fails
    only with *strict*.
    """

    minimums: Mapping[Measure, float] = field(default_factory=dict)
    regressions: Mapping[Measure, float] = field(default_factory=dict)
    any_regression: float | None = None
    latencies_ms: Mapping[float, float] = field(default_factory=dict)
    min_queries: int = 1
    strict: bool = False


def parse_rules(
    *,
    minimums: Iterable[str] = (),
    regressions: Iterable[str] = (),
    latencies: Iterable[str] = (),
    min_queries: int = 1,
    strict: bool = False,
    level: float = 0.0,
) -> Rules:
    """Return the rules in texts such as ``hit@5=0.7``, ``0.02`` and ``p90=200ms``.

    *level* is the lowest relevant grade of measures that do not say it.

    >>> rules = parse_rules(minimums=["nDCG@10=0.6"], latencies=["p90=0.2s"])
    >>> {str(measure): least for measure, least in rules.minimums.items()}, rules.latencies_ms
    ({'ndcg@10': 0.6}, {90.0: 200.0})
    """
    least = {}
    for text in minimums:
        measure, limit = _limited(text, level)
        if not measure.definition.higher_is_better:
            raise InputError(f"{text!r}: less of {measure} is better; a minimum says nothing")
        low, high = measure.bounds
        if not low <= limit <= high:
            raise InputError(f"{text!r}: {measure} is {low:g} to {high:g}, never {limit:g}")
        least[measure] = limit
    lost = {}
    of_all: float | None = None
    for text in regressions:
        if "=" not in text:
            # It is for the measures between 0 and 1.
            of_all = _allowed(text, text, most=1.0)
        else:
            measure, limit = _limited(text, level)
            if measure.definition.average != "arithmetic":
                raise InputError(f"{text!r}: {measure} is no plain mean and has no paired test")
            low, high = measure.bounds
            lost[measure] = _allowed(text, str(limit), most=high - low)
    return Rules(least, lost, of_all, dict(map(_latency, latencies)), min_queries, strict)


def _limited(text: str, level: float) -> tuple[Measure, float]:
    """Return measure and limit; the last equals sign parts them, for parameters have some too."""
    name, equals, value = text.rpartition("=")
    if not equals:
        raise InputError(f"{text!r} is no rule; expected such as ndcg@10=0.6")
    return parse(name, level=level), _number(text, value)


def _allowed(text: str, value: str, *, most: float) -> float:
    limit = _number(text, value)
    if not 0 <= limit <= most:
        up_to = f"to {most:g}" if isfinite(most) else "or more"
        raise InputError(f"{text!r}: what may be lost is 0 {up_to}")
    return limit


def _latency(text: str) -> tuple[float, float]:
    name, _, value = text.partition("=")
    percentile = PERCENTILE.fullmatch(name.strip())
    duration = DURATION.fullmatch(value.strip())
    if not percentile or not duration or float(percentile["at"]) > 100:
        raise InputError(f"{text!r} is no limit of a latency; expected such as p90=200ms")
    return float(percentile["at"]), float(duration["amount"]) * IN_MS[duration["unit"].lower()]


def _number(text: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        raise InputError(f"{text!r}: {value!r} is no number; expected such as 0.7") from None
    if not isfinite(number):
        raise InputError(f"{text!r}: {value!r} is no finite number")
    return number
