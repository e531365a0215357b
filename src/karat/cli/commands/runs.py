"""karat runs: stored experiments and their results."""

from typing import TYPE_CHECKING

import click

from karat.cli.main import CommandGroup
from karat.cli.options.shared import OutputPath, WholeNumber, store_option

if TYPE_CHECKING:
    from karat.experiments.store import LeaseHolder, Store


@click.group("runs", cls=CommandGroup)
def command() -> None:
    """List, show, pin, export and delete the stored results of evaluate, compare and sweep.

    An ID may be abbreviated; latest is the newest experiment. ID.2 is the second run of an
    experiment. The name of an engine is its newest run, mysearch@previous the one before it.

    \b
    karat runs list
    karat runs show latest
    karat runs pin mysearch
    karat runs export latest.2 -o bm25.run
    karat runs delete k3nq
    """


@command.command("list")
@click.option(
    "--kind",
    type=click.Choice(["evaluate", "compare", "sweep"]),
    help="Only experiments of this command.",
)
@click.option(
    "--limit",
    type=WholeNumber(1),
    metavar="N",
    default=20,
    show_default=True,
    help="Maximum number of experiments.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def list_(kind: str | None, limit: int, store: str, *, as_json: bool) -> None:
    """List experiments with their engines and leading scores, the newest first.

    The revision is the commit of the folder in which the command was run.

    \b
    karat runs list
    karat runs list --kind sweep --json
    """
    from karat.cli.output import show
    from karat.cli.output.stored_runs import experiment_json, experiments_table
    from karat.experiments.store import ExperimentKind, open_store, url_without_password

    with open_store(store) as opened:
        experiments = opened.experiments(ExperimentKind(kind) if kind else None, limit=limit)
        ended = opened.completed(*(experiment.id for experiment in experiments))
    scores = {run.id: run.scores for run in ended}
    if as_json:
        show.put_json([experiment_json(each, scores=scores) for each in experiments])
    elif experiments:
        show.put_table(experiments_table(experiments, scores))
    else:
        which = f" of {kind}" if kind else ""
        click.echo(f"{url_without_password(store)} has no experiments{which} yet", err=True)


@command.command("show")
@click.argument("name", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all scores.")
@store_option
def show_(name: str, store: str, *, as_json: bool) -> None:
    """Show an experiment with its runs, or one run.

    \b
    karat runs show latest
    karat runs show k3nq.2 --json
    """
    from karat.experiments.store import open_store

    with open_store(store) as opened:
        _show(opened, name, as_json=as_json)


@command.command("latest")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all scores.")
@store_option
def latest_(store: str, *, as_json: bool) -> None:
    """Show the newest experiment: `karat runs show latest`.

    \b
    karat runs latest
    karat runs latest --json
    """
    from karat.experiments.store import open_store
    from karat.experiments.stored_runs import LATEST

    with open_store(store) as opened:
        _show(opened, LATEST, as_json=as_json)


@command.command("pin")
@click.argument("name", metavar="RUN")
@click.option("--remove", is_flag=True, help="Unpin it.")
@store_option
def pin(name: str, store: str, *, remove: bool) -> None:
    """Pin a run: later runs of its engine on the same gold set are compared with it too.

    One run of each engine is pinned on a gold set; another one takes its place. RUN is an id or
    the name of an engine, which means its newest run.

    \b
    karat runs pin mysearch
    karat runs pin latest.2
    karat runs pin mysearch@pinned --remove
    """
    from karat.cli.output.stored_runs import gold_name
    from karat.experiments.store import open_store
    from karat.experiments.stored_runs import select_runs

    with open_store(store) as opened:
        experiment, runs = select_runs(opened, name)
        if len(runs) > 1:
            raise click.UsageError(
                f"{name} has {len(runs)} runs; expected one, such as {experiment.id}.1"
            )
        (run,) = runs
        opened.pin(run.id, pinned=not remove)
    done = "unpinned" if remove else "pinned"
    click.echo(f"{done} {run.id}: {run.label} on {gold_name(experiment)}")


@command.command("export")
@click.argument("name", metavar="ID")
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputPath(),
    metavar="FILE",
    help="File to write; {engine} in its name stands for the engine.",
)
@click.option(
    "--format", "format_name", metavar="NAME", help="Format of the file, if its name is ambiguous."
)
@store_option
def export(name: str, output: str, format_name: str | None, store: str) -> None:
    """Write stored runs to files, in any run format.

    \b
    karat runs export latest.1 -o bm25.run
    karat runs export latest -o '{engine}.jsonl'
    """
    from karat.cli.output.show import make_writer
    from karat.experiments.run_records import run_with_latencies
    from karat.experiments.store import open_store
    from karat.experiments.stored_runs import select_runs

    with open_store(store) as opened:
        experiment, runs = select_runs(opened, name)
        keep = make_writer(output, format_name, several=len(runs) > 1)
        order = opened.dataset(experiment.dataset).query_ids
        for run in runs:
            keep(run_with_latencies(opened.measured(run.id), order))
            if run.answers < experiment.queries:
                what = f"{run.id} has only {run.answers:,} of {experiment.queries:,} answers"
                click.echo(f"note: {what}; it is {run.status}", err=True)


@command.command("delete")
@click.argument("names", nargs=-1, required=True, metavar="ID...")
@click.option("--force", is_flag=True, help="Delete even if a process is using it.")
@store_option
def delete(names: tuple[str, ...], store: str, *, force: bool) -> None:
    """Delete experiments with all of their runs.

    \b
    karat runs delete k3nq
    """
    from karat.experiments.store import open_store, watch_holders
    from karat.experiments.stored_runs import select_by_id

    with open_store(store) as opened:
        # All are looked up before the first is gone: `latest` means the same wherever it stands.
        chosen = dict.fromkeys(select_by_id(opened, _whole(name)).experiment.id for name in names)
        for experiment in chosen:
            if not force:
                watch_holders(opened, experiment, on_wait=_show_wait)
            opened.delete(experiment, force=force)
            click.echo(f"deleted {experiment}")
        opened.vacuum()


def _show_wait(holder: "LeaseHolder") -> None:
    from karat.cli.output.progress import checking_text

    click.echo(checking_text({"holder": holder.label}), err=True)


def _whole(name: str) -> str:
    if "." in name:
        raise click.UsageError(
            f"{name} is one run of an experiment; expected the experiment, {name.partition('.')[0]}"
        )
    return name


def _show(store: "Store", name: str, *, as_json: bool) -> None:
    from karat.cli.output import show
    from karat.cli.output.stored_runs import experiment_json, runs_table
    from karat.experiments.stored_runs import select_runs
    from karat.model import Outcome

    experiment, runs = select_runs(store, name)
    scores = {run.id: store.scores(run.id) for run in runs}
    if as_json:
        show.put_json(experiment_json(experiment, runs, scores))
    else:
        outcomes = store.outcomes(experiment.id)
        answered = {run: counts.get(Outcome.ANSWERED, 0) for run, counts in outcomes.items()}
        show.put_table(runs_table(experiment, runs, scores, answered=answered))
