"""How long the runs took: one row per run, and the whole distribution."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from typing import NamedTuple

from karat.model import Outcome
from karat.model.timings import NS_PER_MS, RunResult, latency_ms
from karat.report.findings.record import Findings
from karat.report.table import Cell, Column, Table
from karat.scoring.stats import known_percentiles, percentiles
from karat.scoring.stats.moments import least_values
from karat.system.words import counted

__all__ = [
    "Steps",
    "comparable_ms",
    "ecdf",
    "latencies_ms",
    "latency_table",
    "milliseconds",
    "times_table",
]

POINTS = (50, 90, 99)
NOT_MEASURED = "not measured"
DISTURBED = "disturbed"
MEBIBYTE = 1 << 20


class Steps(NamedTuple):
    """The share of queries answered within each time, ascending."""

    run: str
    milliseconds: tuple[float, ...]
    shares: tuple[float, ...]


def latencies_ms(measured: RunResult, query_ids: Sequence[str]) -> list[float]:
    """Return the latency of each query, NaN where there is none.

    Errors and timeouts have none. A run that was not timed by Karat may carry its own latencies.
    """
    if measured.timings is not None:
        found = {sample.query_id: latency_ms(sample) for sample in measured.timings.samples}
    else:
        run = measured.run
        found = {
            query_id: latency / NS_PER_MS
            for query_id, latency, outcome in zip(
                run.query_ids, run.latencies_ns, run.outcomes, strict=True
            )
            if latency >= 0 and outcome == Outcome.ANSWERED
        }
    return [found.get(query_id, nan) for query_id in query_ids]


def comparable_ms(runs: Sequence[RunResult], query_ids: Sequence[str]) -> list[list[float]]:
    """Return the latencies of each run on the queries that all of them have one for, else NaN.

    A search that gives up on hard queries has only easy ones left, and is no faster for that.
    Where the runs have no query in common, each keeps all of its own.
    """
    rows = [latencies_ms(run, query_ids) for run in runs]
    common = [not any(map(isnan, times)) for times in zip(*rows, strict=True)]
    if not any(common):
        return rows
    return [[time if kept else nan for time, kept in zip(row, common, strict=True)] for row in rows]


def ecdf(findings: Findings) -> tuple[Steps, ...]:
    """Return the distribution of each run that has latencies."""
    found = []
    for name, measured in zip(findings.names, findings.runs, strict=True):
        times = _known(measured, findings.gold.query_ids)
        if times:
            shares = tuple((place + 1) / len(times) for place in range(len(times)))
            found.append(Steps(name, tuple(times), shares))
    return tuple(found)


def latency_table(findings: Findings) -> Table:
    """Return how long the runs of a report took, as :func:`times_table` does."""
    return times_table(findings.runs, findings.gold.query_ids)


def times_table(runs: Sequence[RunResult], query_ids: Sequence[str]) -> Table:
    """Return percentiles, cold start, index time, index size and memory of each run."""
    rows = []
    counts = []
    for measured in runs:
        times = _known(measured, query_ids)
        counts.append(len(times))
        points = [milliseconds(value) for value in known_percentiles(times, POINTS)]
        name = Cell(measured.name, measured.name)
        rows.append((name, Cell(str(len(times)), len(times)), *points, *_costs(measured)))
    numbers = ("queries", *(f"p{point} ms" for point in POINTS))
    costs = ("cold p50 ms", "index s", "index MiB", "memory MiB")
    return Table(
        "Latency",
        (
            Column("run"),
            *(Column(title, numeric=True) for title in numbers),
            *(Column(title, numeric=True, spare=place) for place, title in enumerate(costs, 1)),
            Column("how", spare=len(costs) + 1),
        ),
        tuple(rows),
        tuple(_notes(runs, counts, len(query_ids))),
    )


def _notes(runs: Sequence[RunResult], counts: Sequence[int], queries: int) -> Iterator[str]:
    """Yield how percentiles are computed, which of them are missing, and what disturbed them."""
    yield "percentiles by linear interpolation; errors and timeouts have no latency"
    missing = [
        f"p{point} needs {least_values(point)} queries"
        for point in POINTS
        if any(0 < count < least_values(point) for count in counts)
    ]
    if missing:
        more = any(0 < count < queries for count in counts)
        yield ", ".join(missing) + ("; --timed all measures more" if more else "")
    if any(_disturbed(measured) for measured in runs):
        yield (
            f"{DISTURBED}: another karat run was active while latency was measured; repeat with "
            "--again"
        )


def _disturbed(measured: RunResult) -> bool:
    return measured.timings is not None and not measured.timings.alone


def milliseconds(value: float | None) -> Cell:
    """Return a time with three digits that count.

    >>> milliseconds(0.01234).text, milliseconds(3.14159).text, milliseconds(1234.5).text
    ('0.0123', '3.14', '1,234')
    """
    if value is None or isnan(value):
        return Cell("-")
    return Cell(f"{value:,.0f}" if value >= 100 else f"{value:#.3g}", value)


def _known(measured: RunResult, query_ids: Sequence[str]) -> list[float]:
    found = latencies_ms(measured, query_ids)
    return sorted(value for value in found if not isnan(value))


def _costs(measured: RunResult) -> tuple[Cell, ...]:
    timings = measured.timings
    if timings is None:
        recorded = any(latency >= 0 for latency in measured.run.latencies_ns)
        how = "as the run file says" if recorded else NOT_MEASURED
        return (Cell("-"), Cell("-"), Cell("-"), Cell("-"), Cell(how))
    how = f"{counted(timings.repetitions, 'repetition')}, {timings.warm_up} warm-up"
    if not timings.alone:
        how = f"{DISTURBED}, {how}"
    if reused := _reused(measured):
        how += f", {reused:,} vectors cached"
    together = measured.notes.get("together")
    if isinstance(together, list):
        how += f", memory shared by {len(together)} runs"
    return (
        milliseconds(percentiles(timings.cold_ms(), (50,))[0]),
        Cell(f"{timings.index_ns / 1e9:.2f}", timings.index_ns),
        _size(timings.index_bytes),
        _size(timings.peak_bytes),
        Cell(how),
    )


def _reused(measured: RunResult) -> int:
    """Return how many vectors did not have to be made anew while indexing was timed."""
    work = measured.notes.get("timed_work", measured.notes.get("work"))
    return int(work.get("reused", 0)) if isinstance(work, Mapping) else 0


def _size(count: int) -> Cell:
    return Cell(f"{count / MEBIBYTE:,.1f}", count) if count else Cell("-")
