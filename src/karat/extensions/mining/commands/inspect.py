"""karat inspect: the cases of a gold set, or one with its diff and its code."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from karat.cli.options.experiment import repo_option
from karat.cli.options.shared import COLUMNS, GoldPath
from karat.report.display import printable
from karat.system.words import counted, range_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.extensions.mining.inspect import CaseDetails, Excerpt
    from karat.model import Dataset, Query


# Prefixes of the lines of a diff, and their colours; headers come before shorter prefixes.
COLOURS = {
    "+++ ": None,
    "--- ": None,
    "diff ": None,
    "@@": "cyan",
    "+": "green",
    "-": "red",
}
# Characters of a line, and lines of the diff of one file, that are shown.
MOST_CHARACTERS = 300
MOST_LINES = 300


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

    CASE is an id or the beginning of one. Long lines and long diffs are cut; --json has all.

    \b
    karat inspect gold.json
    karat inspect gold.json fbb6f0
    karat inspect gold.json fbb6f0 --json
    """
    from karat.extensions.mining.inspect import find_case, inspect_case
    from karat.formats import read_dataset

    dataset = read_dataset(goldset, format=format_name, columns=columns)
    if case is None:
        (_list_json if as_json else _list)(dataset)
    else:
        query = find_case(dataset, case)
        details = inspect_case(dataset, query, repositories=repositories or {})
        (_show_json if as_json else _show)(details)


def _list(dataset: "Dataset") -> None:
    from karat.app.detection import detection
    from karat.cli.output.show import put_table
    from karat.report.table import Cell, Column, Table

    tags = [tag for tag in ("difficulty", "leak", "category") if tag in dataset.tags]
    columns = (
        Column("id"),
        Column("files", numeric=True),
        *(Column(tag, spare=column) for column, tag in enumerate(tags, 2)),
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
    title = f"{dataset.name}, {counted(len(dataset), 'case')}"
    put_table(Table(title, columns, rows, notes=(str(detection(dataset)),)))


def _list_json(dataset: "Dataset") -> None:
    from karat.cli.output.show import put_json

    put_json([_case(query) for query in dataset.queries()])


def _show_json(details: "CaseDetails") -> None:
    from karat.cli.output.show import put_json

    code = [
        {**excerpt._asdict(), "target": excerpt.target._asdict()} for excerpt in details.excerpts
    ]
    rest = {"message": details.message, "diff": details.diff, "problem": details.problem}
    put_json({**_case(details.query), **details.query.extra, "should_find": code, **rest})


def _case(query: "Query") -> dict[str, object]:
    targets = [target._asdict() for target in query.targets]
    return {"id": query.id, "query": query.text, "tags": query.tags, "targets": targets}


def _show(details: "CaseDetails") -> None:
    query = details.query
    about = {"case": query.id, "query": query.text, **query.tags}
    about |= {key: value for key, value in query.extra.items() if isinstance(value, str)}
    for label, value in about.items():
        click.echo(printable(f"{label:13} {value}"))
    code = [_line(line) for excerpt in details.excerpts for line in _excerpt(excerpt)]
    message = [_line(line) for line in details.message.splitlines()]
    diff = [_coloured(line) for line in _cut(details.diff.split("\n")) if details.diff]
    for title, lines in (("should find", code), ("message", message), ("diff", diff)):
        if lines:
            click.echo("\n  ".join((f"\n{title}", *lines)))
    if details.problem:
        click.echo(printable(f"note: {details.problem}"), err=True)


def _excerpt(excerpt: "Excerpt") -> Iterator[str]:
    target = excerpt.target
    lines = range_text(target.path, target.start_line, target.end_line)
    symbol = f"  {target.symbol}" if target.symbol else ""
    problem = f"  ({excerpt.problem})" if excerpt.problem else ""
    yield f"{lines}  grade {target.grade:g}{symbol}{problem}"
    for number, line in enumerate(excerpt.lines, excerpt.first_line):
        mark = ">" if target.start_line <= number <= target.end_line else " "
        yield f"{number:6} {mark} {line}"


def _cut(diff: Sequence[str]) -> Iterator[str]:
    """Yield the first lines of the diff of each file, and how many were left out."""
    printed = left_out = 0
    for line in diff:
        if line.startswith("diff --git "):
            yield from _left_out(left_out)
            printed = left_out = 0
        if printed < MOST_LINES:
            yield line
            printed += 1
        else:
            left_out += 1
    yield from _left_out(left_out)


def _left_out(lines: int) -> Iterator[str]:
    if lines:
        yield f"... {counted(lines, 'more line')} of this file; --json prints all"


def _line(text: str) -> str:
    # Cut before tabs are expanded, which reads the whole line.
    text = text[: MOST_CHARACTERS + 1].expandtabs(4)
    return printable(text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}...")


def _coloured(line: str) -> str:
    """Return a line of a diff, coloured on a terminal."""
    shade = next((shade for start, shade in COLOURS.items() if line.startswith(start)), None)
    # https://no-color.org: any value but an empty one.
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR")
    return _line(line) if plain else click.style(_line(line), fg=shade)
