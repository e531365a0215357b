"""karat --server URL runs: benchmarks of a service and their results."""

from typing import TYPE_CHECKING

import click

from karat.cli.main import CommandGroup
from karat.cli.output.show import put_json
from karat.cli.remote.connect import AS_JSON, connect, find_named, put_list
from karat.report.table import Cell, Column, Table, number
from karat.report.text import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.client import Benchmark, Client, Results

__all__ = ["command", "find_benchmark", "results_table", "show_results"]

LATEST = "latest"
# Texts for missing latencies.
LATENCY = {
    "none": "not measured",
    "pending": "still being measured",
    "failed": "could not be measured",
    "cancelled": "not measured, since the benchmark was cancelled",
}


@click.group("runs", cls=CommandGroup)
def command() -> None:
    """List benchmarks, show their results, cancel and delete them.

    \b
    karat --server http://localhost:8080 runs list
    karat --server http://localhost:8080 runs show latest
    """


@command.command("list")
@click.option(
    "--status",
    type=click.Choice(["pending", "running", "completed", "failed", "cancelled"]),
    help="Only benchmarks with this status.",
)
@AS_JSON
def list_benchmarks(status: str | None, *, as_json: bool) -> None:
    """List all benchmarks, the newest first.

    \b
    karat --server http://localhost:8080 runs list
    """
    with connect() as client:
        found = list(client.benchmarks(status=status))
    if as_json:
        put_json({"benchmarks": found})
        return
    none = f"no {status} benchmark" if status else "no benchmarks yet"
    put_list(map(_line, found), none=none)


def _line(found: "Benchmark") -> str:
    done = f"{found.completed_runs} of {found.total_runs}"
    return f"{found.id}  {found.status:9}  {done:8}  {found.name}"


@command.command("show")
@click.argument("benchmark")
@AS_JSON
def show_benchmark(benchmark: str, *, as_json: bool) -> None:
    """Show the results of BENCHMARK, by id, name or ``latest``.

    \b
    karat --server http://localhost:8080 runs show latest
    """
    with connect() as client:
        found = find_benchmark(client, benchmark)
        results = client.results(found.id)
    if as_json:
        put_json({"benchmark": found, "results": results})
    else:
        show_results(found.name, results)


@command.command("cancel")
@click.argument("benchmark")
def cancel(benchmark: str) -> None:
    """Cancel BENCHMARK; completed runs are kept.

    \b
    karat --server http://localhost:8080 runs cancel latest
    """
    with connect() as client:
        click.echo(client.cancel(find_benchmark(client, benchmark).id).message, err=True)


@command.command("delete")
@click.argument("benchmark")
def delete(benchmark: str) -> None:
    """Delete BENCHMARK with its results.

    \b
    karat --server http://localhost:8080 runs delete "Which mode"
    """
    with connect() as client:
        client.delete_benchmark(find_benchmark(client, benchmark).id)


def find_benchmark(client: "Client", name: str) -> "Benchmark":
    """Return the benchmark that *name* means."""
    if name == LATEST:
        return client.benchmark(LATEST)
    return find_named(client.benchmarks(), name, "benchmark")


def show_results(name: str, results: "Results") -> None:
    """Print one line per run, and what they say together."""
    click.echo(render(results_table(name, results)))


def results_table(name: str, results: "Results") -> Table:
    """Return the runs with the metric that they are ranked by, and how long a query took."""
    metric = results.primary_metric
    label = results.labels.get(metric, metric)
    best = results.summary["best_runs"]
    rows = [
        (
            Cell(run.name),
            Cell(run.status),
            number(run.metrics_flat.get(metric), best=run.id in best),
            Cell(_interval(run.intervals.get(metric))),
            number(run.latency["p50"], digits=1),
            Cell(str(run.errors + run.timeouts)),
        )
        for run in results.runs
    ]
    columns = (
        *(Column("run"), Column("status"), Column(label, numeric=True), Column("95% interval")),
        *(Column("p50 ms", numeric=True), Column("failed", numeric=True)),
    )
    notes = [f"{run.name}: {run.error_message}" for run in results.runs if run.error_message]
    notes += [
        f"latency: {words}"
        for status, words in LATENCY.items()
        if any(run.timing_status == status for run in results.runs)
    ]
    if best:
        notes.append("* no other run is significantly better")
    return Table(
        f"{name}, {results.query_count:,} queries",
        columns,
        tuple(rows),
        tuple(notes),
        results.summary["comparison"] or "",
    )


def _interval(bounds: "Sequence[float] | None") -> str:
    return f"[{bounds[0]:.4f}, {bounds[1]:.4f}]" if bounds else "-"
