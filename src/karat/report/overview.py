"""The overview: what a command answers on one screen, with one row per run.

The verdict comes first, then a table, then only the notes that change what the numbers mean. The
tables with every interval and test are the details.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from karat.model.evaluation import ComparisonResult, Evaluation, Summary, broken_sentences
from karat.report.display import headline_and_details
from karat.report.rows import Result, RunRow, run_rows, runs_of
from karat.report.score_view import (
    BEST_NOTE,
    decisive_lines,
    largest_slices,
    level_title,
    queries,
    said_once,
)
from karat.report.table import (
    DIGITS,
    Cell,
    Column,
    Table,
    milliseconds,
    number,
    p_cell,
    range_cell,
)
from karat.scoring.metrics import parse

if TYPE_CHECKING:
    from karat.model.comparison import Comparison

# A mark beside a mean: significantly better or worse than the baseline.
UP, DOWN = "▲", "▼"
# Sentences of the verdict above the table; the others are notes below it.
HEADLINE = 2
# More runs do not fit on a screen.
MOST_RUNS = 10
# What is left out first where there is no room: the last measures, then latency, then intervals.
INTERVAL_SPARE, LATENCY_SPARE, MEASURE_SPARE = 1, 2, 3


def overview(
    result: Result,
    *,
    medians_ms: Mapping[str, float] | None = None,
    ranked: bool = False,
    notes: Iterable[str] = (),
    more: str = "",
) -> Table:
    """Return the verdict, one row per run, and the notes that change what the numbers mean.

    *medians_ms* has the median latency of the runs that were timed. *ranked* rows are in the order
    of the leading measure, of many runs the best ones; others in the order given. *notes* follow
    those on the runs, and *more* comes last: where to read what is not here.
    """
    evaluations = runs_of(result)
    rows = run_rows(result, medians_ms or {}, ranked=ranked)
    listed = rows[:MOST_RUNS] + [row for row in rows[MOST_RUNS:] if row.is_baseline]
    headline, rest = headline_and_details(verdict_of(result), HEADLINE)
    lines = [rest] if rest else []
    if any(row.best for row in listed):
        lines.append(BEST_NOTE)
    lines += said_once({each.name: list(decisive_lines(each)) for each in evaluations})
    if isinstance(result, ComparisonResult):
        lines += result.further_tests
    elif evaluations[0].notes.powered:
        lines.append(evaluations[0].notes.powered)
    if hidden := len(rows) - len(listed):
        lines.append(f"{hidden} further runs have lower means")
    return Table(
        _title(result),
        tuple(_columns(rows)),
        tuple(tuple(_cells(row, rows)) for row in listed),
        (*lines, *notes, *filter(None, [more])),
        conclusion=headline,
        warnings=result.warnings,
    )


def verdict_of(result: Result) -> str:
    """Return what *result* means: of one run its score, of several which is better."""
    if isinstance(result, ComparisonResult):
        return result.verdict
    return " ".join(broken_sentences([result])) or _score_text(runs_of(result)[0])


def _score_text(evaluation: Evaluation) -> str:
    """Return the mean of the first measure, and how often a target is among the first hits."""
    first, *others = evaluation.summaries
    if isnan(first.mean):
        return f"No query has a score on {first.measure}."
    span = range_cell(first.interval).text
    mean = f"{number(first.mean, digits=DIGITS).text}{'' if span == '-' else f' {span}'}"
    text = f"{evaluation.name} has {first.measure} {mean} over {queries(first.n)}"
    known = others if evaluation.notes.has_hits else ()
    hits = next((each for each in known if _hit_depth(each)), None)
    if hits is None:
        return f"{text}."
    depth = _hit_depth(hits)
    where = "at rank 1" if depth == 1 else f"among the first {depth} hits"
    return f"{text}; {hits.mean:.0%} have a target {where}."


def _hit_depth(summary: Summary) -> int:
    """Return the cut-off of a share of queries with a target among the first hits, else 0."""
    measure = parse(summary.measure)
    is_share = measure.metric == "hit" and not isnan(summary.mean)
    return measure.k or 0 if is_share else 0


def _title(result: Result) -> str:
    if isinstance(result, Evaluation):
        return ""
    comparison = result.comparison
    return f"{queries(comparison.queries)}; change and p: against {comparison.baseline}"


def _columns(rows: Sequence[RunRow]) -> Iterator[Column]:
    """Yield the columns in the order of their weight, but the latency, which comes last."""
    lead, *others = (each.measure for each in rows[0].summaries)
    yield Column("run")
    yield Column(lead, numeric=True)
    if level := _level(rows):
        yield Column(level_title(level), numeric=True, spare=INTERVAL_SPARE)
    if len(rows) > 1:
        yield Column("change", numeric=True, measure=lead)
        yield Column("p", numeric=True, measure=lead)
    for spare, name in enumerate(others, MEASURE_SPARE):
        yield Column(name, numeric=True, spare=spare)
    if _are_timed(rows):
        yield Column("p50 ms", numeric=True, spare=LATENCY_SPARE)


def _cells(row: RunRow, rows: Sequence[RunRow]) -> Iterator[Cell]:
    lead, *others = row.summaries
    yield Cell(row.run, row.run)
    yield number(lead.mean, best=row.best, digits=DIGITS)
    if _level(rows):
        yield range_cell(lead.interval)
    if len(rows) > 1:
        yield from _change_cells(row)
    yield from (number(each.mean, digits=DIGITS) for each in others)
    if _are_timed(rows):
        yield milliseconds(row.median_ms)


def _change_cells(row: RunRow) -> tuple[Cell, Cell]:
    """Return the difference from the baseline on the first measure, and its corrected p value."""
    if row.is_baseline:
        return Cell("baseline"), Cell("")
    if row.change is None:
        return Cell("-"), Cell("-")
    change = number(row.change.difference, signed=True, digits=row.change.digits)
    return change, p_cell(row.change.p_corrected)


def _level(rows: Sequence[RunRow]) -> float:
    """Return the level of the intervals of the first measure, 0 where no run has one."""
    intervals = (row.summaries[0].interval for row in rows)
    return next((each.level for each in intervals if each and each.low is not None), 0.0)


def _are_timed(rows: Sequence[RunRow]) -> bool:
    return any(row.median_ms is not None for row in rows)


def breakdown_tables(result: Result) -> list[Table]:
    """Return one table per tag: a row per value with its queries and the first measure."""
    if isinstance(result, ComparisonResult):
        return [_compared_values(result, tag) for tag in result.slices]
    return [_scored_values(result, tag) for tag in result.slices]


def _scored_values(evaluation: Evaluation, tag: str) -> Table:
    """Return the means of one run for each value of *tag*."""
    values = evaluation.reportable().slices[tag]
    listed, notes = largest_slices(tag, {value: means[0].n for value, means in values.items()})
    lead, *others = (each.measure for each in evaluation.summaries)
    columns = [Column(tag), Column("queries", numeric=True), Column(lead, numeric=True)]
    if level := next((s.interval.level for s in evaluation.summaries if s.interval), 0.0):
        columns.append(Column(level_title(level), numeric=True, spare=INTERVAL_SPARE))
    columns += [
        Column(name, numeric=True, spare=spare) for spare, name in enumerate(others, MEASURE_SPARE)
    ]
    rows = []
    for value in listed:
        first, *means = values[value]
        cells = [Cell(value, value), Cell(str(first.n), first.n), number(first.mean, digits=DIGITS)]
        cells += [range_cell(first.interval)] if level else []
        rows.append((*cells, *(number(each.mean, digits=DIGITS) for each in means)))
    return Table("", tuple(columns), tuple(rows), notes)


def _compared_values(contest: ComparisonResult, tag: str) -> Table:
    """Return the mean of each run on the first measure for each value of *tag*."""
    values = contest.slices[tag]
    lead, names = contest.comparison.metrics[0], contest.comparison.systems
    listed, notes = largest_slices(tag, {value: each.queries for value, each in values.items()})
    rows = []
    for value in listed:
        part = values[value]
        means = (marked_mean(part, name, lead) for name in names)
        rows.append((Cell(value, value), Cell(str(part.queries), part.queries), *means))
    columns = [Column(tag), Column("queries", numeric=True)]
    columns += [Column(name, numeric=True, measure=lead) for name in names]
    legend = f"{UP} {DOWN} significantly better or worse than {contest.comparison.baseline}"
    marks = any(cell.text[-1] in UP + DOWN for row in rows for cell in row)
    return Table(
        f"{lead} by {tag}", tuple(columns), tuple(rows), (*notes, *([legend] if marks else []))
    )


def marked_mean(comparison: "Comparison", name: str, measure: str) -> Cell:
    """Return the mean of a run, marked where it differs significantly from the baseline's."""
    cell = number(comparison.mean(name, measure).mean, digits=DIGITS)
    if name == comparison.baseline:
        return cell
    change = comparison.difference(comparison.baseline, name, measure)
    if not change.is_significant:
        return cell
    mark = UP if comparison.winner(change) == name else DOWN
    return cell._replace(text=f"{cell.text}{mark}")
