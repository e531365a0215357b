"""karat runs: what was evaluated before, and its results again."""

from typing import TYPE_CHECKING

import click

from karat.cli.groups import Group
from karat.cli.numbers import WholeNumber
from karat.cli.store_options import store_option

if TYPE_CHECKING:
    from karat.store import SqlStore

__all__ = ["command"]


@click.group("runs", cls=Group)
def command() -> None:
    """List, show, export and delete what evaluate, compare and sweep have kept.

    An ID may be shortened as long as it is clear, and `latest` is the newest experiment. A point
    and a number after it name one of its runs.

    \b
    karat runs list
    karat runs show latest
    karat runs export latest.2 -o bm25.run
    karat runs delete k3nq
    """


@command.command("list")
@click.option(
    "--kind",
    type=click.Choice(["evaluate", "compare", "sweep"]),
    help="Only what this command has made.",
)
@click.option(
    "--limit", type=WholeNumber(1), default=20, show_default=True, help="At most so many."
)
@click.option("--json", "as_json", is_flag=True, help="JSON.")
@store_option
def list_(kind: str | None, limit: int, store: str, *, as_json: bool) -> None:
    """List experiments, the newest first.

    \b
    karat runs list
    karat runs list --kind sweep --json
    """
    from karat.app.stored import open_store, shown_place
    from karat.cli import show, show_runs
    from karat.store import Kind

    with open_store(store) as opened:
        found = opened.experiments(Kind(kind) if kind else None, limit=limit)
    if as_json:
        show.put_json([show_runs.as_json(experiment) for experiment in found])
    elif found:
        show.put_table(show_runs.experiments_table(found))
    else:
        which = f" of {kind}" if kind else ""
        click.echo(f"{shown_place(store)} holds no experiment{which} yet", err=True)


@command.command("show")
@click.argument("name", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="JSON, all scores included.")
@store_option
def show_(name: str, store: str, *, as_json: bool) -> None:
    """Show an experiment with its runs, or one run.

    \b
    karat runs show latest
    karat runs show k3nq.2 --json
    """
    from karat.app.stored import open_store

    with open_store(store) as opened:
        _show(opened, name, as_json=as_json)


@command.command("latest")
@click.option("--json", "as_json", is_flag=True, help="JSON, all scores included.")
@store_option
def latest_(store: str, *, as_json: bool) -> None:
    """Show the newest experiment: `karat runs show latest`.

    \b
    karat runs latest
    karat runs latest --json
    """
    from karat.app.stored import LATEST, open_store

    with open_store(store) as opened:
        _show(opened, LATEST, as_json=as_json)


@command.command("export")
@click.argument("name", metavar="ID")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="The file to write; of several runs, {engine} in its name tells them apart.",
)
@click.option("--format", "format_name", metavar="NAME", help="The format, where it is not clear.")
@store_option
def export(name: str, output: str, format_name: str | None, store: str) -> None:
    """Write runs to files: TREC, Karat's own, and every other format of a run.

    \b
    karat runs export latest.1 -o bm25.run
    karat runs export latest -o '{engine}.jsonl'
    """
    from karat.app.stored import choose, open_store, timed_run
    from karat.cli.run_files import keeper

    with open_store(store) as opened:
        experiment, runs = choose(opened, name)
        keep = keeper(output, format_name, several=len(runs) > 1)
        for run in runs:
            keep(timed_run(opened.measured(run.id)))
            if run.answers < experiment.queries:
                what = f"{run.id} has only {run.answers:,} of {experiment.queries:,} answers"
                click.echo(f"note: {what}; it is {run.status}", err=True)


@command.command("delete")
@click.argument("names", nargs=-1, required=True, metavar="ID...")
@click.option("--force", is_flag=True, help="Also where somebody seems to work on it.")
@store_option
def delete(names: tuple[str, ...], store: str, *, force: bool) -> None:
    """Delete experiments with all of their runs.

    \b
    karat runs delete k3nq
    """
    from karat.app.stored import choose, open_store

    with open_store(store) as opened:
        # All are looked up before the first is gone: `latest` means the same wherever it stands.
        chosen = dict.fromkeys(choose(opened, _whole(name)).experiment.id for name in names)
        for experiment in chosen:
            opened.delete(experiment, force=force)
            click.echo(f"deleted {experiment}")
        opened.vacuum()


def _whole(name: str) -> str:
    if "." in name:
        raise click.UsageError(
            f"{name} is one run of an experiment; expected the experiment, {name.partition('.')[0]}"
        )
    return name


def _show(store: "SqlStore", name: str, *, as_json: bool) -> None:
    from karat.app.stored import choose
    from karat.cli import show, show_runs

    experiment, runs = choose(store, name)
    scores = {run.id: store.scores(run.id) for run in runs}
    if as_json:
        show.put_json(show_runs.as_json(experiment, runs, scores))
    else:
        show.put_table(show_runs.runs_table(experiment, runs, scores))
