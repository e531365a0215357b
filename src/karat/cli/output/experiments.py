"""Run an experiment and show its result: for evaluate, compare and sweep."""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.options.experiment import RunOptions
from karat.cli.options.shared import Output
from karat.cli.output import show
from karat.cli.output.progress import wrapped
from karat.errors import InputError
from karat.formats.base import FOLDER_FORMATS
from karat.model.coverage import CorpusCoverage
from karat.model.evaluation import Evaluation
from karat.model.frozen import EMPTY
from karat.report.display import printable, unbroken
from karat.report.score_view import (
    decisive_remarks,
    failures,
    first_error,
    odd_answers,
    remarks,
    run_remarks,
    searched_place,
)
from karat.report.score_view import warning as coverage_warning
from karat.system.words import counted

if TYPE_CHECKING:
    from karat.app.evaluate import (
        EvaluationResult,
        ExperimentPlan,
        ExperimentRequest,
        ExperimentResult,
        FinishedRuns,
        Measure,
        Result,
    )
    from karat.app.report import ReportInputs
    from karat.model import Dataset
    from karat.model.change import RunChange
    from karat.model.coverage import CorpusCoverage
    from karat.model.timings import RunResult
    from karat.report.findings import Findings
    from karat.report.findings.contenders import Advice
    from karat.report.table import Table
    from karat.scoring.settings import Confidence, Scoring


# More runs than this are read as one list, the best first.
MANY = 6
# A run with a longer name goes by its id in commands.
LONGEST_NAME = 24


def show_evaluated(
    result: "EvaluationResult",
    gold: "Dataset",
    output: Output,
    *,
    settings: "tuple[Scoring, Confidence]",
    engines: Mapping[str, str] = EMPTY,
    advice: "Sequence[Advice]" = (),
    ranked: bool = False,
    ids: Mapping[str, str] = EMPTY,
    store: str = "",
) -> None:
    """Show one run scored, or several compared, with *advice* on which to take.

    *engines* has the options that give the engine of each run. *ranked* runs are shown by the first
    measure, the best first. *ids* has the id of each run, and *store* the option that names the
    store, "" if none is needed.
    """
    from karat.app.evaluate import lost_queries
    from karat.report.compare_view import best_engine

    best = recommended = ""
    if not isinstance(result.overall, Evaluation):
        from karat.report.findings.recommend import recommended_engine

        recommended = recommended_engine(advice, engines)
        best = best_engine(result.overall.comparison, engines)
    if output.style == "json":
        from karat.report.json import searched_json

        misleading = coverage_warning(result.searched)
        text = searched_json(
            result.overall,
            result.resolved,
            show.settings_by_name(settings),
            searched=result.searched,
            runs=result.runs,
            warnings=[show.with_gold(line) for line in (misleading, *result.remarks) if line],
            best_engine=best,
            advice=advice,
            recommended_engine=recommended,
            changes=result.changes,
        )
        show.put(text, output)
    elif output.style == "csv":
        for line in _all_lines(result, advice, engines):
            click.echo(printable(line), err=True)
        show.show_result(result.overall, gold, output, settings=settings)
    elif output.details:
        tables = _detail_tables(result, _all_lines(result, advice, engines), gold)
        if not output.per_query and (lossy := lost_queries(result, _recommended(advice))):
            command = _inspect_command(lossy, ids, store)
            tables.append(show.worst_table(lossy, gold, command))
        tables += show.query_tables(result.overall, gold, output)
        show.put(show.draw_tables(tables, output), output)
    else:
        from karat.report.change_view import change_lines
        from karat.report.findings.latency import medians_ms
        from karat.report.findings.recommend import advice_lines

        lossy = lost_queries(result, _recommended(advice))
        command = _lost_command(result.changes, ids, store)
        if lossy and not command:
            command = _inspect_command(lossy, ids, store)
        tables = show.overview_tables(
            result.overall,
            gold,
            output,
            medians_ms=medians_ms(result.runs, gold.query_ids),
            ranked=ranked,
            notes=[
                *change_lines(result.changes),
                *_decisive_lines(result.searched, result.runs, result.remarks),
                *advice_lines(advice, engines),
            ],
            more=f"{show.MORE_SHORT}; lost queries: {unbroken(command)}" if command else show.MORE,
        )
        show.put(show.draw_tables(tables, output), output)


def _recommended(advice: "Sequence[Advice]") -> str:
    """Return the name of the recommended run, "" without one."""
    from karat.report.findings.cheapest import RECOMMENDED

    return next((each.run for each in advice if each.purpose == RECOMMENDED), "")


