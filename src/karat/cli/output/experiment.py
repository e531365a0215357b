"""What an experiment has shown, on the terminal or for machines."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from karat.cli.options.shared import Output
from karat.cli.output import show
from karat.model import QueryStatus
from karat.model.evaluation import CorpusCoverage, Evaluation
from karat.report.display import printable
from karat.report.score_view import invalid_text, odd_answers, remarks, run_remarks, warning

if TYPE_CHECKING:
    from karat.app.evaluate import EvaluationResult, Result
    from karat.model import Dataset
    from karat.model.timings import RunResult
    from karat.report.findings import Findings
    from karat.report.table import Table
    from karat.scoring.settings import Confidence, Scoring

__all__ = ["MANY", "show_evaluated", "show_findings"]

# More runs than this are read as one list, the best first.
MANY = 6
TROUBLE = (QueryStatus.MISSING, QueryStatus.ERROR, QueryStatus.TIMEOUT)


def show_evaluated(
    found: "EvaluationResult",
    gold: "Dataset",
    output: Output,
    *,
    settings: "tuple[Scoring, Confidence]",
) -> None:
    """Show one run scored, or several compared."""
    lines = [
        *remarks(found.searched),
        *run_remarks(found.runs, found.searched.trees),
        *found.remarks,
    ]
    if output.style == "json":
        from karat.report.json import searched_json

        text = searched_json(
            found.overall,
            found.resolved,
            show.settings_by_name(settings),
            searched=found.searched,
            runs=found.runs,
            warnings=[line for line in (warning(found.searched), *found.remarks) if line],
        )
        show.put(text, output)
    elif output.style == "csv":
        for line in lines:
            click.echo(printable(line), err=True)
        if isinstance(found.overall, Evaluation):
            show.show_evaluation(found.overall, gold, output, settings=settings)
        else:
            show.show_contest(found.overall, gold, output, settings=settings)
    else:
        show.put(show.draw_tables(_tables(found, gold, output, lines), output), output)


def _tables(
    found: "EvaluationResult", gold: "Dataset", output: Output, lines: Sequence[str]
) -> "list[Table]":
    *before, whole = _result_tables(found.overall, gold, output)
    tables = [*before, *_times(found.runs, gold)]
    tables.append(replace(whole, notes=(*whole.notes, *_untimed(found.runs), *lines)))
    if found.resolved:
        # It flatters, so that it comes after the one that counts.
        table = _result_tables(found.resolved, gold, output)[-1]
        title = f"{table.title}, without the targets that do not exist in the searched version"
        tables.append(replace(table, title=title, conclusion=""))
    return tables


def _times(runs: "Sequence[RunResult]", gold: "Dataset") -> "tuple[Table, ...]":
    """Return how long the runs took, where one was timed, and what their queries have cost."""
    from karat.report.findings.latency import spent_tables, times_table

    timed = () if _untimed(runs) else (times_table(runs, gold.query_ids),)
    return (*timed, *spent_tables(runs))


def _untimed(runs: "Sequence[RunResult]") -> tuple[str, ...]:
    """Return a line that says so where no run was timed."""
    return () if any(run.timings for run in runs) else ("latency: not measured",)


def _result_tables(result: "Result", gold: "Dataset", output: Output) -> "list[Table]":
    if isinstance(result, Evaluation):
        return show.evaluation_tables(result, gold, output)
    return show.contest_tables(result, gold, output)


def show_findings(
    findings: "Findings", searched: CorpusCoverage, output: Output, *, more: Sequence[str] = ()
) -> None:
    """Show many runs: what to take for which purpose, and all of them, the best first.

    *more* are lines to read beside them.
    """
    from karat.report.findings.leaderboard import leaderboard_table, resolved_tables
    from karat.report.findings.tables import advice_table

    board = leaderboard_table(findings)
    lines = (*_untimed(findings.runs), *_trouble(findings), *remarks(searched), *more)
    tables = [
        *_times(findings.runs, findings.gold),
        advice_table(findings),
        _led(replace(board, notes=(*board.notes, *lines))),
        *map(_led, resolved_tables(findings)),
    ]
    show.put(show.draw_tables(show.add_warnings(tables, findings.contest.warnings), output), output)


def _led(table: "Table") -> "Table":
    """Return *table* so that where there is no room the measures that lead are the last to go."""
    columns = (
        column._replace(spare=place) if place > 1 else column
        for place, column in enumerate(table.columns)
    )
    return replace(table, columns=tuple(columns))


def _trouble(findings: "Findings") -> Iterator[str]:
    """Yield a line for each run that something went wrong with, or one for all."""
    lines = []
    for evaluation, run in zip(findings.contest.evaluations, findings.runs, strict=True):
        notes = evaluation.notes
        counts = {status.name.lower(): notes.statuses[status] for status in TROUBLE}
        said = [f"{count:,} {what}" for what, count in counts.items() if count]
        said += [invalid_text(notes)] if notes.invalid else []
        lines += [f"{evaluation.name}: {', '.join(said)}"] if said else []
        lines += odd_answers(run)
    yield from lines or ["all runs answered every query, without invalid hits"]
