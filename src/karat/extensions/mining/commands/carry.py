"""karat carry: a gold set for a newer commit."""

from typing import TYPE_CHECKING

import click

from karat.cli.options.experiment import repo_option
from karat.cli.options.shared import COLUMNS, GoldPath, OutputPath
from karat.cli.options.stray import stray
from karat.report.display import printable
from karat.system.words import counted, range_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.extensions.mining.carry_file import Carrying


LOSSES = 1
# Lost targets that are listed.
MOST_LOST = 10


@click.command("carry")
@click.argument("goldset", type=GoldPath())
@stray({"--to": "the commit", "-o": "the new set"})
@click.option(
    "--to",
    required=True,
    multiple=True,
    metavar="[NAME=]REVISION",
    help="Commit to update to; NAME= for one of several repositories.",
)
@click.option(
    "--from",
    "base",
    metavar="REVISION",
    help="Commit that cases without a base commit refer to.",
)
@repo_option(
    "Folder of the repository, if it is neither the one that GOLDSET names nor the "
    "current one; NAME= for one of several."
)
@click.option("-o", "--output", type=OutputPath(), metavar="FILE", help="Gold set to write.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--strict", is_flag=True, help="Exit with code 1 if a target was lost.")
@click.option(
    "--format", "format_name", metavar="NAME", help="Format of the file, if it cannot be detected."
)
@COLUMNS
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    goldset: str,
    *,
    to: tuple[str, ...],
    base: str | None,
    repositories: "Mapping[str, str] | None",
    output: str | None,
    format_name: str | None,
    columns: "Mapping[str, str]",
    force: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Update GOLDSET to a newer commit: its paths, line numbers and symbols.

    Renamed files are followed, line numbers are updated, and a definition that moved to another
    file is found there. Lost targets are listed with the reason. Nothing is written without -o.

    \b
    karat carry code.csv --from v1.0 --to v2.0 -o code-v2.csv
    karat carry gold.json --to HEAD --repo ../project -o gold-new.json --strict
    karat carry two.json --to click=8.1.0 --to gin=v1.9.0 -o two-new.json
    """
    from karat.extensions.mining.carry_file import carry_file

    done = carry_file(
        goldset,
        output,
        repositories=repositories or {},
        to=to,
        base=base,
        format=format_name,
        columns=columns,
        force=force,
    )
    if as_json:
        click.echo(_json(done))
    else:
        _show(done)
    if strict and done.carried.lost:
        ctx.exit(LOSSES)


def _show(done: "Carrying") -> None:
    carried = done.carried
    updated = done.targets - len(carried.lost)
    click.echo(
        f"{printable(done.source)}: {counted(done.queries, 'query')}, "
        f"{counted(done.targets, 'target')}, now at {printable(done.commit_names)}"
    )
    click.echo(
        f"  updated: {counted(updated, 'target')}, {carried.renamed:,} in renamed files, "
        f"{carried.shifted:,} on other line numbers"
    )
    click.echo(f"  lost: {counted(len(carried.lost), 'target')}")
    if carried.dropped:
        click.echo(
            f"  queries dropped, because no relevant target is left: {len(carried.dropped):,}"
        )
    click.echo(f"  written: {printable(done.target) if done.target else 'nothing (-o FILE)'}")
    for loss in carried.lost[:MOST_LOST]:
        target = loss.target
        lines = range_text(target.path, target.start_line, target.end_line)
        location = " ".join(filter(None, (lines, target.symbol)))
        click.echo(printable(f"lost: query {loss.query_id!r}: {location}: {loss.reason}"), err=True)
    rest = len(carried.lost) - MOST_LOST
    if rest > 0:
        click.echo(f"{counted(rest, 'more target')} lost; --json lists all", err=True)
    for warning in done.warnings:
        click.echo(f"warning: not written: {warning}", err=True)


def _json(done: "Carrying") -> str:
    import json

    carried = done.carried
    value = {
        "source": done.source,
        "commit": carried.commit or None,
        "commits": dict(done.commits),
        "queries": done.queries,
        "targets": done.targets,
        "renamed": carried.renamed,
        "shifted": carried.shifted,
        "lost": [
            {"query_id": loss.query_id, **loss.target._asdict(), "reason": loss.reason}
            for loss in carried.lost
        ],
        "dropped": list(carried.dropped),
        "written": done.target or None,
        "warnings": list(done.warnings),
    }
    return json.dumps(value, indent=2, ensure_ascii=False)