def _inspect_command(evaluation: Evaluation, ids: Mapping[str, str], store: str) -> str:
    """Return the command that lists the lost queries of a run, "" without a file of its gold set.

    *store* is the option that names the store.
    """
    return _on_gold(f"karat inspect GOLDSET --run {_typed(evaluation.name, ids)}{store}")


def _lost_command(changes: "Sequence[RunChange]", ids: Mapping[str, str], store: str) -> str:
    """Return the command that lists what a run has lost since its previous run, "" for nothing."""
    for change in changes:
        if change.against == "previous" and change.difference.losses:
            run = _typed(change.run, ids)
            earlier = f"{run}@previous" if run == change.run else change.earlier
            return _on_gold(f"karat compare GOLDSET {earlier} {run}{store} --per-query")
    return ""


def _typed(run: str, ids: Mapping[str, str]) -> str:
    """Return what names *run* in a command: its name, or its id where that has to be quoted."""
    plain = shlex.quote(run)
    return plain if plain == run and len(run) <= LONGEST_NAME else ids.get(run, plain)


def _on_gold(command: str) -> str:
    """Return *command* with the gold set that was typed, "" without a file of it."""
    typed = show.with_gold(command)
    return "" if typed == command else typed


def _decisive_lines(
    searched: CorpusCoverage, runs: "Sequence[RunResult]", remarks: Sequence[str]
) -> Iterator[str]:
    """Yield what changes the meaning of the numbers: lost targets, errors, disturbed latencies."""
    from karat.report.findings.latency import DISTURBED_NOTE

    yield from decisive_remarks(searched)
    for run in runs:
        yield from filter(None, [first_error(run)])
        yield from odd_answers(run)
    if any(run.timings is not None and not run.timings.alone for run in runs):
        yield DISTURBED_NOTE
    yield from map(show.with_gold, remarks)


def _all_lines(
    result: "EvaluationResult", advice: "Sequence[Advice]", engines: Mapping[str, str]
) -> list[str]:
    """Return everything to say about an experiment beside its numbers."""
    from karat.report.change_view import change_lines
    from karat.report.findings.recommend import advice_lines

    of_corpus = result.searched.snapshot == "corpus"
    return [
        *remarks(result.searched),
        *run_remarks(result.runs, result.searched.trees, indexed=not of_corpus),
        *map(show.with_gold, result.remarks),
        *change_lines(result.changes),
        *advice_lines(advice, engines),
    ]


def _detail_tables(
    result: "EvaluationResult", lines: Sequence[str], gold: "Dataset"
) -> "list[Table]":
    """Return all tables: scores with and without missing targets, latency, values of tags."""
    whole, *slices = show.detail_tables(result.overall)
    tables = [replace(whole, notes=(*whole.notes, *_untimed(result.runs), *lines))]
    if result.resolved:
        table = show.detail_tables(result.resolved)[0]
        new = tuple(note for note in table.notes if note not in whole.notes)
        title = f"{table.title}, without the targets that do not exist in "
        title += searched_place(result.searched)
        tables.append(replace(table, title=title, notes=new, conclusion="", warnings=()))
    return [*tables, *_times(result.runs, gold), *slices]


def _times(runs: "Sequence[RunResult]", gold: "Dataset") -> "tuple[Table, ...]":
    """Return how long the runs took, where one was timed, and what their queries have cost."""
    from karat.report.findings.latency import spent_tables, times_table

    timed = () if _untimed(runs) else (times_table(runs, gold.query_ids),)
    return (*timed, *spent_tables(runs))


def _untimed(runs: "Sequence[RunResult]") -> tuple[str, ...]:
    """Return a line that says so where no run was timed."""
    return () if any(run.timings for run in runs) else ("latency: not measured",)


def show_findings(
    findings: "Findings",
    searched: CorpusCoverage,
    output: Output,
    *,
    by: Sequence[str] = (),
    more: Sequence[str] = (),
) -> None:
    """Show many runs, the best first, and which one to take for which purpose.

    *more* are lines to read beside them.
    """
    if output.details:
        tables = _findings_tables(findings, searched, more)
    else:
        from karat.report.findings.latency import medians_ms
        from karat.report.findings.recommend import advice_lines, recommendations

        contest = findings.contest
        engines = dict(zip(findings.names, findings.engines, strict=False))
        tables = show.overview_tables(
            replace(contest, slices={tag: contest.slices[tag] for tag in by}),
            findings.gold,
            output,
            medians_ms=medians_ms(findings.runs, findings.gold.query_ids),
            ranked=True,
            notes=[
                *_decisive_lines(searched, findings.runs, more),
                *advice_lines(recommendations(findings), engines),
            ],
        )
    show.put(show.draw_tables(tables, output), output)


