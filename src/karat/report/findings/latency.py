"""The latency of runs: one row per run, and the distribution."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan, nan
from statistics import median
from typing import NamedTuple

from karat.model import Outcome
from karat.model.timings import NS_PER_MS, LatencySample, QueryCost, RunResult, latency_ms, spent_in
from karat.report.findings.record import Findings
from karat.report.table import Cell, Column, Table, milliseconds
from karat.scoring.stats import known_percentiles, percentiles
from karat.scoring.stats.moments import least_values
from karat.system.words import counted

POINTS = (50, 90, 99)
NOT_MEASURED = "not measured"
DISTURBED = "disturbed"
DISTURBED_NOTE = (
    f"{DISTURBED}: another karat run was active while latency was measured; --again --wait "
    "measures without it"
)
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
        by_query = {sample.query_id: latency_ms(sample) for sample in measured.timings.samples}
    else:
        run = measured.run
        by_query = {
            query_id: latency / NS_PER_MS
            for query_id, latency, outcome in zip(
                run.query_ids, run.latencies_ns, run.outcomes, strict=True
            )
            if latency >= 0 and outcome == Outcome.ANSWERED
        }
    return [by_query.get(query_id, nan) for query_id in query_ids]


def medians_ms(runs: Sequence[RunResult], query_ids: Sequence[str]) -> dict[str, float]:
    """Return the median latency of each run that has any."""
    known = {run.name: _known(run, query_ids) for run in runs}
    return {name: median(times) for name, times in known.items() if times}


def comparable_ms(runs: Sequence[RunResult], query_ids: Sequence[str]) -> list[list[float]]:
    """Return the latencies of each run on the queries that all of them have one for, else NaN.

    An engine that fails on hard queries is not faster: only its easy queries have a latency. Where
    the runs have no query in common, each keeps all of its own.
    """
    rows = [latencies_ms(run, query_ids) for run in runs]
    common = [not any(map(isnan, times)) for times in zip(*rows, strict=True)]
    if not any(common):
        return rows
    return [
        [time if shared else nan for time, shared in zip(row, common, strict=True)] for row in rows
    ]


def ecdf(findings: Findings) -> tuple[Steps, ...]:
    """Return the distribution of each run that has latencies."""
    distributions = []
    for name, measured in zip(findings.names, findings.runs, strict=True):
        times = _known(measured, findings.gold.query_ids)
        if times:
            shares = tuple((number + 1) / len(times) for number in range(len(times)))
            distributions.append(Steps(name, tuple(times), shares))
    return tuple(distributions)


def latency_table(findings: Findings) -> Table:
    """Return how long the runs of a report took, as :func:`times_table` does."""
    return times_table(findings.runs, findings.gold.query_ids, names_options=False)


def times_table(
    runs: Sequence[RunResult], query_ids: Sequence[str], *, names_options: bool = True
) -> Table:
    """Return percentiles, cold start, index time, index size and memory of each run.

    With *names_options* a note on a time that is missing has the option of the command with which
    it is measured; the reader of a report did not type the command.
    """
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
            *(Column(title, numeric=True, spare=spare) for spare, title in enumerate(costs, 1)),
            Column("how", spare=len(costs) + 1),
        ),
        tuple(rows),
        tuple(_notes(runs, counts, len(query_ids), names_options=names_options)),
    )


def _notes(
    runs: Sequence[RunResult], counts: Sequence[int], queries: int, *, names_options: bool
) -> Iterator[str]:
    """Yield how percentiles are computed, which of them are missing, and what disturbed them."""
    yield "percentiles by linear interpolation; errors and timeouts have no latency"
    missing = [
        f"p{point} needs {least_values(point)} queries"
        for point in POINTS
        if any(0 < count < least_values(point) for count in counts)
    ]
    if missing:
        more = names_options and any(0 < count < queries for count in counts)
        yield ", ".join(missing) + ("; --timed all measures more" if more else "")
    if any(run.timings is not None and not run.timings.alone for run in runs):
        yield DISTURBED_NOTE if names_options else DISTURBED_NOTE.partition(";")[0]


def _known(measured: RunResult, query_ids: Sequence[str]) -> list[float]:
    return sorted(time for time in latencies_ms(measured, query_ids) if not isnan(time))


def _costs(measured: RunResult) -> tuple[Cell, ...]:
    timings = measured.timings
    if timings is None:
        recorded = any(latency >= 0 for latency in measured.run.latencies_ns)
        how = "from the run file" if recorded else NOT_MEASURED
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
    """Return how many vectors were reused while indexing was timed."""
    work = measured.notes.get("timed_work", measured.notes.get("work"))
    return int(work.get("reused", 0)) if isinstance(work, Mapping) else 0


def _size(count: int) -> Cell:
    return Cell(f"{count / MEBIBYTE:,.1f}", count) if count else Cell("-")


Samples = Sequence[LatencySample]


def spent_tables(runs: Sequence[RunResult]) -> tuple[Table, ...]:
    """Return a table of first results, tokens and cost per query; none if no engine reports any.

    Tokens and cost are means over the queries for which they were reported.
    """
    spent = [_spent(run) for run in runs]
    columns = {
        "first result p50 ms": [
            _median(each.first_result_ns for each in _samples(run) if each.first_result_ns)
            for run in runs
        ],
        "tokens": [_reported(_mean(each.tokens for each in of_run), ",.0f") for of_run in spent],
        "cost": [_reported(_mean(each.cost for each in of_run), "#.3g") for of_run in spent],
    }
    # If all reported values are invalid, the report must say so.
    wrong = any(each.ignored for of_run in spent for each in of_run)
    notes = ["as the engines report it; tokens and cost are means per query"]
    for run, of_run in zip(runs, spent, strict=True):
        notes += _gaps(run.name, of_run)
    required = ("tokens", "cost") if wrong else ()
    return _table("Cost of a query", columns, runs, notes, required=required)


def mean_spent(measured: RunResult) -> dict[str, float | None]:
    """Return the mean tokens and cost of the queries of a run; None where none reports it."""
    spent = _spent(measured)
    return {
        "tokens": _mean(each.tokens for each in spent),
        "cost": _mean(each.cost for each in spent),
    }


def phase_tables(runs: Sequence[RunResult]) -> tuple[Table, ...]:
    """Return a table of the time of each phase of a query; none if no engine reports phases."""
    names = dict.fromkeys(name for run in runs for each in _samples(run) for name in each.phases)
    columns = {f"{name} p50 ms": [_phase(name, _samples(run)) for run in runs] for name in names}
    note = "reported by the engines, for the first (cold) run of each query"
    return _table("Phases of a query", columns, runs, (note,))


def _table(
    title: str,
    columns: Mapping[str, Sequence[Cell]],
    runs: Sequence[RunResult],
    notes: Sequence[str],
    *,
    required: Sequence[str] = (),
) -> tuple[Table, ...]:
    """Return *columns* that are *required* or hold a value for some run; no table without any."""
    reported = {
        head: column
        for head, column in columns.items()
        if head in required or any(cell.value is not None for cell in column)
    }
    if not reported:
        return ()
    names = [Cell(run.name, run.name) for run in runs]
    heads = (
        Column("run"),
        *(Column(head, numeric=True, spare=spare) for spare, head in enumerate(reported)),
    )
    return (Table(title, heads, tuple(zip(names, *reported.values(), strict=True)), tuple(notes)),)


def _spent(measured: RunResult) -> Sequence[QueryCost]:
    """Return what each answered query of a run has cost.

    Runs that were stored before every answer held it have it with the times of some queries, where
    0 stands for nothing reported.
    """
    run = measured.run
    costs = [
        spent_in(extra)
        for outcome, extra in zip(run.outcomes, run.extras, strict=True)
        if outcome == Outcome.ANSWERED
    ]
    if any(each != QueryCost() for each in costs):
        return costs
    return [QueryCost(each.tokens or None, each.cost or None) for each in _samples(measured)]


def _gaps(name: str, spent: Sequence[QueryCost]) -> list[str]:
    """Return what a reader must know of a mean: over fewer queries, or without bad values."""
    lines = []
    for what in ("tokens", "cost"):
        count = sum(getattr(each, what) is not None for each in spent)
        if 0 < count < len(spent):
            lines.append(f"{name}: {what} reported for {count:,} of {len(spent):,} queries")
    if ignored := sum(each.ignored for each in spent):
        lines.append(
            f"{name}: {ignored:,} reported value{'s' if ignored > 1 else ''} ignored; expected "
            "finite numbers from 0 up"
        )
    return lines


def _samples(measured: RunResult) -> Samples:
    return measured.timings.samples if measured.timings else ()


def _phase(name: str, samples: Samples) -> Cell:
    return _median(each.phases[name] for each in samples if name in each.phases)


def _median(times_ns: Iterable[int]) -> Cell:
    (median_ms,) = percentiles([time / NS_PER_MS for time in times_ns], (50,))
    return milliseconds(median_ms)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _reported(mean: float | None, spec: str) -> Cell:
    return Cell("not reported") if mean is None else Cell(format(mean, spec), mean)
