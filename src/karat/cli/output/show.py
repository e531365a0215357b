"""Print results or write them to a file, in the requested style."""

import os
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from karat.cli.options.shared import Output
from karat.model import Dataset
from karat.model.evaluation import Evaluation
from karat.report import score_view
from karat.report.table import Table, mark_of, marked

if TYPE_CHECKING:
    from karat.app.score import Truth
    from karat.model.evaluation import ComparisonResult
    from karat.scoring.settings import Confidence, Scoring

__all__ = [
    "add_warnings",
    "contest_tables",
    "draw_tables",
    "evaluation_tables",
    "put",
    "put_json",
    "put_table",
    "settings_by_name",
    "show_contest",
    "show_evaluation",
    "single_threaded",
    "terminal_width",
]


def single_threaded() -> None:
    """Keep numpy's linear algebra from starting threads, which costs more than it brings here."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def show_evaluation(
    evaluation: Evaluation,
    truth: "Truth",
    output: Output,
    *,
    settings: "tuple[Scoring, Confidence]",
) -> None:
    """Show one scored run."""
    if output.style == "json":
        from karat.report.json import evaluation_json

        text = evaluation_json(evaluation, settings_by_name(settings))
    elif output.style == "csv":
        from karat.report.csv import evaluation_csv, queries_csv

        _warn(evaluation.warnings)
        text = queries_csv([evaluation]) if output.per_query else evaluation_csv(evaluation)
    else:
        text = draw_tables(evaluation_tables(evaluation, truth, output), output)
    put(text, output)


def show_contest(
    contest: "ComparisonResult",
    truth: "Truth",
    output: Output,
    *,
    settings: "tuple[Scoring, Confidence]",
) -> None:
    """Show several runs compared."""
    if output.style == "json":
        from karat.report.json import contest_json

        text = contest_json(contest, settings_by_name(settings))
    elif output.style == "csv":
        from karat.report.csv import contest_csv, queries_csv

        _warn(contest.warnings)
        text = queries_csv(contest.evaluations) if output.per_query else contest_csv(contest)
    else:
        text = draw_tables(contest_tables(contest, truth, output), output)
    put(text, output)


def evaluation_tables(evaluation: Evaluation, truth: "Truth", output: Output) -> list[Table]:
    """Return what to draw of one scored run, the scores over all queries last."""
    evaluation = evaluation.labelled()
    # The most important table comes last, because a terminal shows the end.
    tables = [*score_view.slice_tables(evaluation), score_view.score_table(evaluation)]
    if output.per_query:
        tables.insert(0, score_view.per_query_table(evaluation, _texts(truth)))
    tables = [marked(table, evaluation.mark) for table in tables]
    return add_warnings(tables, evaluation.warnings)


def contest_tables(contest: "ComparisonResult", truth: "Truth", output: Output) -> list[Table]:
    """Return what to draw of several runs compared, the comparison over all queries last."""
    # It brings the statistics along, and numpy with them, which a plain score can do without.
    from karat.report import compare_view

    contest = contest.labelled()
    tables = [*compare_view.slice_tables(contest), compare_view.compare_table(contest)]
    tables = [marked(table, contest.mark) for table in tables]
    if output.per_query:
        lead = contest.comparison.metrics[0]
        table = compare_view.per_query_table(contest, _texts(truth), lead)
        tables.insert(0, marked(table, mark_of(contest.mark, lead)))
    return add_warnings(tables, contest.warnings)


def add_warnings(tables: list[Table], warnings: tuple[str, ...]) -> list[Table]:
    """Return *tables* with *warnings* before the first of them."""
    return [replace(tables[0], warnings=warnings), *tables[1:]]


def draw_tables(tables: list[Table], output: Output) -> str:
    """Return *tables* as Markdown, or as text for the terminal or a file."""
    if output.style == "markdown":
        from karat.report.table import render as render_markdown

        return "\n".join(map(render_markdown, tables))
    from karat.report.text import render

    width = None if output.path else terminal_width()
    # https://no-color.org: any value but an empty one.
    colour = width is not None and not os.environ.get("NO_COLOR")
    return "\n".join(render(table, colour=colour, width=width) for table in tables)


def terminal_width() -> int | None:
    """Return the columns of the terminal, None where the output goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _warn(warnings: tuple[str, ...]) -> None:
    """Print *warnings* beside output that has no place for them."""
    from karat.report.display import printable

    for text in warnings:
        click.echo(printable(f"warning: {text}"), err=True)


def put(text: str, output: Output) -> None:
    """Print *text*, or write it to the file that *output* names."""
    if output.path is None:
        # Escape sequences in CSV are data; `color` keeps click from removing them.
        click.echo(text, nl=False, color=True)
        return
    from karat.system.files import write_text

    write_text(output.path, text)
    click.echo(f"wrote {output.path}", err=True)


def put_table(table: Table) -> None:
    """Print *table*."""
    output = Output(style=None, per_query=False, path=None)
    put(draw_tables([table], output), output)


def put_json(value: object) -> None:
    """Print *value* as JSON."""
    from karat.formats.jsontext import dumps
    from karat.report.json import plain

    click.echo(dumps(plain(value)))


def _texts(truth: "Truth") -> dict[str, str]:
    if not isinstance(truth, Dataset):
        return {}
    return dict(zip(truth.query_ids, truth.texts, strict=True))


def settings_by_name(settings: "tuple[Scoring, Confidence]") -> dict[str, object]:
    """Return *settings* by name, for machines."""
    scoring, confidence = settings
    return {"scoring": scoring, "confidence": confidence}
