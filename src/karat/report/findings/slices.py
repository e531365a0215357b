"""The leading measure by category, difficulty, file type or any other tag."""

from karat.model.comparison import Comparison
from karat.report.findings.record import Findings
from karat.report.table import Cell, Column, Table, number

__all__ = ["DOWN", "UP", "slice_tables"]

# A mark beside a mean: better or worse than the baseline, beyond the noise.
UP, DOWN = "▲", "▼"
DIGITS = 3


def slice_tables(findings: Findings) -> tuple[Table, ...]:
    """Return one table per tag: a row per run, a column per value with its number of queries.

    The value of a cell is the mean; beside it stands whether it differs from the baseline's.
    """
    notes: tuple[str, ...] = ()
    if len(findings.names) > 1:
        baseline = findings.names[0]
        notes = (f"{UP} {DOWN} better or worse than {baseline} beyond the noise of the slice",)
    tables = []
    for tag, values in findings.contest.slices.items():
        columns = [
            Column(f"{value} ({comparison.queries})", numeric=True)
            for value, comparison in values.items()
        ]
        rows = [
            (Cell(name, name), *(_cell(comparison, name) for comparison in values.values()))
            for name in findings.names
        ]
        tables.append(
            Table(
                f"{findings.lead} by {tag}",
                (Column("run"), *columns),
                tuple(rows),
                notes,
            )
        )
    return tuple(tables)


def _cell(comparison: Comparison, name: str) -> Cell:
    mean = comparison.mean(name, comparison.metrics[0])
    cell = number(mean.mean, digits=DIGITS)
    low, high = mean.interval.low, mean.interval.high
    if low is None or high is None:
        return cell
    span = f"[{low:.2f}, {high:.2f}]"
    return cell._replace(text=f"{cell.text}{_mark(comparison, name)} {span}")


def _mark(comparison: Comparison, name: str) -> str:
    baseline = comparison.systems[0]
    if name == baseline:
        return ""
    change = comparison.difference(baseline, name, comparison.metrics[0])
    if not comparison.significant(change):
        return ""
    return UP if comparison.winner(change) == name else DOWN
