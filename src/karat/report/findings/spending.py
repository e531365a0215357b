"""What engines report of themselves: when first results came, phases, tokens and money."""

from collections.abc import Iterable, Mapping, Sequence

from karat.model import Outcome
from karat.model.timings import NS_PER_MS, LatencySample, QueryCost, RunResult, spent_in
from karat.report.findings.latency import milliseconds
from karat.report.table import Cell, Column, Table
from karat.scoring.stats import percentiles

__all__ = ["mean_spent", "phase_tables", "spent_tables"]

Samples = Sequence[LatencySample]


def spent_tables(runs: Sequence[RunResult]) -> tuple[Table, ...]:
    """Return a table of first results, tokens and cost per query; none where nobody reports any.

    Tokens and cost are means over the queries for which they were reported.
    """
    spent = [_spent(run) for run in runs]
    columns = {
        "first result p50 ms": [_first_result(_samples(run)) for run in runs],
        "tokens": [_reported(_mean(each.tokens for each in of_run), ",.0f") for of_run in spent],
        "cost": [_reported(_mean(each.cost for each in of_run), "#.3g") for of_run in spent],
    }
    # Where all that is reported is wrong, the reader must hear of it.
    wrong = any(each.ignored for of_run in spent for each in of_run)
    notes = ["as the engines report it; tokens and cost are means per query"]
    for run, of_run in zip(runs, spent, strict=True):
        notes += _gaps(run.name, of_run)
    kept = ("tokens", "cost") if wrong else ()
    return _table("What a query spends", columns, runs, notes, kept=kept)


def mean_spent(measured: RunResult) -> dict[str, float | None]:
    """Return the mean tokens and cost of the queries of a run; None where none reports it."""
    spent = _spent(measured)
    return {
        "tokens": _mean(each.tokens for each in spent),
        "cost": _mean(each.cost for each in spent),
    }


def phase_tables(runs: Sequence[RunResult]) -> tuple[Table, ...]:
    """Return a table of where the time of a query goes; none where no engine tells."""
    names = dict.fromkeys(name for run in runs for each in _samples(run) for name in each.phases)
    columns = {f"{name} p50 ms": [_phase(name, _samples(run)) for run in runs] for name in names}
    note = "as the engines report it of the first time that a query is asked, cold"
    return _table("Phases of a query", columns, runs, (note,))


def _table(
    title: str,
    columns: Mapping[str, Sequence[Cell]],
    runs: Sequence[RunResult],
    notes: Sequence[str],
    *,
    kept: Sequence[str] = (),
) -> tuple[Table, ...]:
    """Return *columns* that are *kept* or hold a value for some run; no table without any."""
    told = {
        head: column
        for head, column in columns.items()
        if head in kept or any(cell.value is not None for cell in column)
    }
    if not told:
        return ()
    names = [Cell(run.name, run.name) for run in runs]
    heads = (
        Column("run"),
        *(Column(head, numeric=True, spare=place) for place, head in enumerate(told)),
    )
    return (Table(title, heads, tuple(zip(names, *told.values(), strict=True)), tuple(notes)),)


def _spent(measured: RunResult) -> Sequence[QueryCost]:
    """Return what each answered query of a run has cost.

    Runs that were stored before every answer held it have it with the times of some queries, where
    0 stands for nothing reported.
    """
    run = measured.run
    found = [
        spent_in(extra)
        for outcome, extra in zip(run.outcomes, run.extras, strict=True)
        if outcome == Outcome.ANSWERED
    ]
    if any(each != QueryCost() for each in found):
        return found
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


def _first_result(samples: Samples) -> Cell:
    return _median(each.first_result_ns for each in samples if each.first_result_ns)


def _phase(name: str, samples: Samples) -> Cell:
    return _median(each.phases[name] for each in samples if name in each.phases)


def _median(times_ns: Iterable[int]) -> Cell:
    (found,) = percentiles([time / NS_PER_MS for time in times_ns], (50,))
    return milliseconds(found)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _reported(mean: float | None, spec: str) -> Cell:
    return Cell("not reported") if mean is None else Cell(format(mean, spec), mean)
