"""karat --server URL report: the report of a benchmark as a file."""

from pathlib import Path

import click

from karat.cli.remote.connect import connect
from karat.cli.remote.runs import find_benchmark
from karat.system.files import write_text

__all__ = ["command"]


@click.command("report")
@click.argument("benchmark", default="latest")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File to write; .html, .json or .csv sets the format.",
)
def command(benchmark: str, output: Path) -> None:
    """Write the report of BENCHMARK, by id, name or ``latest``.

    \b
    karat --server http://localhost:8080 report latest -o report.html
    """
    kind = output.suffix.lower().removeprefix(".")
    if kind not in ("html", "json", "csv"):
        raise click.UsageError(f"{output}: expected a name that ends in .html, .json or .csv.")
    with connect() as client:
        found = find_benchmark(client, benchmark).id
        text = client.report(found) if kind == "html" else client.export(found, kind)
    write_text(output, text)
    click.echo(str(output), err=True)
