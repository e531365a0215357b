"""karat convert: the same data in another format."""

from typing import TYPE_CHECKING

import click

from karat.cli.options.shared import COLUMNS, TOPICS, GoldPath, warn_of_row
from karat.report.display import printable
from karat.system.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping


@click.command("convert")
@click.argument("source", metavar="IN", type=GoldPath())
@click.argument("target", metavar="OUT", type=click.Path())
@click.option(
    "--from", "source_format", metavar="NAME", help="Format of IN, if it cannot be detected."
)
@click.option(
    "--to", "target_format", metavar="NAME", help="Format of OUT, if its name is ambiguous."
)
@COLUMNS
@TOPICS
@click.option("--force", is_flag=True, help="Replace OUT if it exists, and drop masks.")
def command(
    source: str,
    target: str,
    source_format: str | None,
    target_format: str | None,
    *,
    columns: "Mapping[str, str]",
    topics: str | None,
    force: bool,
) -> None:
    """Convert the gold set or run IN to OUT; --to or the name of OUT sets the format.

    A warning lists what the new format cannot express. IN is never overwritten. A name that
    ends in .gz is compressed.

    \b
    karat convert code.csv gold.json
    karat convert bm25.run bm25.parquet
    karat convert gold.json qrels.txt --to trec-qrels
    """
    from karat.app.convert import convert

    done = convert(
        source,
        target,
        source_format=source_format,
        target_format=target_format,
        columns=columns,
        topics=topics,
        force=force,
        on_empty=warn_of_row,
    )
    click.echo(
        f"{printable(done.target)}: {counted(done.queries, 'query')}, "
        f"{counted(done.entries, 'entry')}, {done.source_format} -> {done.target_format}"
    )
    for warning in done.warnings:
        click.echo(f"warning: not written: {warning}", err=True)
