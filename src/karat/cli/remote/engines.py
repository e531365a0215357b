"""karat --server URL engines: searches that a service offers to benchmarks."""

import click

from karat.cli.output.show import put_json
from karat.cli.remote.connect import AS_JSON, connect, put_list

__all__ = ["command"]


@click.command("engines")
@AS_JSON
def command(*, as_json: bool) -> None:
    """List the engines that the service was started with; sweep accepts these names.

    \b
    karat --server http://localhost:8080 engines
    karat --server http://localhost:8080 sweep gold.json --collection Handbook --engine my-search
    """
    with connect() as client:
        found = client.engines()
    if as_json:
        put_json({"engines": found})
        return
    width = max((len(engine.name) for engine in found), default=0)
    lines = (f"{engine.name:{width}}  {engine.kind}" for engine in found)
    put_list(
        lines,
        none="only its built-in modes; add engines with karat serve --http-target or --engine",
    )
