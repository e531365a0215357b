"""The leaderboard: runs, best first; a mean is marked best only if that is significant."""

from math import isnan
from typing import NamedTuple

from karat.model import QueryStatus
from karat.model.comparison import Difference, Mean
from karat.report.findings.latency import latencies_ms
from karat.report.findings.record import Findings
from karat.report.score_view import queries
from karat.report.table import DIGITS, Cell, Column, Table, milliseconds, number, p_cell, range_cell
from karat.scoring.stats import percentiles, significance_letters
from karat.system.words import counted

# Maximum number of letters; more are shown as a count.
MOST_LETTERS = 12


class Standing(NamedTuple):
    """One run: its letter, the letters of the runs that it beats on the lead, a mean per measure.

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
    baseline, change_of = findings.baseline, findings.change_of
    marks = significance_letters(comparison, findings.lead)
    best = {measure: comparison.best(measure) for measure in comparison.metrics}
    several = len(findings.names) > 1
    rows = [
        Standing(
            run,
            mark.system,
            mark.letter,
            mark.better_than,
            tuple(comparison.mean(mark.system, measure) for measure in comparison.metrics),
            tuple(several and best[measure] == mark.system for measure in comparison.metrics),
            None
            if mark.system == baseline
            else comparison.difference(baseline, mark.system, change_of),
            _unanswered(findings, run),
            _median(findings, run),
        )
        for run, mark in enumerate(marks)
    ]
    return tuple(rows[run] for run in best_first(findings))


def best_first(findings: Findings) -> tuple[int, ...]:
    """Return the runs by the mean of the leading measure; equals keep their order."""
    comparison = findings.contest.comparison
    means = [comparison.mean(name, findings.lead).mean for name in findings.names]
    sign = 1.0 if findings.lower_is_better else -1.0

    def sort_key(run: int) -> tuple[bool, float]:
        mean = means[run]
        return (mean is None, sign * (mean or 0.0))

    return tuple(sorted(range(len(means)), key=sort_key))


def leaderboard_table(findings: Findings) -> Table:
    """Return the standings as a table; one run has no changes, and untimed ones no times."""
    several = len(findings.names) > 1
    timed = findings.latency is not None
    columns = [Column("run")]
    columns += [Column(name, numeric=True) for name in findings.contest.comparison.metrics]
    if several:
        columns += [
            Column(f"change of {findings.change_of}", numeric=True, measure=findings.change_of),
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
    return number(row.change.difference, signed=True, digits=row.change.digits)


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


class ParetoPoint(NamedTuple):
    """One run by its median latency and its mean on the lead, with the interval of the mean."""

    run: int
    name: str
    milliseconds: float
    quality: float
    low: float | None
    high: float | None
    on_front: bool


def pareto(findings: Findings, measure: str | None = None) -> tuple[ParetoPoint, ...]:
    """Return the runs that were timed, the fastest first; of the lead without a *measure*.

    A run is on the front where no other is at least as good and as fast, and better in one.
    """
    comparison = findings.contest.comparison
    column = comparison.metrics.index(measure or findings.lead)
    timed = [
        (row.median_ms, mean, row)
        for row in standings(findings)
        if row.median_ms is not None and (mean := row.means[column].mean) is not None
    ]
    sign = -1.0 if comparison.metrics[column] in comparison.lower_is_better else 1.0
    points = [
        ParetoPoint(
            row.run,
            row.name,
            time,
            quality,
            row.means[column].interval.low,
            row.means[column].interval.high,
            not any(
                other_time <= time
                and sign * other >= sign * quality
                and (other_time, other) != (time, quality)
                for other_time, other, _ in timed
            ),
        )
        for time, quality, row in timed
    ]
    return tuple(sorted(points, key=lambda point: (point.milliseconds, -sign * point.quality)))


def _searched_place(findings: Findings) -> str:
    """Return the corpus that all runs have searched, or that it was a version of a repository."""
    about = [run.run.metadata for run in findings.runs]
    corpora = {str(each.get("place") or "") for each in about if each.get("snapshot") == "corpus"}
    return corpora.pop() if len(corpora) == 1 else "the searched version"


def resolved_tables(findings: Findings) -> tuple[Table, ...]:
    """Return the runs in the order of the leaderboard, or nothing where every target is there.

    Its scores are higher, so it comes after the table in which such targets count as missed.
    """
    resolved = findings.resolved
    if resolved is None:
        return ()
    comparison = resolved.comparison
    names = [findings.names[run] for run in best_first(findings)]
    said = (
        f"{counted(resolved.missing, 'target')} removed, {queries(resolved.queries)} remain; all "
        "other tables count these targets as missed"
    )
    return (
        Table(
            f"Without the targets that are not in {_searched_place(findings)}",
            (Column("run"), *(Column(name, numeric=True) for name in comparison.metrics)),
            tuple(
                (
                    Cell(name, name),
                    *(mean_cell(comparison.mean(name, each)) for each in comparison.metrics),
                )
                for name in names
            ),
            (said,),
        ),
    )
