"""karat inspect: the cases of a gold set, or one with its diff, its code and its hits."""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from karat.cli.help import INPUTS, OUTPUT, TieredCommand, option
from karat.cli.options.experiment import repo_option
from karat.cli.options.scoring import measure_options
from karat.cli.options.shared import COLUMNS, GoldPath, WholeNumber, store_option, warn_of_row
from karat.report.display import printable, shorten
from karat.system.words import counted, range_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.extensions.inspect.case import CaseDetails, Excerpt
    from karat.extensions.inspect.run import QueryInspection, RunInspection
    from karat.model import Dataset, Query
    from karat.scoring.settings import Scoring


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
# Hits of a run, and queries of its list, that are shown.
MOST_HITS = 5
MOST_QUERIES = 20
# Columns of a line of a hit.
HIT_WIDTH = 84


@click.command("inspect", cls=TieredCommand)
@click.argument("goldset", type=GoldPath())
@click.argument("case", required=False)
@option("--query", group=INPUTS, common=True, metavar="ID", help="The same as CASE.")
@option(
    "--run",
    group=INPUTS,
    common=True,
    metavar="RUN",
    help="Show how this run did: a file, or a stored run such as latest.1 or mysearch.",
)
@option(
    "--hits",
    group=OUTPUT,
    common=True,
    type=WholeNumber(1),
    default=MOST_HITS,
    show_default=True,
    metavar="N",
    help="Hits of RUN to show.",
)
@repo_option("Folder of the repository, if it has moved; NAME= for one of several.")
@option(
    "--format",
    "format_name",
    group=INPUTS,
    metavar="NAME",
    help="Format of the file, if it cannot be detected.",
)
@COLUMNS
@option("--json", "as_json", group=OUTPUT, common=True, is_flag=True, help="Print JSON.")
@store_option
@measure_options
def command(
    goldset: str,
    case: str | None,
    *,
    query: str | None,
    run: str | None,
    repositories: "Mapping[str, str] | None",
    format_name: str | None,
    columns: "Mapping[str, str]",
    hits: int,
    store: str,
    scoring: "Scoring",
    as_json: bool,
) -> None:
    """List the cases of GOLDSET, or show one: targets, commit message and diff, and a run on it.

    CASE is an id or the beginning of one. With --run, the list has the worst queries of the run
    first, and one case shows where each target was ranked or lost, and the best hits with the
    lines that are nearest to the query. Long lines and long diffs are cut; --json has all.

    \b
    karat inspect gold.json fbb6f0
    karat inspect gold.json --run latest.1
    karat inspect gold.json --run mysearch --query fbb6f0
    karat inspect gold.json fbb6f0 --json
    """
    from karat.extensions.inspect.case import find_case, inspect_case
    from karat.formats import read_dataset

    if case and query:
        raise click.UsageError("CASE and --query both name a query; give one of them.")
    case = case or query
    reading: dict[str, Any] = {
        "format": format_name,
        "columns": columns,
        "on_empty": warn_of_row,
    }
    of_run = _read_run(goldset, run, store, reading, scoring) if run else None
    if case is None and of_run:
        (_list_worst_json if as_json else _list_worst)(of_run, goldset, run or "")
        return
    dataset = of_run.gold if of_run else read_dataset(goldset, **reading)
    if case is None:
        if as_json:
            _list_json(dataset)
        else:
            _list(dataset, goldset)
        return
    found = find_case(dataset, case)
    details = inspect_case(dataset, found, repositories=repositories or {})
    inspected = of_run.query(found, hits=hits) if of_run else None
    (_show_json if as_json else _show)(details, inspected)


def _read_run(
    goldset: str, run: str, store: str, reading: dict[str, Any], scoring: "Scoring"
) -> "RunInspection":
    """Return the run on the gold set; on the one in the store if references are no paths yet."""
    from karat.app.report import gather
    from karat.errors import InputError
    from karat.extensions.inspect.run import RunInspection
    from karat.formats import is_source, read_dataset

    names = [goldset, run]
    # It is read again, and then warns of rows without a query.
    quiet = {**reading, "on_empty": lambda _: None}
    if not is_source(run) and set(read_dataset(goldset, **quiet).refs.names) - {"path"}:
        names = [run]
    given = gather(names, store=store, reading=reading)
    if len(given.runs) != 1:
        several = ", ".join(each.name for each in given.runs)
        raise InputError(f"{run}: expected one run, got {several}; add .1 for the first one")
    return RunInspection(given, scoring)


def _list_worst(of_run: "RunInspection", goldset: str, run: str) -> None:
    """Show the worst queries of a run, and the command that shows the first one."""
    from karat.cli.options.shared import Output
    from karat.cli.output.show import draw_tables, put
    from karat.report.table import Cell, Column, Table, number

    worst = of_run.worst()
    rows = tuple(
        (
            Cell(one.query.id),
            number(one.score, digits=3),
            Cell(str(one.rank or "-")),
            Cell(", ".join(one.reasons) or "-"),
            Cell(one.query.text),
        )
        for one in worst[:MOST_QUERIES]
    )
    columns = (
        Column("query"),
        Column(of_run.lead, numeric=True),
        Column("first rank", numeric=True, spare=3),
        Column("lost targets", spare=2),
        Column("text", spare=1),
    )
    notes = []
    if len(worst) > len(rows):
        notes.append(f"{len(worst) - len(rows):,} more queries; --json lists all")
    if worst:
        typed = shlex.join(["karat", "inspect", goldset, "--run", run, "--query"])
        notes.append(f"one of them: {typed} {shlex.quote(worst[0].query.id)}")
    title = f"{of_run.name}, the worst of {counted(len(worst), 'query')}"
    put(draw_tables([Table(title, columns, rows, tuple(notes))], Output()), Output())


