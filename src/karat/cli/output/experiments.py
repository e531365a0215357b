"""An experiment from the plan to the answer: what evaluate, compare and sweep have in common."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.options.experiment import Asking
from karat.cli.options.shared import Output
from karat.cli.output.progress import wrapped
from karat.formats.results import FOLDER_FORMATS
from karat.report.display import counted, printable

if TYPE_CHECKING:
    from karat.app.report import ReportInputs
    from karat.experiments.run import ExperimentRequest, ExperimentRun, PlannedExperiment
    from karat.model.searched import Searched
    from karat.model.timings import Measured
    from karat.report.findings import Findings
    from karat.scoring.settings import Confidence, Scoring

__all__ = ["Views", "carry_out"]

BROKEN = 3
INTERRUPTED = 130
# Of the formats in a folder, those of one agent with all of its queries.
RESULT_FILES = frozenset({"json", "csv"})


@dataclass(frozen=True, slots=True)
class Views:
    """How the outcome is shown, and where it goes.

    *formats* and *charts* say what fills a folder.
    """

    confidence: "Confidence"
    output: Output
    by: tuple[str, ...] = ()
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
    def every_latency(self) -> bool:
        """Return whether result files are written, which have a latency for each query."""
        return self.folder is not None and not RESULT_FILES.isdisjoint(self.formats)

    @property
    def report(self) -> str | None:
        """Return the report to write, None where its name is that of none or a style was asked."""
        from karat.report.draw import FORMATS

        path = self.output.path
        named = path is not None and Path(path).suffix.lower() in FORMATS
        return path if named and self.output.style is None and not self.folder else None


def carry_out(
    request: "ExperimentRequest", asking: Asking, views: Views, *, allowed: int | None = None
) -> None:
    """Show the plan, run what the store does not hold yet, show the outcome and exit.

    The exit code is 130 where it was interrupted, and 3 where a run has failed.
    """
    from karat.app.evaluate import finished

    _check(request, asking, views)
    done = _run(request, asking, allowed=allowed)
    ctx = click.get_current_context()
    if done.interrupted:
        _tell_rest(done)
        ctx.exit(INTERRUPTED)
    ended = finished(done)
    if asking.run_out is not None:
        _keep_runs(ended.runs, asking.run_out, views.run_format)
    _tell(done, _inputs(done, request), request, views, losses=asking.losses)
    _tell_where(done, asking.store, views)
    for names, reason in ended.reasons():
        click.echo(printable(f"failed: {names}: {reason}"), err=True)
    if ended.failed:
        ctx.exit(BROKEN)


def _tell(
    done: "ExperimentRun",
    inputs: "ReportInputs",
    request: "ExperimentRequest",
    views: Views,
    *,
    losses: bool,
) -> None:
    """Show the outcome, and write the report or the folder that was asked for."""
    from karat.app.evaluate import evaluated
    from karat.cli.output.experiment import MANY, show_evaluated, show_findings

    written = bool(views.report or views.folder)
    # What is written stands beside what is shown.
    output = views.output._replace(path=None) if written else views.output
    many = len(inputs.runs) > MANY and output.style in (None, "markdown")
    scoring, confidence = request.scoring, views.confidence
    findings = None
    if many or written:
        from karat.cli.output.report_files import findings_of

        title = views.output.title
        findings = findings_of(inputs, scoring, confidence, by=views.by or None, title=title)
    if many and findings:
        show_findings(findings, done.searched, output, more=done.remarks)
    else:
        found = evaluated(request.gold, done, scoring=scoring, confidence=confidence, by=views.by)
        show_evaluated(found, request.gold, output, settings=(scoring, confidence))
    if findings and losses:
        from karat.app.losses import with_losses
        from karat.cli.output.progress import progress_bar

        with progress_bar("explaining") as progress:
            findings = with_losses(findings, request.where, progress=progress)
    if findings:
        _write(findings, inputs, scoring, views)


def _tell_where(done: "ExperimentRun", store: str, views: Views) -> None:
    from karat.experiments.stored import shown_place

    text = f"stored as {done.experiment.id} in {shown_place(store)}"
    if not (views.report or views.folder):
        text += f"; karat report {done.experiment.id}{_store_typed(store)} -o report.html"
    click.echo(text, err=True)


def _store_typed(store: str) -> str:
    """Return the option that names *store* again, empty where a command finds it by itself."""
    from click.core import ParameterSource

    source = click.get_current_context().get_parameter_source("store")
    if source is not ParameterSource.COMMANDLINE:
        return ""
    from karat.experiments.stored import shown_place

    # An address is shown without its password, and must be typed with it.
    place = shlex.quote(store) if shown_place(store) == store else "..."
    return f" --store {place}"


def _check(request: "ExperimentRequest", asking: Asking, views: Views) -> None:
    """Refuse what cannot be written before anything runs."""
    from karat.cli.output.run_files import namer

    if asking.losses and not (views.report or views.folder):
        raise click.UsageError("--losses is told in a report; expected -o with the name of one.")
    output = views.output
    if output.path and not (output.style or views.report or views.folder):
        raise click.UsageError(
            f"{output.path}: neither a report, such as report.html, nor a folder, such as results/."
        )
    for path in (None if views.folder else output.path, asking.run_out):
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise click.UsageError(f"{path}: its folder does not exist.")
    if asking.run_out:
        file_of = namer(asking.run_out, several=len(request.entries) > 1)
        for entry in request.entries:
            file_of(entry.name)


def _run(request: "ExperimentRequest", asking: Asking, *, allowed: int | None) -> "ExperimentRun":
    from karat.cli.output.progress import run_progress
    from karat.experiments.configurations import answers_alike
    from karat.experiments.plan import MOST
    from karat.experiments.run import planned, run_experiment
    from karat.experiments.stored import open_store

    plan = planned(request, allowed=MOST if allowed is None else allowed)
    _tell_plan(plan)
    again = asking.again
    if again is None:
        again = not all(answers_alike(entry.spec) for entry in request.entries)
    with open_store(asking.store, new=True) as store, run_progress(plan.untimed) as listen:
        return run_experiment(request, store, listen=listen, surveyed_as=_warn, again=again)


def _tell_plan(plan: "PlannedExperiment") -> None:
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


def _tell_rest(done: "ExperimentRun") -> None:
    experiment = done.experiment
    answers = sum(run.answers for run in experiment.runs)
    total = experiment.queries * len(experiment.runs)
    text = (
        f"interrupted: {answers:,} of {counted(total, 'answer')} are stored as {experiment.id}; "
        "the same command continues"
    )
    click.echo(wrapped(text) if sys.stderr.isatty() else text, err=True)


def _warn(searched: "Searched") -> None:
    from karat.report.searched_view import warning

    if text := warning(searched):
        click.echo(f"warning: {text}", err=True)


def _keep_runs(runs: "Sequence[Measured]", place: str, run_format: str | None) -> None:
    from karat.cli.output.run_files import keeper
    from karat.experiments.stored import timed_run

    keep = keeper(place, run_format, several=len(runs) > 1)
    for measured in runs:
        keep(timed_run(measured))


def _inputs(done: "ExperimentRun", request: "ExperimentRequest") -> "ReportInputs":
    from karat.app.evaluate import finished
    from karat.app.report import ReportInputs
    from karat.experiments.stored import record_of
    from karat.formats.karat_run import run_digest

    ended = finished(done)
    digests = tuple(run_digest(measured.run) for measured in ended.runs)
    stored = {run.label: run for run in done.experiment.runs}
    records = tuple(
        record_of(done.experiment, stored[measured.name], measured, request.gold)
        for measured in ended.runs
    )
    left_out = tuple(f"failed and left out: {names}: {why}" for names, why in ended.reasons())
    return ReportInputs(request.gold, ended.runs, digests, records, left_out)


def _write(findings: "Findings", inputs: "ReportInputs", scoring: "Scoring", views: Views) -> None:
    from karat.cli.output.report_files import judged_by, write_folder, write_report

    if views.report:
        write_report(findings, views.report)
    if views.folder:
        judged = judged_by(inputs, scoring, views.confidence)
        write_folder(views.folder, findings, judged, formats=views.formats, charts=views.charts)
