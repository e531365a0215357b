"""One rule of a gate, applied: the decision and the sentence that gives its reason."""

from collections.abc import Sequence
from math import isnan

from karat.errors import InputError
from karat.model.comparison import Difference, Interval
from karat.model.evaluation import Summary
from karat.model.gate import Check, Decision
from karat.report.compare_view import range_cell
from karat.report.score_view import queries
from karat.report.table import number
from karat.stats import percentiles
from karat.stats.percentile import least_values

__all__ = ["latency_check", "minimum_check", "regression_check"]

DIGITS = 3
# Sums of the same numbers in another order differ by less; a limit that is just met is met.
SAME = 1e-9


def minimum_check(summary: Summary, limit: float, *, min_queries: int = 1) -> Check:
    """Return whether the mean in *summary* is at least *limit*; the interval is only shown."""
    if isnan(summary.mean):
        raise InputError(f"no query has a score on {summary.measure}; nothing can be checked")
    why = f"the mean is {_with_range(summary.mean, summary.interval)}"
    decision = Decision.PASSED if summary.mean >= limit - SAME else Decision.FAILED
    if summary.n < min_queries:
        decision, why = Decision.INCONCLUSIVE, _too_few(summary.n, min_queries)
    return Check(
        "minimum",
        summary.measure,
        decision,
        summary.mean,
        limit,
        summary.n,
        why,
        interval=summary.interval,
    )


def regression_check(
    entry: Difference, limit: float, *, lower_is_better: bool = False, min_queries: int = 1
) -> Check:
    """Return whether the run of *entry* has lost more than *limit* against its baseline.

    It fails where the interval of the difference also excludes 0; a larger loss whose interval
    does not, or that has none, is inconclusive.
    """
    if entry.difference is None:
        raise InputError(f"no query has a score of both runs on {entry.metric}")
    lost = entry.difference if lower_is_better else -entry.difference
    why = f"changed by {_with_range(entry.difference, entry.interval, signed=True)}"
    if entry.n < min_queries:
        decision, why = Decision.INCONCLUSIVE, _too_few(entry.n, min_queries)
    elif lost <= limit + SAME:
        decision = Decision.PASSED
    elif _excludes_zero(entry.interval):
        decision, why = Decision.FAILED, f"{why}, beyond the noise"
    else:
        decision, why = Decision.INCONCLUSIVE, f"{why}, inside the noise"
    return Check(
        "regression",
        entry.metric,
        decision,
        lost,
        limit,
        entry.n,
        why,
        interval=entry.interval,
        detectable=entry.detectable,
    )


def latency_check(
    latencies_ms: Sequence[float],
    percentile: float,
    limit_ms: float,
    *,
    min_queries: int = 1,
    disturbed: bool = False,
) -> Check:
    """Return whether the *percentile* of the latencies of answered queries is at most *limit_ms*.

    A pass is inconclusive where the percentile needs more latencies than there are: the slowest may
    be missing. Too slow it is all the same. The reason says where other work has *disturbed* them.

    >>> latency_check([10.0, 20.0, 30.0], 50, 15.0).why
    'took 20.0 ms'
    """
    (value,) = percentiles(latencies_ms, [percentile])
    if value is None:
        raise InputError(
            "this run has no latencies; run it again with --timed 20 to check --max-latency"
        )
    n, why = len(latencies_ms), f"took {value:.1f} ms"
    if disturbed:
        why += ", disturbed by other karat runs"
    decision = Decision.PASSED if value <= limit_ms else Decision.FAILED
    if n < min_queries:
        decision, why = Decision.INCONCLUSIVE, _too_few(n, min_queries)
    elif n < (least := least_values(percentile)):
        needs = f"p{percentile:g} needs {least} latencies, and there are {n}; see --timed"
        if decision is Decision.PASSED:
            decision, why = Decision.INCONCLUSIVE, needs
        else:
            why = f"{why}; {needs}"
    return Check("latency", f"p{percentile:g}", decision, value, limit_ms, n, why)


def _excludes_zero(interval: Interval) -> bool:
    low, high = interval.low, interval.high
    return low is not None and high is not None and (low > 0 or high < 0)


def _too_few(n: int, least: int) -> str:
    return f"only {queries(n)}; at least {least} were asked for"


def _with_range(value: float, interval: Interval | None, *, signed: bool = False) -> str:
    text = number(value, signed=signed, digits=DIGITS).text
    if interval is None or interval.low is None:
        return text
    return f"{text} {range_cell(interval, signed=signed).text}"
