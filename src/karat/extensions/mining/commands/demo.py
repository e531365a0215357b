"""karat demo: answer a real question on a bundled history, in half a minute and offline."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.options.shared import OutputPath
from karat.cli.output.progress import progress_bar, progress_bars, run_progress, wrapped

if TYPE_CHECKING:
    from karat.app.evaluate import ExperimentRequest, ExperimentResult, FinishedRuns


QUESTION = "Which engine finds the file to change:"
INTERRUPTED = 130


@click.command("demo")
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="Mine this Git repository instead of the bundled example.",
)
@click.option(
    "-o",
    "--output",
    default="karat-demo",
    show_default=True,
    type=OutputPath(file_okay=False, dir_okay=True),
    metavar="DIR",
    help="Folder for the gold set, the stored results and report.html.",
)
def command(repo: str | None, output: str) -> None:
    """Mine a gold set from a bundled Git history and compare engines on it.

    The history is that of Kiosk, a small web shop that was written as an example. Nothing is
    downloaded. The answer, a table and the path of an HTML report are printed.

    \b
    karat demo
    karat demo --repo ../yours -o /tmp/demo
    """
    from karat.app.evaluate import select_finished
    from karat.cli.output.show import put_table
    from karat.extensions.mining.demo import case_table, prepare

    with progress_bars() as watch:
        request = prepare(output, repo, watch=watch)
    names = [configuration.name for configuration in request.configurations]
    click.secho(f"{QUESTION} {', '.join(names[:-1])} or {names[-1]}?\n", bold=True)
    click.echo(
        f"{repo or 'Kiosk, a small web shop (bundled example)'}: {len(request.gold)} commit "
        "messages became queries.\n"
        "Each engine searches the files as they were before the commit.\n"
    )
    put_table(case_table(request.gold))
    done = _run(request, output)
    if done.interrupted:
        click.echo("interrupted; repeat the command to continue", err=True)
        click.get_current_context().exit(INTERRUPTED)
    ended = select_finished(done)
    _show(request, done, ended)
    _write_report(Path(output) / "report.html", request, done, ended)
    _show_next(output, repo)


def _run(request: "ExperimentRequest", output: str) -> "ExperimentResult":
    from karat.app.evaluate import open_executor, plan, run_plan
    from karat.app.report import report_measures

    planned = plan(request)
    with run_progress(planned.untimed) as listen:
        return run_plan(
            request,
            planned,
            store=str(Path(output) / "karat.db"),
            executor=open_executor("local", workers=request.workers),
            again=None,
            further=report_measures(request.gold, request.scoring),
            listen=listen,
            on_searched=lambda _searched: None,
        )


def _show(request: "ExperimentRequest", done: "ExperimentResult", ended: "FinishedRuns") -> None:
    """Print the answer and the table; with one engine left there is nothing to compare."""
    from karat.app.evaluate import evaluate_experiment
    from karat.cli.output.show import put_table
    from karat.extensions.mining.demo import answer, result_table
    from karat.model.evaluation import ComparisonResult

    for names, reason in ended.reasons():
        click.echo(f"failed: {names}: {reason}", err=True)
    evaluated = evaluate_experiment(request.gold, done, runs=ended, scoring=request.scoring)
    if isinstance(evaluated.overall, ComparisonResult):
        click.secho(f"\n{wrapped(answer(evaluated.overall.comparison))}\n", bold=True)
        put_table(result_table(evaluated.overall, ended.runs))


def _write_report(
    path: Path, request: "ExperimentRequest", done: "ExperimentResult", ended: "FinishedRuns"
) -> None:
    from karat.app.loss_reasons import with_losses
    from karat.app.report import experiment_inputs, make_findings
    from karat.report.draw import draw
    from karat.scoring.settings import Confidence
    from karat.system.files import write_text

    inputs = experiment_inputs(done, ended, request)
    findings = make_findings(inputs, request.scoring, Confidence(), title="Karat demo")
    with progress_bar("explaining") as progress:
        findings = with_losses(findings, request.where, progress=progress)
    write_text(path, draw(findings, str(path)))


def _show_next(output: str, repo: str | None) -> None:
    from karat.extensions.mining.demo import engine_specs, has_embeddings
    from karat.installation import install_hint, typed_command

    folder, karat = Path(output), typed_command()
    gold = shlex.quote(str(folder / "gold.json"))
    click.echo(
        f"\nReport:  {folder / 'report.html'}  (one file, works offline)\n"
        f"Cases:   {karat} inspect {gold}\n"
    )
    if repo:
        click.echo(
            "Next, with your own search (a script, a service or a class; docs/engines.md):\n"
            f"  {karat} engines check mysearch.yaml\n"
            f"  {karat} compare {gold} --repo {shlex.quote(repo)} \\\n"
            "      --agents bm25 mysearch.yaml -o report.html"
        )
    else:
        engines = " ".join(map(shlex.quote, engine_specs().values()))
        click.echo(
            "Next, on your own repository:\n"
            f"  {karat} generate --repo . -o gold.json\n"
            f"  {karat} compare gold.json --agents {engines} \\\n"
            "      -o report.html"
        )
    if not has_embeddings():
        click.echo(f"\nTo compare hybrid too, install embeddings: {install_hint('dense')}")
