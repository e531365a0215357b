"""An experiment from the plan to the answer: what evaluate, compare and sweep have in common."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.experiment_options import Asking
from karat.cli.options import Output
from karat.cli.report_files import FOLDER_FORMATS
from karat.model.evaluation import Evaluation
from karat.report.display import counted, printable

if TYPE_CHECKING:
    from karat.app.evaluate import Evaluated, Result
    from karat.app.experiment import Done, Planned, Request
    from karat.app.settings import Confidence
    from karat.model import Dataset
    from karat.model.searched import Searched
    from karat.report.table import Table

__all__ = ["Views", "carry_out"]

BROKEN = 3
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Views:
    """How the outcome is shown, and where it goes.

    *run_out* names files for the runs; *formats* and *charts* say what fills a folder.
    """

    confidence: "Confidence"
    output: Output
    by: tuple[str, ...] = ()
    run_out: str | None = None
    run_format: str | None = None
    formats: Sequence[str] = field(default=FOLDER_FORMATS)
    charts: bool = False

    @property
    def folder(self) -> str | None:
        """Return the folder to fill, None where a file or nothing is to be written."""
        path = self.output.path
        is_folder = path is not None and (path.endswith(("/", "\\")) or Path(path).is_dir())
        return path if is_folder else None

    @property
    def report(self) -> str | None:
        """Return the report to write, None where its name is that of none or a style was asked."""
        from karat.report.draw import FORMATS

        path = self.output.path
        named = path is not None and Path(path).suffix.lower() in FORMATS
        return path if named and self.output.style is None and not self.folder else None


def carry_out(
    request: "Request", asking: Asking, views: Views, *, allowed: int | None = None
) -> None:
    """Show the plan, run what the store does not hold yet, show the outcome and exit.

    The exit code is 130 where it was interrupted, and 3 where a run has failed.
    """
    from karat.app.evaluate import evaluated

    _check(request, views)
    done = _run(request, asking, allowed=allowed)
    ctx = click.get_current_context()
    if done.interrupted:
        _tell_rest(done)
        ctx.exit(INTERRUPTED)
    found = evaluated(
        request.gold,
        done,
        scoring=request.scoring,
        confidence=views.confidence,
        by=views.by,
    )
    _keep_runs(found, views)
    _show(found, request, views)
    _write(found, request, views)
    click.echo(f"kept as {done.experiment.id} in {asking.store}", err=True)
    for run in found.failed:
        click.echo(printable(f"failed: {run.label}: {run.error}"), err=True)
    if found.failed:
        ctx.exit(BROKEN)


def _check(request: "Request", views: Views) -> None:
    """Refuse names of files that cannot be written before anything runs."""
    from karat.cli.run_files import namer

    if views.run_out:
        file_of = namer(views.run_out, several=len(request.entries) > 1)
        for entry in request.entries:
            file_of(entry.name)


def _run(request: "Request", asking: Asking, *, allowed: int | None) -> "Done":
    from karat.app.entries import answers_alike
    from karat.app.experiment import planned, run_experiment
    from karat.app.stored import open_store
    from karat.cli.progress import run_progress
    from karat.sweep.entries import MOST

    plan = planned(request, allowed=MOST if allowed is None else allowed)
    _tell_plan(plan)
    again = asking.again
    if again is None:
        again = not all(answers_alike(entry.spec) for entry in request.entries)
    total = plan.runs * plan.queries
    with open_store(asking.store, new=True) as store, run_progress(total) as listen:
        return run_experiment(request, store, listen=listen, surveyed_as=_warn, again=again)


def _tell_plan(plan: "Planned") -> None:
    if plan.runs > 1:
        timed = "none" if not plan.timed else "all" if plan.timed == plan.queries else plan.timed
        click.echo(
            f"plan: {counted(plan.runs, 'run')} of {plan.queries:,} queries, {timed} of them timed",
            err=True,
        )
        for line in plan.plan.lines():
            click.echo(f"  {line}", err=True)
    for warning in plan.warnings:
        click.echo(f"warning: {warning}", err=True)


def _tell_rest(done: "Done") -> None:
    experiment = done.experiment
    answers = sum(run.answers for run in experiment.runs)
    total = experiment.queries * len(experiment.runs)
    click.echo(
        f"interrupted: {answers:,} of {counted(total, 'answer')} are kept as {experiment.id}; the "
        "same command continues",
        err=True,
    )


def _warn(searched: "Searched") -> None:
    from karat.report.searched_view import warning

    if text := warning(searched):
        click.echo(f"warning: {text}", err=True)


def _keep_runs(found: "Evaluated", views: Views) -> None:
    if views.run_out is None:
        return
    from karat.app.stored import timed_run
    from karat.cli.run_files import keeper

    keep = keeper(views.run_out, views.run_format, several=len(found.runs) > 1)
    for measured in found.runs:
        keep(timed_run(measured))


def _write(found: "Evaluated", request: "Request", views: Views) -> None:
    """Write the report or the folder that was asked for."""
    if not views.report and not views.folder:
        return
    from karat.app.report_inputs import ReportInputs
    from karat.cli import report_files
    from karat.formats.karat_run import run_digest

    digests = tuple(run_digest(measured.run) for measured in found.runs)
    inputs = ReportInputs(request.gold, found.runs, digests)
    by = views.by or None
    findings = report_files.findings_of(inputs, request.scoring, views.confidence, by=by)
    if views.report:
        report_files.write_report(findings, views.report)
    if views.folder:
        report_files.write_folder(
            views.folder,
            findings,
            report_files.judged_by(inputs, request.scoring, views.confidence),
            formats=views.formats,
            charts=views.charts,
        )


def _show(found: "Evaluated", request: "Request", views: Views) -> None:
    from karat.cli import show
    from karat.report.searched_view import warning

    gold, output = request.gold, views.output
    if views.report or views.folder:
        # That is written beside what is shown here.
        output = output._replace(path=None)
    settings = (request.scoring, views.confidence)
    lines = list(_remarks(found))
    if output.style == "json":
        from karat.report.json import searched_json

        text = searched_json(
            found.overall,
            found.resolved,
            show.named(settings),
            searched=found.searched,
            runs=found.runs,
            warning=warning(found.searched),
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
        show.put(show.drawn(_tables(found, gold, output, lines), output), output)


def _tables(
    found: "Evaluated", gold: "Dataset", output: Output, lines: Sequence[str]
) -> "list[Table]":
    from karat.report.findings.latency import times_table

    *before, whole = _result_tables(found.overall, gold, output)
    tables = [*before, times_table(found.runs, gold.query_ids)]
    tables.append(replace(whole, notes=(*whole.notes, *lines)))
    if found.resolved:
        # It flatters, so that it comes after the one that counts.
        table = _result_tables(found.resolved, gold, output)[-1]
        title = f"{table.title}, without the targets that are not in the tree searched"
        tables.append(replace(table, title=title, conclusion=""))
    return tables


def _result_tables(result: "Result", gold: "Dataset", output: Output) -> "list[Table]":
    from karat.cli.show import contest_tables, evaluation_tables

    if isinstance(result, Evaluation):
        return evaluation_tables(result, gold, output)
    return contest_tables(result, gold, output)


def _remarks(found: "Evaluated") -> "Sequence[str]":
    from karat.report.searched_view import remarks, run_remarks

    trees = found.searched.trees
    return [
        *remarks(found.searched),
        *(line for measured in found.runs for line in run_remarks(measured, trees)),
    ]