def _list_worst_json(of_run: "RunInspection", _goldset: str, _run: str) -> None:
    from karat.cli.output.show import put_json

    rows = [
        {"id": one.query.id, "query": one.query.text, "score": one.score, "rank": one.rank or None}
        | {"lost": one.reasons}
        for one in of_run.worst()
    ]
    put_json({"run": of_run.name, "measure": of_run.lead, "queries": rows})


def _list(dataset: "Dataset", goldset: str) -> None:
    from karat.app.detection import detection
    from karat.cli.options.shared import Output
    from karat.cli.output.show import draw_tables, put
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
        for row, query_id in enumerate(dataset.query_ids[:MOST_QUERIES])
    )
    title = f"{dataset.name}, {counted(len(dataset), 'case')}"
    notes = [str(detection(dataset))]
    if len(dataset) > len(rows):
        notes.append(f"{counted(len(dataset) - len(rows), 'more case')}; --json lists all")
    if len(dataset):
        typed = shlex.join(["karat", "inspect", goldset, dataset.query_ids[0]])
        notes.append(f"one of them, with its targets: {typed}")
    put(draw_tables([Table(title, columns, rows, notes=tuple(notes))], Output()), Output())


def _list_json(dataset: "Dataset") -> None:
    from karat.cli.output.show import put_json

    put_json([_case(query) for query in dataset.queries()])


def _show_json(details: "CaseDetails", inspected: "QueryInspection | None") -> None:
    from karat.cli.output.show import put_json

    code = [
        {**excerpt._asdict(), "target": excerpt.target._asdict()} for excerpt in details.excerpts
    ]
    rest = {"message": details.message, "diff": details.diff, "problem": details.problem}
    run = {"run": _run_json(inspected)} if inspected else {}
    put_json({**_case(details.query), **details.query.extra, "should_find": code, **rest, **run})


def _run_json(inspected: "QueryInspection") -> dict[str, object]:
    targets = [
        {**one.target._asdict(), "rank": one.rank or None, "outcome": one.text}
        for one in inspected.targets
    ]
    hits = [
        {**one.hit._asdict(), "rank": one.rank, "grade": one.grade}
        | {"lines": [{"line": number, "text": text} for number, text in one.lines]}
        for one in inspected.hits
    ]
    rest = {"retrieved": inspected.retrieved, "error": inspected.error or None}
    return {
        "name": inspected.run,
        "scores": inspected.scores,
        "targets": targets,
        "hits": hits,
        **rest,
        "problem": inspected.problem or None,
    }


def _case(query: "Query") -> dict[str, object]:
    targets = [target._asdict() for target in query.targets]
    return {"id": query.id, "query": query.text, "tags": query.tags, "targets": targets}


def _show(details: "CaseDetails", inspected: "QueryInspection | None") -> None:
    query = details.query
    about = {"case": query.id, "query": query.text}
    if inspected:
        about["tags"] = ", ".join(f"{tag} {value}" for tag, value in query.tags.items()) or "-"
        about["run"] = _run_text(inspected)
    else:
        extra = {key: value for key, value in query.extra.items() if isinstance(value, str)}
        about |= {**query.tags, **extra}
    for label, value in about.items():
        click.echo(printable(f"{label:13} {value}"))
    code = [_line(line) for excerpt in details.excerpts for line in _excerpt(excerpt)]
    message = [_line(line) for line in details.message.splitlines()]
    diff = [_coloured(line) for line in _cut(details.diff.split("\n")) if details.diff]
    if inspected:
        sections = [*_run_sections(inspected), ("message", message)]
    else:
        sections = [("should find", code), ("message", message), ("diff", diff)]
    for title, lines in sections:
        if lines:
            click.echo("\n  ".join((f"\n{title}", *lines)))
    if problem := inspected.problem if inspected else details.problem:
        click.echo(printable(f"note: {problem}"), err=True)


def _run_text(inspected: "QueryInspection") -> str:
    lead, score = next(iter(inspected.scores.items()))
    text = f"{inspected.run}, {lead} {'-' if isnan(score) else f'{score:.3f}'}"
    return f"{text}, error: {inspected.error}" if inspected.error else text


def _run_sections(inspected: "QueryInspection") -> "Iterator[tuple[str, list[str]]]":
    """Yield titles with the lines below: the targets, and the hits of a run."""
    targets = []
    width = max((len(one.text) for one in inspected.targets), default=0)
    for one in inspected.targets:
        lines = range_text(one.target.path, one.target.start_line, one.target.end_line)
        symbol = f"  {one.target.symbol}" if one.target.symbol else ""
        targets.append(_line(f"{one.text:{width}}  {lines}{symbol}, grade {one.target.grade:g}"))
    yield "targets", targets
    hits = []
    for hit in inspected.hits:
        lines = range_text(hit.hit.path, hit.hit.start_line, hit.hit.end_line)
        target = "" if hit.grade is None else f"  (target, grade {hit.grade:g})"
        hits.append(_line(f"{hit.rank:3}  {lines}{target}"))
        hits += [
            f"     {number:6}  {shorten(_line(text), HIT_WIDTH)}" for number, text in hit.lines
        ]
    more = inspected.retrieved - len(inspected.hits)
    if more > 0:
        hits.append(f"     {counted(more, 'more hit')}; --hits shows more")
    yield "best hits", hits or ["none"]


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