def _findings_tables(
    findings: "Findings", searched: CorpusCoverage, more: Sequence[str]
) -> "list[Table]":
    """Return all tables of many runs: all measures, latency, recommendations, sections."""
    from karat.report.draw import advice_table
    from karat.report.findings.leaderboard import leaderboard_table, resolved_tables
    from karat.report.score_view import BEST_NOTE
    from karat.report.section import section_tables
    from karat.report.table import marked

    mark = findings.contest.mark
    board = marked(leaderboard_table(findings), mark)
    scored = findings.contest.evaluations
    units = dict.fromkeys(each.notes.unit for each in scored)
    tokens = dict.fromkeys(each.notes.tokens for each in scored)
    lines = (
        *filter(None, (*units, *tokens)),
        *_untimed(findings.runs),
        *_trouble(findings),
        *remarks(searched),
        *more,
    )
    if any(cell.best for row in board.rows for cell in row):
        lines = (BEST_NOTE, *lines)
    warnings = tuple(map(show.with_gold, findings.contest.warnings))
    return [
        _led(replace(board, notes=(*board.notes, *lines), warnings=warnings)),
        *(_led(marked(table, mark)) for table in resolved_tables(findings)),
        *_times(findings.runs, findings.gold),
        advice_table(findings),
        *section_tables(findings),
    ]


def _led(table: "Table") -> "Table":
    """Return *table* so that a narrow terminal drops the last measures first."""
    columns = (
        column._replace(spare=index) if index > 1 else column
        for index, column in enumerate(table.columns)
    )
    return replace(table, columns=tuple(columns))


def _trouble(findings: "Findings") -> Iterator[str]:
    """Yield a line for each run that something went wrong with, or one for all."""
    lines = []
    for evaluation, run in zip(findings.contest.evaluations, findings.runs, strict=True):
        said = failures(evaluation)
        lines += [f"{evaluation.name}: {said}"] if said else []
        lines += filter(None, [first_error(run)])
        lines += odd_answers(run)
    yield from lines or ["all runs answered every query, without invalid hits"]


BROKEN = 3
INTERRUPTED = 130
# Of the formats in a folder, those of one agent with all of its queries.
RESULT_FILES = frozenset({"json", "csv"})


@dataclass(frozen=True, slots=True)
class Views:
    """How the result is shown, and where it is written.

    *formats* and *charts* are those of a folder; *engine_file* gets the recommended engine.
    """

    confidence: "Confidence"
    output: Output
    by: tuple[str, ...] = ()
    run_format: str | None = None
    formats: Sequence[str] = field(default=FOLDER_FORMATS)
    charts: bool = False
    engine_file: str | None = None

    @property
    def folder(self) -> str | None:
        """Return the folder to write to, None if there is none."""
        path = self.output.path
        is_folder = path is not None and (path.endswith(("/", "\\")) or Path(path).is_dir())
        return path if is_folder else None

    @property
    def written(self) -> bool:
        """Return whether a report or a folder is written."""
        return bool(self.report or self.folder)

    def lists(self, runs: int) -> bool:
        """Return whether so many runs are shown as one list, the best first, as in a report."""
        return runs > MANY and self.output.style in (None, "markdown")

    @property
    def every_latency(self) -> bool:
        """Return whether result files are written, which have a latency for each query."""
        return self.folder is not None and not RESULT_FILES.isdisjoint(self.formats)

    @property
    def report(self) -> str | None:
        """Return the report to write, None if there is none."""
        path = self.output.path
        if path is None or self.output.style is not None or self.folder:
            return None
        from karat.report.draw import SUFFIXES

        return path if Path(path).suffix.lower() in SUFFIXES else None


