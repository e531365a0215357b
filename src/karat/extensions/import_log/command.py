"""karat import-log: a gold set from real searches and clicks."""

import click

from karat.cli.options.shared import Number, OutputPath, WholeNumber
from karat.report.display import printable
from karat.scoring.matching.modes import MATCHERS


@click.command("import-log")
@click.argument("log", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputPath(),
    metavar="FILE",
    help="The gold set to write.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="COLUMN=NAME",
    help="Name of a column in the log, for query, path, rank, time, session, dwell or clicked. A "
    "dwell column whose name ends in _ms is in milliseconds, any other in seconds.",
)
@click.option(
    "--min-clicks",
    type=WholeNumber(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Sessions with a click that make a result a target.",
)
@click.option(
    "--min-sessions",
    type=WholeNumber(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Leave out queries with fewer sessions, for privacy.",
)
@click.option(
    "--many-clicks",
    type=WholeNumber(1),
    default=3,
    show_default=True,
    metavar="N",
    help="From this many clicks on, the grade is one higher.",
)
@click.option(
    "--dwell",
    "dwell_s",
    type=Number(0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="From this dwell time on, the grade is one higher.",
)
@click.option(
    "--match",
    type=click.Choice(MATCHERS.core()),
    default="exact",
    show_default=True,
    help="How a hit matches a clicked result.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    log: str,
    output: str,
    columns: tuple[str, ...],
    match: str,
    *,
    as_json: bool,
    **rules: float,
) -> None:
    """Make a gold set from LOG, a CSV or JSON lines file of queries and clicks.

    Each line has a query and the path of the clicked result; rank, time, session and dwell time
    are optional. Where a column clicked has 0, the result was only shown. CSV may be separated by
    commas, semicolons, tabs or bars. Sessions and times are not written to the gold set.

    \b
    karat import-log clicks.csv -o gold.json
    karat import-log clicks.jsonl -o gold.json --column path=link --min-sessions 5
    """
    from pathlib import Path

    from karat.extensions.import_log.log import LogRules, dropped_text, import_log, read_clicks
    from karat.formats import write
    from karat.report.score_view import queries
    from karat.system.words import counted

    named = dict(_pair(column) for column in columns)
    clicks = read_clicks(log, columns=named)
    used = ", ".join(f"{column}={name}" for column, name in clicks.used.items())
    unused = f"; not used: {', '.join(clicks.unused)}" if clicks.unused else ""
    click.echo(printable(f"used: {used}{unused}"), err=True)
    imported = import_log(
        clicks,
        LogRules(**rules),  # type: ignore[arg-type] # each option has the type of its rule
        name=Path(output).name,
        match=match,
        source=Path(log).name,
    )
    write(imported.gold, output, format="gold")
    for warning in imported.warnings:
        click.echo(printable(f"warning: {warning}"), err=True)
    targets = len(imported.gold.grades)
    if as_json:
        import json

        told = {
            "schema": 1,
            "output": output,
            "queries": len(imported.gold),
            "targets": targets,
            "columns": {"used": dict(clicks.used), "not_used": clicks.unused},
            "dropped": dict(imported.dropped),
            "notes": imported.notes,
            "warnings": imported.warnings,
        }
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    made = f"{queries(len(imported.gold))}, {counted(targets, 'target')}"
    click.echo(f"wrote {printable(output)}: {made}")
    for reason, count in imported.dropped.items():
        click.echo(f"  left out: {dropped_text(reason, count)}")
    for note in imported.notes:
        click.echo(f"  note: {note}")


def _pair(text: str) -> tuple[str, str]:
    column, equals, name = text.partition("=")
    if not equals or not name:
        raise click.UsageError(
            f"--column {text!r}: expected COLUMN=NAME, such as query=search_term."
        )
    return column, name
