"""karat --server URL datasets: gold sets that a service holds."""

from pathlib import Path

import click

from karat.cli.main import CommandGroup
from karat.cli.output.show import put_json
from karat.cli.remote.connect import AS_JSON, connect, find_named, put_list
from karat.report.display import printable

__all__ = ["command"]


@click.group("datasets", cls=CommandGroup)
def command() -> None:
    """Upload, list and delete gold sets.

    \b
    karat --server http://localhost:8080 datasets upload gold.json --name "Handbook questions"
    karat --server http://localhost:8080 datasets list
    """


@command.command("upload")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", help="Name of the dataset; by default that of the file.")
@click.option("--description", default="", help="Short description.")
def upload(file: Path, name: str | None, description: str) -> None:
    """Upload FILE, in any format that Karat reads, and print the id of the dataset.

    \b
    karat --server http://localhost:8080 datasets upload gold.json --name Questions
    """
    with connect() as client:
        made = client.upload_dataset(name or file.stem, file, description=description)
    click.echo(made.id)
    click.echo(printable(f"{made.name}: {made.query_count:,} queries"), err=True)


@command.command("list")
@AS_JSON
def list_datasets(*, as_json: bool) -> None:
    """List all datasets, newest first.

    \b
    karat --server http://localhost:8080 datasets list
    """
    with connect() as client:
        found = list(client.datasets())
    if as_json:
        put_json({"datasets": found})
        return
    lines = (f"{one.id}  {one.query_count:6,}  {one.name}" for one in found)
    put_list(lines, none="no datasets yet")


@command.command("delete")
@click.argument("dataset")
def delete(dataset: str) -> None:
    """Delete DATASET, by id or name, with its mappings.

    \b
    karat --server http://localhost:8080 datasets delete Questions
    """
    with connect() as client:
        client.delete_dataset(find_named(client.datasets(), dataset, "dataset").id)