def carry_out(
    request: "ExperimentRequest", options: RunOptions, views: Views, *, allowed: int | None = None
) -> None:
    """Show the plan, run the queries that the store lacks, show the result and exit.

    The exit code is 130 after an interruption, and 3 if a run has failed or is broken.
    """
    from karat.app.evaluate import select_finished

    _check(request, options, views)
    started = datetime.now(UTC)
    further: Sequence[Measure] = ()
    if views.written or views.lists(len(request.configurations)):
        from karat.app.report import report_measures

        further = report_measures(request.gold, request.scoring)
    done = run_request(request, options, further=further, allowed=allowed)
    ctx = click.get_current_context()
    if done.interrupted:
        show_interrupted(done)
        ctx.exit(INTERRUPTED)
    ended = select_finished(done)
    if options.run_out is not None:
        _write_runs(ended.runs, options.run_out, views.run_format, request.gold.query_ids)
    result, advice = _show_result(
        done, ended, request, views, losses=options.losses, store=options.store
    )
    _show_store(done, options.store, views, since=started)
    show_failed(ended)
    if ended.failed or result.broken:
        ctx.exit(BROKEN)
    if views.engine_file:
        _write_engine(request, advice, views.engine_file)


def show_failed(ended: "FinishedRuns") -> None:
    """Name the runs that have failed on standard error, with their errors."""
    for names, reason in ended.reasons():
        for line in f"failed: {names}: {reason}".splitlines():
            click.echo(printable(line), err=True)


def _show_result(
    done: "ExperimentResult",
    ended: "FinishedRuns",
    request: "ExperimentRequest",
    views: Views,
    *,
    losses: bool,
    store: str,
) -> "tuple[Result, Sequence[Advice]]":
    """Show and return the result, and which run to take; write the report or the folder."""
    from karat.app.changes import with_changes
    from karat.app.evaluate import evaluate_experiment, kind_proposal

    # A report is written in addition to what is shown.
    output = views.output._replace(path=None) if views.written else views.output
    many = views.lists(len(ended.runs))
    scoring, confidence = request.scoring, views.confidence
    inputs = findings = None
    advice: Sequence[Advice] = ()
    if many or views.written:
        from karat.app.report import experiment_inputs, make_findings

        inputs = experiment_inputs(done, ended, request)
        title = views.output.title
        findings = make_findings(inputs, scoring, confidence, by=views.by or None, title=title)
    if many and findings:
        evaluations = findings.contest.evaluations
        proposal = kind_proposal(request.gold, done.searched, ended.runs, evaluations, scoring)
        more = (*done.remarks, *proposal)
        show_findings(findings, done.searched, output, by=views.by, more=more)
        result: Result = findings.contest
        from karat.report.findings.recommend import recommendations

        advice = recommendations(findings)
    else:
        evaluated = evaluate_experiment(
            request.gold, done, runs=ended, scoring=scoring, confidence=confidence, by=views.by
        )
        evaluated = with_changes(
            evaluated,
            request.gold,
            done,
            ended,
            store=store,
            scoring=scoring,
            confidence=confidence,
        )
        engines = {}
        if len(ended.runs) > 1:
            from karat.experiments.run_records import stored_engine_options

            unit = request.units.most
            engines = {
                run.label: stored_engine_options(run, unit=unit)
                for run in done.experiment.runs
                if run not in ended.failed
            }
        settings = (scoring, confidence)
        result = evaluated.overall
        if not isinstance(result, Evaluation):
            from karat.app.report import run_advice

            advice = run_advice(request.gold, result, ended.runs, confidence)
        show_evaluated(
            evaluated,
            request.gold,
            output,
            settings=settings,
            engines=engines,
            advice=advice,
            ranked=request.kind == "sweep",
            ids={run.name: run_id for run, run_id in zip(ended.runs, ended.ids, strict=True)},
            store=_store_typed(store),
        )
    if findings and losses:
        from karat.app.loss_reasons import with_losses
        from karat.cli.output.progress import progress_bar

        with progress_bar("explaining") as progress:
            findings = with_losses(findings, request.where, progress=progress)
    if findings and inputs:
        _write(findings, inputs, scoring, views)
    return result, advice


def _write_engine(request: "ExperimentRequest", advice: "Sequence[Advice]", path: str) -> None:
    """Write the recommended configuration as an engine; that of a single one is recommended."""
    from karat.app.sweep import recommended_configuration, write_configuration

    configuration = recommended_configuration(request.configurations, advice)
    if configuration is None:
        raise InputError(
            f"{path} is not written: on these queries no test can tell which configuration is "
            "better"
        )
    options = write_configuration(configuration, path)
    click.echo(f"wrote {path}: {configuration.name}; use it with {options}", err=True)


def _show_store(done: "ExperimentResult", store: str, views: Views, *, since: datetime) -> None:
    from karat.experiments.store import url_without_password

    moments = [run.ended for run in done.experiment.runs]
    if moments and all(moment and moment < since for moment in moments):
        # Latencies may come from another day, so that this must be seen.
        last = max(filter(None, moments))
        click.echo(
            f"no query was run: all results are from {last:%Y-%m-%d %H:%M} UTC; --again runs the "
            "queries again",
            err=True,
        )
    text = f"stored as {done.experiment.id} in {url_without_password(store)}"
    if not views.written:
        text += f"; karat report {done.experiment.id}{_store_typed(store)} -o report.html"
    click.echo(text, err=True)


