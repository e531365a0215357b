"""Tables of several runs compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan

from karat.model.comparison import Comparison, Difference
from karat.model.evaluation import ComparisonResult, Evaluation
from karat.report.score_view import (
    BEST_NOTE,
    clusters_line,
    largest_slices,
    level_title,
    queries,
    shared_note_lines,
    text_cell,
)
from karat.report.table import DIGITS, Cell, Column, Table, number, p_cell, range_cell
from karat.scoring.stats import significance_letters

CORRECTIONS = {
    "maxt": "step-down maxT",
    "tukey": "randomised Tukey HSD",
    "holm": "Holm",
    "bh": "Benjamini-Hochberg",
}
PAIRS = {
    "all": "all pairs",
    "lead": "all pairs on the first measure, and over those with the baseline on the others",
    "baseline": "the pairs with the baseline",
}


def compare_table(contest: ComparisonResult) -> Table:
    """Return every measure of every run, with its difference from the baseline, and what it means.

    A mean is marked as the best only where every other run is significantly worse.
    """
    comparison = contest.comparison
    names = ", ".join(name for name in comparison.systems if name != comparison.baseline)
    table = _table(
        f"{names} against {comparison.baseline}, {queries(comparison.queries)}",
        comparison,
        comparison.metrics,
    )
    starred = any(cell.best for row in table.rows for cell in row)
    method = f"bootstrap-t, {draws_text(comparison)}"
    notes = [
        (
            f"p and intervals: prediction-powered, {correction_text(comparison)}"
            if any(each.labels for each in comparison.differences)
            else f"p: paired randomisation, {correction_text(comparison)}; intervals: {method}"
        )
        + (f"; {BEST_NOTE}" if starred else "")
    ]
    notes += clusters_line(comparison.queries, contest.clusters)
    notes += shared_note_lines(contest.evaluations)
    for evaluation in contest.evaluations:
        notes += _answered_note(evaluation, comparison.metrics[0])
    notes += _uncompared_notes(contest)
    return replace(table, notes=(*notes, *contest.further_tests), conclusion=contest.verdict)


def draws_text(comparison: Comparison) -> str:
    """Return how the intervals were computed: by draws, without them, or both."""
    methods = [each.interval.method for each in comparison.means]
    methods += [each.interval.method for each in comparison.differences]
    methods = [method for method in methods if "bootstrap-t" in method]
    drawn = [method for method in methods if not method.startswith("analytic")]
    text = f"{comparison.draws:,} draws, seed {comparison.seed}"
    if len(drawn) == len(methods):
        return text
    return f"analytic, otherwise {text}" if drawn else "analytic"


def correction_text(comparison: Comparison) -> str:
    """Return how p values are corrected, and for which pairs of runs."""
    if comparison.correction == "none":
        return "not corrected"
    how = CORRECTIONS[comparison.correction]
    return f"corrected by {how} over {PAIRS[comparison.pairs]}"


def slice_tables(contest: ComparisonResult) -> list[Table]:
    """Return one table per tag value, of the first measure; of many values the largest."""
    tables = []
    for tag, values in contest.slices.items():
        sizes = {value: comparison.queries for value, comparison in values.items()}
        largest, note = largest_slices(tag, sizes)
        for value in largest:
            title = f"{tag} = {value}, {queries(sizes[value])}"
            tables.append(_table(title, values[value], values[value].metrics[:1]))
        tables[-1] = replace(tables[-1], notes=note)
    return tables


def _uncompared_notes(contest: ComparisonResult) -> Iterator[str]:
    """Yield the measures that were computed but have no paired test."""
    for index, summary in enumerate(contest.evaluations[0].summaries):
        if summary.measure not in contest.comparison.metrics:
            values = ", ".join(
                f"{run.name} {number(run.summaries[index].mean, digits=DIGITS).text}"
                for run in (evaluation.reportable() for evaluation in contest.evaluations)
            )
            yield f"{summary.measure} is not a mean over queries and is not compared: {values}"


def _answered_note(evaluation: Evaluation, measure: str) -> list[str]:
    """Return the mean over answered queries where it differs from the one over all."""
    summary = next(entry for entry in evaluation.reportable().summaries if entry.measure == measure)
    if summary.answered == summary.mean or isnan(summary.answered):
        return []
    return [
        f"{evaluation.name}: over answered queries only, the mean of {measure} is "
        f"{number(summary.answered, digits=DIGITS).text}"
    ]


def _table(title: str, comparison: Comparison, measures: Sequence[str]) -> Table:
    level = level_title(comparison.level)
    return Table(
        title,
        (
            Column("measure"),
            Column("run"),
            Column("mean", numeric=True),
            Column(level, numeric=True, spare=1),
            Column("change", numeric=True),
            Column(level, numeric=True),
            Column("p", numeric=True),
            Column("win/tie/loss", numeric=True, spare=2),
            Column("better than", spare=3),
        ),
        tuple(row for measure in measures for row in _measure_rows(comparison, measure)),
        grouped=True,
    )


def _measure_rows(comparison: Comparison, measure: str) -> Iterator[tuple[Cell, ...]]:
    """Yield one row per run; the letters name the runs that it is significantly better than."""
    marks = significance_letters(comparison, measure)
    best = comparison.best(measure)
    baseline = comparison.baseline
    for system, mark in zip(comparison.systems, marks, strict=True):
        mean = comparison.mean(system, measure)
        against = None
        if system != baseline:
            against = comparison.difference(baseline, system, measure)
        yield (
            Cell(measure if system == comparison.systems[0] else "", measure),
            Cell(f"{mark.letter} {system}", system),
            number(mean.mean, best=system == best, digits=DIGITS),
            range_cell(mean.interval),
            *_difference_cells(against),
            Cell(mark.better_than or "-"),
        )


def per_query_table(contest: ComparisonResult, texts: Mapping[str, str], measure: str) -> Table:
    """Return one row per query with each run's score and the last run's change, worst first."""
    tables = [evaluation.reportable().table for evaluation in contest.evaluations]
    first = tables[0]
    rows = []
    for row, query_id in enumerate(first.query_ids):
        scores = [table.columns[measure][row] for table in tables]
        text = texts.get(query_id, "")
        cells = (
            Cell(query_id, query_id),
            *map(number, scores),
            number(scores[-1] - scores[0], signed=True),
            text_cell(text),
        )
        rows.append((scores[-1] - scores[0], cells))
    sign = -1.0 if measure in contest.comparison.lower_is_better else 1.0
    rows.sort(key=lambda pair: (isnan(pair[0]), sign * pair[0]))  # not scored: last
    return Table(
        f"{measure} per query, and how {tables[-1].name} changes it against {first.name}",
        (
            Column("query"),
            *(Column(table.name, numeric=True) for table in tables),
            Column("change", numeric=True),
            Column("text", spare=1),
        ),
        tuple(cells for _, cells in rows),
    )


def best_engine(comparison: Comparison, engines: Mapping[str, str]) -> str:
    """Return what *engines* has for the run with the best mean of the first measure, or ""."""
    lead = comparison.metrics[0]
    return engines.get(next(iter(comparison.leaders(lead)), ""), "")


def _difference_cells(entry: Difference | None) -> Sequence[Cell]:
    if entry is None:
        return (Cell("baseline"), Cell(""), Cell(""), Cell(""))
    counts = (entry.wins, entry.ties, entry.losses)
    return (
        number(entry.difference, signed=True, digits=entry.digits),
        range_cell(entry.interval, signed=True, digits=entry.digits),
        p_cell(entry.p_corrected),
        Cell("/".join(map(str, counts)) if any(counts) else "-"),
    )
