"""karat --server URL collections: documents that a service searches."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.main import CommandGroup
from karat.cli.output.show import put_json
from karat.cli.remote.connect import AS_JSON, connect, find_named, put_list
from karat.errors import EngineError
from karat.report.display import printable

if TYPE_CHECKING:
    from karat.client import Client, Collection

__all__ = ["command"]


@click.group("collections", cls=CommandGroup)
def command() -> None:
    """Create, list, reindex and delete collections.

    \b
    karat --server http://localhost:8080 collections create Handbook --path /srv/handbook
    karat --server http://localhost:8080 collections create Handbook --upload handbook.zip
    karat --server http://localhost:8080 collections list
    """


@command.command("create")
@click.argument("name")
@click.option("--path", metavar="DIR", help="A folder or repository on the service's machine.")
@click.option("--rev", metavar="REVISION", help="Read DIR at this Git revision.")
@click.option(
    "--upload",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A zip, tar or tar.gz file to upload.",
)
@click.option("--no-dense", is_flag=True, help="Do not compute embeddings.")
@click.option("--no-sparse", is_flag=True, help="Do not build a word index.")
@click.option("--model", type=click.Choice(["granite", "minilm", "static"]), default="granite")
@click.option(
    "--chunker", default="auto", show_default=True, help="How documents are split into chunks."
)
def create(
    name: str,
    *,
    path: str | None,
    rev: str | None,
    upload: Path | None,
    no_dense: bool,
    no_sparse: bool,
    model: str,
    chunker: str,
) -> None:
    """Create the collection NAME, wait until it is indexed, and print its id.

    \b
    karat --server http://localhost:8080 collections create Handbook --path /srv/handbook
    karat --server http://localhost:8080 collections create Flask --path /srv/flask --rev 3.0
    """
    if (path is None) == (upload is None):
        raise click.UsageError("Expected either --path or --upload.")
    index = {"dense": not no_dense, "sparse": not no_sparse, "model": model, "chunker": chunker}
    with connect() as client:
        if upload:
            made = client.upload_collection(name, upload, index=index)
        elif rev:
            source = {"kind": "git", "path": path, "revision": rev}
            made = client.create_collection(name, source, index=index)
        else:
            made = client.create_collection(name, {"kind": "folder", "path": path}, index=index)
        _wait(client, made)


@command.command("reindex")
@click.argument("collection")
def reindex(collection: str) -> None:
    """Index COLLECTION again after its documents have changed; id or name.

    \b
    karat --server http://localhost:8080 collections reindex Handbook
    """
    with connect() as client:
        found = find_named(client.collections(), collection, "collection")
        _wait(client, client.reindex_collection(found.id))


@command.command("list")
@AS_JSON
def list_collections(*, as_json: bool) -> None:
    """List all collections, newest first.

    \b
    karat --server http://localhost:8080 collections list
    """
    with connect() as client:
        found = list(client.collections())
    if as_json:
        put_json({"collections": found})
        return
    lines = (f"{one.id}  {one.status:8}  {one.document_count:6,}  {one.name}" for one in found)
    put_list(lines, none="no collections yet")


@command.command("delete")
@click.argument("collection")
def delete(collection: str) -> None:
    """Delete COLLECTION, by id or name, unless a dataset is mapped to it.

    \b
    karat --server http://localhost:8080 collections delete Handbook
    """
    with connect() as client:
        client.delete_collection(find_named(client.collections(), collection, "collection").id)


def _wait(client: "Client", made: "Collection") -> None:
    """Report the progress of indexing *made*, and its size at the end."""
    for event in client.operation_events(str(made.operation_uuid)):
        if event.data["total"]:
            click.echo(f"embedded {event.data['done']:,} of {event.data['total']:,}", err=True)
    made = client.collection(made.id)
    if made.status != "ready":
        raise EngineError(f"{made.name}: indexing failed: {made.error_message}")
    click.echo(made.id)
    counts = f"{made.document_count:,} documents, {made.chunk_count:,} chunks"
    click.echo(printable(f"{made.name}: {counts}"), err=True)
