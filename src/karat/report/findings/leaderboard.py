"""The runs, best first, each mean with its interval and marked best only where that is real."""

from math import isnan
from typing import NamedTuple

from karat.model import QueryStatus
from karat.model.comparison import Difference, Mean
from karat.report.compare_view import best_system, p_cell, range_cell
from karat.report.findings.latency import latencies_ms, milliseconds
from karat.report.findings.record import Findings
from karat.report.table import Cell, Column, Table, number
from karat.scoring.stats import percentiles, significance_letters

__all__ = [
    "Standing",
    "beaten_text",
    "best_first",
    "leaderboard_table",
    "mean_cell",
    "p_text",
    "standings",
]

DIGITS = 3
# More letters than this nobody looks up.
MOST_LETTERS = 12


class Standing(NamedTuple):
    """One run: its letter, the letters of the runs that it beats on the lead, a mean a measure.

    *best* says for each measure whether every other run is significantly worse. *change* is the
    difference from the baseline on ``Findings.change_of``, None for the baseline itself.
    *unanswered* counts errors, timeouts and queries that the run lacks; *median_ms* is None where
    nothing was timed.
    """

    run: int
    name: str
    letter: str
    better_than: str
    means: tuple[Mean, ...]
    best: tuple[bool, ...]
    change: Difference | None
    unanswered: int
    median_ms: float | None


def standings(findings: Findings) -> tuple[Standing, ...]:
    """Return the runs by the mean of the leading measure, the best first, equals as given."""
    comparison = findings.contest.comparison
    baseline, change_of = findings.names[0], findings.change_of
    marks = significance_letters(comparison, findings.lead)
    best = {measure: best_system(comparison, measure) for measure in comparison.metrics}
    several = len(findings.names) > 1
    rows = [
        Standing(
            place,
            mark.system,
            mark.letter,
            mark.better_than,
            tuple(comparison.mean(mark.system, measure) for measure in comparison.metrics),
            tuple(several and best[measure] == mark.system for measure in comparison.metrics),
            comparison.difference(baseline, mark.system, change_of) if place else None,
            _unanswered(findings, place),
            _median(findings, place),
        )
        for place, mark in enumerate(marks)
    ]
    return tuple(rows[run] for run in best_first(findings))


def best_first(findings: Findings) -> tuple[int, ...]:
    """Return the runs by the mean of the leading measure; equals keep their order."""
    comparison = findings.contest.comparison
    means = [comparison.mean(name, findings.lead).mean for name in findings.names]
    sign = 1.0 if findings.lower_is_better else -1.0

    def place(run: int) -> tuple[bool, float]:
        mean = means[run]
        return (mean is None, sign * (mean or 0.0))

    return tuple(sorted(range(len(means)), key=place))


def leaderboard_table(findings: Findings) -> Table:
    """Return the standings as a table; one run has no changes, and untimed ones no times."""
    several = len(findings.names) > 1
    timed = findings.latency is not None
    columns = [Column("run")]
    columns += [Column(name, numeric=True) for name in findings.contest.comparison.metrics]
    if several:
        columns += [
            Column(f"change of {findings.change_of}", numeric=True),
            Column("p", numeric=True),
        ]
        columns.append(Column("better than"))
    if timed:
        columns.append(Column("p50 ms", numeric=True))
    rows = []
    for row in standings(findings):
        cells = [Cell(f"{row.letter} {row.name}" if several else row.name, row.name)]
        cells += [mean_cell(*pair) for pair in zip(row.means, row.best, strict=True)]
        if several:
            cells += [_change_cell(row), Cell(p_text(row.change)), Cell(beaten_text(row))]
        if timed:
            cells.append(milliseconds(row.median_ms))
        rows.append(tuple(cells))
    return Table("Leaderboard", tuple(columns), tuple(rows), conclusion=findings.contest.verdict)


def mean_cell(mean: Mean, best: bool = False) -> Cell:
    """Return a mean with its interval, where it has one."""
    cell = number(mean.mean, digits=DIGITS, best=best)
    span = range_cell(mean.interval).text
    return cell if span == "-" else cell._replace(text=f"{cell.text} {span}")


def _change_cell(row: Standing) -> Cell:
    if row.change is None:
        return Cell("baseline")
    return number(row.change.difference, signed=True, digits=DIGITS)


def p_text(change: Difference | None) -> str:
    """Return the corrected p value of *change* as it is printed, a dash where there is none."""
    return p_cell(change.p_corrected if change else None).text


def beaten_text(row: Standing) -> str:
    """Return the letters of the runs that *row* beats, of many only how many they are."""
    if len(row.better_than) <= MOST_LETTERS:
        return row.better_than or "-"
    beaten = row.better_than.split(",") if "," in row.better_than else row.better_than
    return f"{len(beaten)} runs"


def _unanswered(findings: Findings, run: int) -> int:
    counts = findings.contest.evaluations[run].notes.statuses
    return counts[QueryStatus.MISSING] + counts[QueryStatus.ERROR] + counts[QueryStatus.TIMEOUT]


def _median(findings: Findings, run: int) -> float | None:
    times = latencies_ms(findings.runs[run], findings.gold.query_ids)
    return percentiles([time for time in times if not isnan(time)], (50,))[0]
