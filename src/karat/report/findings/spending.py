"""What engines tell of themselves: when first results came, phases, tokens and money."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from karat.model.timings import NS_PER_MS, Measured, Sample
from karat.report.findings.latency import milliseconds
from karat.report.table import Cell, Column, Table
from karat.stats import percentiles

__all__ = ["phase_tables", "spent_tables"]

Samples = Sequence[Sample]


def spent_tables(runs: Sequence[Measured]) -> tuple[Table, ...]:
    """Return a table of first results, tokens and cost a query; none where no engine tells them."""
    return _told(
        "What a query spends",
        {"first result p50 ms": _first_result, "tokens": _tokens, "cost": _cost},
        runs,
        note="as the engines tell it of queries that were timed; tokens and cost are means",
    )


def phase_tables(runs: Sequence[Measured]) -> tuple[Table, ...]:
    """Return a table of where the time of a query goes; none where no engine tells."""
    names = dict.fromkeys(name for run in runs for each in _samples(run) for name in each.phases)
    return _told(
        "Phases of a query",
        {f"{name} p50 ms": _phase(name) for name in names},
        runs,
        note="as the engines tell it of the first time that a query is asked, cold",
    )


def _told(
    title: str,
    columns: Mapping[str, Callable[[Samples], Cell]],
    runs: Sequence[Measured],
    *,
    note: str,
) -> tuple[Table, ...]:
    cells = {head: [cell(_samples(run)) for run in runs] for head, cell in columns.items()}
    told = {
        head: column
        for head, column in cells.items()
        if any(cell.value is not None for cell in column)
    }
    if not told:
        return ()
    names = [Cell(run.name, run.name) for run in runs]
    heads = (Column("run"), *(Column(head, numeric=True) for head in told))
    return (Table(title, heads, tuple(zip(names, *told.values(), strict=True)), (note,)),)


def _samples(measured: Measured) -> Samples:
    return measured.timings.samples if measured.timings else ()


def _first_result(samples: Samples) -> Cell:
    return _median(each.first_result_ns for each in samples if each.first_result_ns)


def _phase(name: str) -> Callable[[Samples], Cell]:
    def cell(samples: Samples) -> Cell:
        return _median(each.phases[name] for each in samples if name in each.phases)

    return cell


def _median(times_ns: Iterable[int]) -> Cell:
    (found,) = percentiles([time / NS_PER_MS for time in times_ns], (50,))
    return milliseconds(found)


def _tokens(samples: Samples) -> Cell:
    return _mean([each.tokens for each in samples], ",.0f")


def _cost(samples: Samples) -> Cell:
    return _mean([each.cost for each in samples], "#.3g")


def _mean(values: Sequence[float], spec: str) -> Cell:
    """Return the mean; a dash where all are 0, which is what an engine has that tells nothing."""
    if not any(values):
        return Cell("-")
    mean = sum(values) / len(values)
    return Cell(format(mean, spec), mean)
