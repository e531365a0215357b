"""karat inspect: the cases of a gold set, or one with its diff and its code."""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from karat.cli.options.experiment import repo_option
from karat.cli.options.shared import COLUMNS, GoldPath
from karat.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.app.inspect import CaseDetails, Excerpt
    from karat.model import Dataset, Query

__all__ = ["command"]

# Prefixes of the lines of a diff, and their colours; headers come before shorter prefixes.
COLOURS = {
    "+++ ": None,
    "--- ": None,
    "diff ": None,
    "@@": "cyan",
    "+": "green",
    "-": "red",
}


@click.command("inspect")
@click.argument("goldset", type=GoldPath())
@click.argument("case", required=False)
@repo_option("Folder of the repository, if it has moved; NAME= for one of several.")
@click.option(
    "--format", "format_name", metavar="NAME", help="Format of the file, if it cannot be detected."
)
@COLUMNS
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    goldset: str,
    case: str | None,
    repositories: "Mapping[str, str] | None",
    format_name: str | None,
    columns: "Mapping[str, str]",
    *,
    as_json: bool,
) -> None:
    """List the cases of GOLDSET, or show one case with its commit message, diff and targets.

    CASE is an id or the beginning of one.

    \b
    karat inspect gold.json
    karat inspect gold.json fbb6f0
    karat inspect gold.json fbb6f0 --json
    """
    from karat.app.inspect import find_case, inspect_case
    from karat.formats import read_dataset

    dataset = read_dataset(goldset, format=format_name, columns=columns)
    if case is None:
        (_list_json if as_json else _list)(dataset)
    else:
        query = find_case(dataset, case)
        found = inspect_case(dataset, query, repositories=repositories or {})
        (_show_json if as_json else _show)(found)


def _list(dataset: "Dataset") -> None:
    from karat.cli.output.show import put_table
    from karat.report.table import Cell, Column, Table

    tags = [tag for tag in ("difficulty", "leak", "category") if tag in dataset.tags]
    columns = (
        Column("id"),
        Column("files", numeric=True),
        *(Column(tag, spare=place) for place, tag in enumerate(tags, 2)),
        Column("query", spare=1),
    )
    rows = tuple(
        (
            Cell(query_id),
            Cell(str(len(dataset.judgments(row)))),
            *(Cell(dataset.tags[tag][row]) for tag in tags),
            Cell(dataset.texts[row]),
        )
        for row, query_id in enumerate(dataset.query_ids)
    )
    put_table(Table(f"{dataset.name}, {len(dataset):,} cases", columns, rows))


def _list_json(dataset: "Dataset") -> None:
    from karat.cli.output.show import put_json

    put_json([_case(query) for query in dataset.queries()])


def _show_json(found: "CaseDetails") -> None:
    from karat.cli.output.show import put_json

    code = [{**excerpt._asdict(), "target": excerpt.target._asdict()} for excerpt in found.excerpts]
    rest = {"message": found.message, "diff": found.diff, "problem": found.problem}
    put_json({**_case(found.query), **found.query.extra, "should_find": code, **rest})


def _case(query: "Query") -> dict[str, object]:
    targets = [target._asdict() for target in query.targets]
    return {"id": query.id, "query": query.text, "tags": query.tags, "targets": targets}


def _show(found: "CaseDetails") -> None:
    query = found.query
    about = {"case": query.id, "query": query.text, **query.tags}
    about |= {key: value for key, value in query.extra.items() if isinstance(value, str)}
    for label, value in about.items():
        click.echo(printable(f"{label:13} {value}"))
    code = [_line(line) for excerpt in found.excerpts for line in _excerpt(excerpt)]
    message = [_line(line) for line in found.message.splitlines()]
    diff = [_coloured(line) for line in found.diff.split("\n") if found.diff]
    for title, lines in (("should find", code), ("message", message), ("diff", diff)):
        if lines:
            click.echo("\n  ".join((f"\n{title}", *lines)))
    if found.problem:
        click.echo(printable(f"note: {found.problem}"), err=True)


def _excerpt(excerpt: "Excerpt") -> Iterator[str]:
    target = excerpt.target
    lines = f":{target.start_line}-{target.end_line}" if target.end_line else ""
    symbol = f"  {target.symbol}" if target.symbol else ""
    problem = f"  ({excerpt.problem})" if excerpt.problem else ""
    yield f"{target.path}{lines}  grade {target.grade:g}{symbol}{problem}"
    for number, line in enumerate(excerpt.lines, excerpt.first_line):
        mark = ">" if target.start_line <= number <= target.end_line else " "
        yield f"{number:6} {mark} {line}"


def _line(text: str) -> str:
    return printable(text.expandtabs(4))


def _coloured(line: str) -> str:
    """Return a line of a diff, coloured on a terminal."""
    shade = next((shade for start, shade in COLOURS.items() if line.startswith(start)), None)
    # https://no-color.org: any value but an empty one.
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR")
    return _line(line) if plain else click.style(_line(line), fg=shade)
