"""karat runs: stored experiments and their results."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import click

from karat.cli.main import CommandGroup
from karat.cli.options.shared import OutputPath, WholeNumber, store_option
from karat.model.evaluation import Summary
from karat.report.score_view import interval_cell
from karat.report.table import Cell, Column, Table, number
from karat.system.words import first_line

if TYPE_CHECKING:
    from karat.experiments.store import Experiment, LeaseHolder, Store, StoredRun


Scores = Mapping[str, Sequence[Summary]]


def experiments_table(experiments: "Sequence[Experiment]") -> Table:
    """Return one row for each of *experiments*."""
    return Table(
        "",
        (
            Column("id"),
            Column("made"),
            Column("command", spare=2),
            Column("queries", numeric=True, spare=3),
            Column("runs", numeric=True),
            Column("status"),
            Column("name", spare=1),
        ),
        tuple(
            (
                Cell(experiment.id),
                Cell(_moment(experiment.created)),
                Cell(experiment.kind),
                Cell(f"{experiment.queries:,}"),
                Cell(str(len(experiment.runs))),
                Cell(experiment.status),
                Cell(experiment.name),
            )
            for experiment in experiments
        ),
    )


def runs_table(
    experiment: "Experiment",
    runs: "Sequence[StoredRun]",
    scores: Scores,
    *,
    answered: Mapping[str, int],
) -> Table:
    """Return one row for each of *runs*, with the first of its *scores*.

    *answered* has the number of queries that did not fail, by the id of the run.
    """
    leads = {run: measured[0] for run, measured in scores.items() if measured}
    lead = next((first.measure for first in leads.values()), "")
    sure = any(first.interval for first in leads.values())
    columns = [
        Column("run"),
        Column("status"),
        Column("answered", numeric=True),
        *((Column(lead, numeric=True),) if lead else ()),
        *((Column("interval", numeric=True),) if sure else ()),
        Column("configuration", spare=1),
    ]
    rows = []
    for run in runs:
        count = f"{answered.get(run.id, 0):,} of {experiment.queries:,}"
        cells = [Cell(run.id), Cell(run.status), Cell(count)]
        # The zeros of a run without any answered query are not scores.
        first = leads.get(run.id) if answered.get(run.id) else None
        if lead:
            cells.append(number(first.mean if first else None, digits=3))
        if sure:
            cells.append(interval_cell(first) if first else Cell("-"))
        rows.append((*cells, Cell(run.label)))
    errors = tuple(f"{run.id}: {first_line(run.error)}" for run in runs if run.error)
    title = f"{experiment.id}, {experiment.kind} {experiment.name}".rstrip()
    return Table(title, tuple(columns), tuple(rows), (*_about(experiment), *errors))


def experiment_json(
    experiment: "Experiment",
    runs: "Sequence[StoredRun] | None" = None,
    scores: Scores | None = None,
) -> dict[str, object]:
    """Return *experiment* as JSON can hold it, with all runs unless some are chosen."""
    return {
        "id": experiment.id,
        "name": experiment.name,
        "kind": experiment.kind.value,
        "status": experiment.status,
        "created": experiment.created.isoformat(),
        "dataset": experiment.dataset,
        "queries": experiment.queries,
        "seed": experiment.seed,
        "version": experiment.version,
        "config": experiment.config,
        "environment": experiment.environment,
        "runs": [
            {
                "id": run.id,
                "label": run.label,
                "engine": {"name": run.engine.name, "options": dict(run.engine.params)},
                "metadata": run.metadata,
                "status": run.status.value,
                "error": run.error or None,
                "answers": run.answers,
                "begun": run.begun and run.begun.isoformat(),
                "ended": run.ended and run.ended.isoformat(),
                "scores": {each.measure: each for each in (scores or {}).get(run.id, ())},
            }
            for run in (experiment.runs if runs is None else runs)
        ],
    }


def _about(experiment: "Experiment") -> tuple[str, ...]:
    return (
        f"made {_moment(experiment.created)} by Karat {experiment.version}, "
        f"seed {experiment.seed}; {experiment.queries:,} queries, "
        f"gold set {experiment.dataset[:12]}",
    )


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


@click.group("runs", cls=CommandGroup)
def command() -> None:
    """List, show, export and delete the stored results of evaluate, compare and sweep.

    An ID may be abbreviated; latest is the newest experiment. ID.2 is the second run of an
    experiment.

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
    """List experiments, the newest first.

    \b
    karat runs list
    karat runs list --kind sweep --json
    """
    from karat.cli.output import show
    from karat.experiments.store import ExperimentKind, open_store, url_without_password

    with open_store(store) as opened:
        experiments = opened.experiments(ExperimentKind(kind) if kind else None, limit=limit)
    if as_json:
        show.put_json([experiment_json(experiment) for experiment in experiments])
    elif experiments:
        show.put_table(experiments_table(experiments))
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
    from karat.experiments.stored_runs import select_runs

    with open_store(store) as opened:
        # All are looked up before the first is gone: `latest` means the same wherever it stands.
        chosen = dict.fromkeys(select_runs(opened, _whole(name)).experiment.id for name in names)
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