def _store_typed(store: str) -> str:
    """Return the option that names *store*, "" if a command finds it by itself."""
    from click.core import ParameterSource

    source = click.get_current_context().get_parameter_source("store")
    if source is not ParameterSource.COMMANDLINE:
        return ""
    from karat.experiments.store import url_without_password

    # A URL is shown without its password, and must be typed with it.
    location = shlex.quote(store) if url_without_password(store) == store else "..."
    return f" --store {location}"


def _check(request: "ExperimentRequest", options: RunOptions, views: Views) -> None:
    """Reject outputs that cannot be written before anything runs."""
    from karat.cli.output.show import make_namer

    if options.losses and not views.written:
        raise click.UsageError("--losses needs a report; add -o report.html.")
    output = views.output
    if output.path and not (output.style or views.report or views.folder):
        raise click.UsageError(
            f"{output.path}: expected a report, such as report.html, or a folder, such as "
            "results/; --run-out writes a run file."
        )
    if options.run_out:
        file_of = make_namer(options.run_out, several=len(request.configurations) > 1)
        for configuration in request.configurations:
            file_of(configuration.name)


def run_request(
    request: "ExperimentRequest",
    options: RunOptions,
    *,
    further: "Sequence[Measure]" = (),
    allowed: int | None = None,
) -> "ExperimentResult":
    """Show the plan, and run the queries that the store lacks; scores are stored for *further* too.

    More configurations than *allowed* are an error.
    """
    from karat.app.evaluate import open_executor, plan, run_plan
    from karat.cli.output.progress import run_progress

    executor = open_executor(options.executor, workers=request.workers)
    if executor.warning:
        click.echo(f"warning: {executor.warning}", err=True)
    planned = plan(request, allowed=allowed)
    _show_plan(planned)
    with run_progress(planned.untimed) as listen:
        return run_plan(
            request,
            planned,
            store=options.store,
            executor=executor,
            again=options.again,
            further=further,
            listen=listen,
            on_searched=show_searched,
        )


def _show_plan(plan: "ExperimentPlan") -> None:
    runs, timed = len(plan.searches.configurations), len(plan.timed)
    if runs > 1:
        how_many = "none" if not timed else "all" if timed == plan.queries else timed
        amount = f"{counted(runs, 'run')} of {counted(plan.queries, 'query')}"
        click.echo(f"plan: {amount}, {how_many} of them timed", err=True)
        for line in plan.searches.lines():
            click.echo(f"  {line}", err=True)
    for warning in plan.warnings:
        click.echo(f"warning: {warning}", err=True)


def show_interrupted(done: "ExperimentResult") -> None:
    """Say what is stored, and how to continue."""
    experiment = done.experiment
    answers = sum(run.answers for run in experiment.runs)
    total = experiment.queries * len(experiment.runs)
    text = (
        f"interrupted: {answers:,} of {counted(total, 'query result')} stored as {experiment.id}; "
        "repeat the command to continue"
    )
    click.echo(wrapped(text) if sys.stderr.isatty() else text, err=True)


def show_searched(searched: "CorpusCoverage") -> None:
    """Report on standard error what limits the searched files, before any query runs."""
    from karat.report.display import printable
    from karat.report.score_view import kind_notice, warning

    if text := warning(searched):
        click.echo(f"warning: {show.with_gold(text)}", err=True)
    for line in (kind_notice(searched), searched.skipped):
        if line:
            click.echo(printable(line), err=True)


def _write_runs(
    runs: "Sequence[RunResult]", path: str, run_format: str | None, order: "Sequence[str]"
) -> None:
    from karat.cli.output.show import make_writer
    from karat.experiments.run_records import run_with_latencies

    write_run = make_writer(path, run_format, several=len(runs) > 1)
    for measured in runs:
        write_run(run_with_latencies(measured, order))


def _write(findings: "Findings", inputs: "ReportInputs", scoring: "Scoring", views: Views) -> None:
    from karat.cli.output.show import export_runs, write_folder, write_report

    if views.report:
        write_report(findings, views.report)
    if views.folder:
        judged = export_runs(inputs, scoring, views.confidence)
        write_folder(views.folder, findings, judged, formats=views.formats, charts=views.charts)
