"""Results in a notebook: HTML that needs no script, and data frames."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib import import_module
from math import isnan
from typing import Any

from karat.errors import MissingExtra
from karat.model.comparison import Interval
from karat.model.evaluation import ComparisonResult, Evaluation
from karat.report.display import headline_and_details
from karat.report.rows import Result, best_means, ends, mean_rows, query_rows, runs_of
from karat.report.score_view import queries
from karat.report.table import Cell, Column, Table, marked, number

DIGITS = 3
# More queries than this make a notebook slow; the frames have all of them.
MOST_QUERIES = 200

QUERY_COLUMNS = ("run", "query", "measure", "score", "status")
SUMMARY_COLUMNS = (
    *("run", "measure", "mean", "low", "high", "n", "baseline"),
    *("difference", "difference_low", "difference_high", "p"),
)
FLOATS = ("score", "mean", "low", "high", "difference", "difference_low", "difference_high", "p")
# The extra that brings a package; pandas and pyarrow are installed by their own names.
EXTRAS = {"pandas": "", "polars": "big", "pyarrow": ""}

# Colours come from the page around, so that both dark and light schemes work.
STYLE = (
    "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.4em 0",
    "text-align:{side};padding:.2em .8em;border-bottom:1px solid rgba(128,128,128,.35)",
    "opacity:.7;font-size:.9em",
)

Value = float | int | str | None


def as_frame(result: Result, package: str, *, summary: bool) -> Any:
    """Return a frame of *package*: scores per query, or with *summary* means and differences."""
    rows = summary_rows(result) if summary else per_query_rows(result)
    names = SUMMARY_COLUMNS if summary else QUERY_COLUMNS
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    purpose = f"to_{package.removeprefix('py')}()"
    try:
        library = import_module(package)
    except ImportError as error:
        raise MissingExtra(package, extra=EXTRAS[package], purpose=purpose) from error
    floats = [name for name in FLOATS if name in columns]
    if package == "pandas":
        return library.DataFrame(columns).astype(dict.fromkeys(floats, float))
    if package == "polars":
        types = {**dict.fromkeys(floats, library.Float64), "baseline": library.String}
        overrides = {name: kind for name, kind in types.items() if name in columns}
        return library.DataFrame(columns, schema_overrides=overrides)
    types = {**dict.fromkeys(floats, library.float64()), "baseline": library.string()}
    arrays = {name: library.array(values, types.get(name)) for name, values in columns.items()}
    return library.table(arrays)


def per_query_rows(result: Result) -> list[tuple[Value, ...]]:
    """Return one row per run, query and measure; a query that is not scored has no score."""
    return [
        (row.run, row.query, name, row.scores[column], row.status)
        for evaluation in runs_of(result)
        for rows in (list(query_rows(evaluation)),)
        for column, name in enumerate(evaluation.table.columns)
        for row in rows
    ]


def summary_rows(result: Result) -> list[tuple[Value, ...]]:
    """Return one row per run and measure, with the difference from the baseline if compared."""
    comparison = result.comparison.labelled() if isinstance(result, ComparisonResult) else None
    against = {
        (entry.system, entry.metric): entry
        for entry in (comparison.differences if comparison else ())
        if comparison and entry.baseline == comparison.baseline
    }
    rows: list[tuple[Value, ...]] = []
    for row in (row for run in runs_of(result) for row in mean_rows(run) if not row.tag):
        entry = against.get((row.run, row.measure))
        change: tuple[Value, ...] = (None,) * 5
        if entry:
            change = (entry.baseline, entry.difference, *ends(entry.interval), entry.p_corrected)
        rows.append((row.run, row.measure, row.mean, row.low, row.high, row.n, *change))
    return rows


def as_html(result: Result) -> str:
    """Return a leaderboard with intervals, and the scores of all queries folded below it."""
    evaluations = runs_of(result)
    count = evaluations[0].notes.queries
    parts = [f"<p>⚠ {escape(text)}</p>" for text in result.warnings]
    if isinstance(result, ComparisonResult) and result.verdict:
        headline, details = headline_and_details(result.verdict)
        parts.append(f"<p><strong>{escape(headline)}</strong> {escape(details)}</p>")
    lower: tuple[str, ...] = ()
    if isinstance(result, ComparisonResult):
        lower = result.comparison.labelled().lower_is_better
    parts.append(_table(marked(_leaderboard(evaluations, lower), result.mark)))
    level = next((s.interval.level for e in evaluations for s in e.summaries if s.interval), None)
    about = f"Mean over {queries(count)}"
    about += f" with its {level:.0%} confidence interval." if level else "."
    parts.append(f'<p style="{STYLE[2]}">{about}</p>')
    title = f"Scores of {queries(count)}"
    title += f" (first {MOST_QUERIES})" if count > MOST_QUERIES else ""
    parts.append(
        f"<details><summary>{title}</summary>"
        f"{_table(marked(_query_table(evaluations), result.mark))}</details>"
    )
    return f"<div>{''.join(parts)}</div>"


def _leaderboard(evaluations: Sequence[Evaluation], lower: Sequence[str]) -> Table:
    """Return one row per run, the best mean of the first measure first; the best are marked."""
    measures = evaluations[0].keys()
    best = best_means(evaluations, lower)
    lead = measures[0]
    sign = -1.0 if lead in lower else 1.0
    ranked = sorted(evaluations, key=lambda e: (isnan(e[lead]), -sign * e[lead]))
    rows = []
    for evaluation in ranked:
        cells = [Cell(evaluation.name)]
        for summary in evaluation.summaries:
            top = len(evaluations) > 1 and summary.mean == best.get(summary.measure)
            cell = number(summary.mean, digits=DIGITS, best=top)
            cells.append(cell._replace(text=cell.text + _span(summary.interval)))
        rows.append(tuple(cells))
    columns = (Column("run"), *(Column(name, numeric=True) for name in measures))
    return Table("", columns, tuple(rows))


def _query_table(evaluations: Sequence[Evaluation]) -> Table:
    """Return one row per query; several runs show their first measure, a single run all."""
    first = evaluations[0]
    if len(evaluations) == 1:
        columns = list(first.table.columns.items())
    else:
        lead = first.keys()[0]
        columns = [(f"{lead} {each.name}", each.table.columns[lead]) for each in evaluations]
    rows = tuple(
        (Cell(query_id), *(number(column[row], digits=DIGITS) for _, column in columns))
        for row, query_id in enumerate(first.table.query_ids[:MOST_QUERIES])
    )
    return Table("", (Column("query"), *(Column(name, numeric=True) for name, _ in columns)), rows)


def _table(table: Table) -> str:
    rows = [_row("th", [Cell(column.title) for column in table.columns], table.columns)]
    rows += [_row("td", row, table.columns) for row in table.rows]
    return f'<table style="{STYLE[0]}">{"".join(rows)}</table>'


def _row(tag: str, cells: Iterable[Cell], columns: Sequence[Column]) -> str:
    def drawn() -> Iterator[str]:
        for cell, column in zip(cells, columns, strict=True):
            style = STYLE[1].format(side="right" if column.numeric else "left")
            text = escape(cell.text)
            yield f'<{tag} style="{style}">{f"<b>{text}</b>" if cell.best else text}</{tag}>'

    return f"<tr>{''.join(drawn())}</tr>"


def _span(interval: Interval | None) -> str:
    low, high = ends(interval)
    return "" if low is None or high is None else f" [{low:.{DIGITS}f}, {high:.{DIGITS}f}]"
