"""karat --server URL sweep: a matrix of configurations, run by a service."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.options.agents import stray
from karat.cli.remote.connect import connect, find_named
from karat.cli.remote.runs import show_results
from karat.errors import EngineError, InputError
from karat.report.display import printable
from karat.system.words import counted

if TYPE_CHECKING:
    from karat.client import Client, Dataset

__all__ = ["command"]

AXES = (
    *("search_modes", "use_reranker", "top_k_values", "rrf_k_values", "score_thresholds"),
    *("fusion", "dense_weight", "k1", "b", "code_ranking", "rerank_depth"),
)
OF_COLLECTION = ("chunkers", "models", "rerankers")


@click.command("sweep")
@click.argument("goldset")
@stray({"--matrix": "a matrix"})
@click.option(
    "--collection", required=True, metavar="NAME", help="Collection to search: id or name."
)
@click.option(
    "--matrix",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="YAML or JSON file with the values to combine, such as search_modes: [dense, hybrid].",
)
@click.option(
    "-e",
    "--engine",
    "engines",
    multiple=True,
    metavar="NAME",
    help="An engine of the service, run at every depth of the matrix; may be repeated.",
)
@click.option(
    "--timed",
    type=click.Choice(["none", "sample", "all"]),
    default="sample",
    show_default=True,
    help="Queries whose latency is measured; sample is 20 of them.",
)
@click.option("--name", help="Name of the benchmark; by default that of the matrix.")
def command(
    goldset: str,
    *,
    collection: str,
    matrix: Path | None,
    engines: tuple[str, ...],
    timed: str,
    name: str | None,
) -> None:
    """Compare many configurations on GOLDSET: a file to upload, or the id or name of a dataset.

    The configurations come from a matrix, from engines of the service (see karat engines), or
    from both. Ctrl-C stops watching but not the benchmark; karat runs cancel stops it.

    \b
    karat --server http://localhost:8080 sweep gold.json --collection Handbook --matrix m.yaml
    karat --server http://localhost:8080 sweep gold.json --collection Handbook --engine my-search
    karat --server http://localhost:8080 sweep gold.json --collection Docs -e mine --timed none
    """
    if not matrix and not engines:
        raise click.UsageError("Expected --matrix FILE, --engine NAME, or both.")
    axes = _axes(matrix) if matrix else {"search_modes": []}
    axes |= {"engines": list(engines)} if engines else {}
    with connect() as client:
        # Reject invalid values before anything is sent.
        client.preview(axes)
        dataset = _dataset(client, goldset)
        searched = find_named(client.collections(), collection, "collection").id
        mapping = (
            next(
                (each.id for each in client.mappings(dataset.id) if each.collection_id == searched),
                "",
            )
            or client.map(dataset.id, searched).id
        )
        resolved = client.resolve(dataset.id, mapping)
        if resolved.unresolved:
            lost = resolved.total_count - resolved.mapped_count
            click.echo(
                f"{counted(lost, 'reference')} without a document; they count as missed", err=True
            )
        called = name or (matrix.stem if matrix else ", ".join(engines))
        made = client.create_benchmark(called, mapping, axes, timing=timed)
        click.echo(printable(f"benchmark {made.id}, {made.total_runs} runs"), err=True)
        client.start(made.id, key=made.id)
        _watch(client, made.id)
        ended = client.benchmark(made.id)
        if ended.status != "completed":
            raise EngineError(f"benchmark {made.id} has {ended.status}")
        show_results(made.name, client.results(made.id))


def _axes(file: Path) -> dict[str, object]:
    """Return the axes in *file*, checked here as they will be there."""
    from karat.app.sweep import Matrix, read_matrix

    found, plain = read_matrix(file), Matrix()
    for name in OF_COLLECTION:
        if getattr(found, name) != getattr(plain, name):
            raise InputError(
                f"{file}: {name} cannot be set here; on a service the collection sets them"
            )
    if found.engines:
        raise InputError(f"{file}: engines cannot be set here; --engine names one of the service")
    axes: dict[str, object] = {name: list(getattr(found, name)) for name in AXES}
    axes |= {"primary_k": found.primary_k} if found.primary_k else {}
    cuts = list(found.k_values_for_metrics)
    return axes | ({"k_values_for_metrics": cuts} if cuts else {})


def _dataset(client: "Client", goldset: str) -> "Dataset":
    file = Path(goldset)
    if file.is_file():
        return client.upload_dataset(file.stem, file)
    return find_named(client.datasets(), goldset, "dataset")


def _watch(client: "Client", benchmark: str) -> None:
    shown = ""
    for event in client.events(benchmark):
        current = event.data.get("current_run") or {}
        words = [f"{event.data['completed_runs']} of {event.data['total_runs']} runs"]
        if current:
            done = f"{current['completed_queries']:,} of {current['total_queries']:,} queries"
            words += [current["config_summary"], current["stage"], done]
        line = printable(", ".join(words))
        if line != shown:
            click.echo(line, err=True)
        shown = line
