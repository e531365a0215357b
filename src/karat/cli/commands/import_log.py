"""karat import-log: a gold set from real searches and clicks."""

import click

from karat.cli.options.shared import MATCHES, Number, WholeNumber
from karat.report.text import printable

__all__ = ["command"]


@click.command("import-log")
@click.argument("log", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="The gold set to write.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="COLUMN=NAME",
    help="Name of a column in the log, for query, path, rank, time, session or dwell.",
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
    type=click.Choice(MATCHES),
    default="exact",
    show_default=True,
    help="How a hit matches a clicked result.",
)
def command(log: str, output: str, columns: tuple[str, ...], match: str, **rules: float) -> None:
    """Make a gold set from LOG, a CSV or JSON lines file of queries and clicks.

    Each line has a query and the path of the clicked result; rank, time, session and dwell time
    are optional. Sessions and times are not written to the gold set.

    \b
    karat import-log clicks.csv -o gold.json
    karat import-log clicks.jsonl -o gold.json --column path=doc_id --min-sessions 5
    """
    from pathlib import Path

    from karat.app.import_log import LogRules, import_log, read_clicks
    from karat.formats import write
    from karat.report.score_view import queries

    named = dict(_pair(column) for column in columns)
    found = import_log(
        read_clicks(log, columns=named),
        LogRules(**rules),  # type: ignore[arg-type] # each option has the type of its rule
        name=Path(log).name,
        match=match,
    )
    write(found.gold, output, format="gold")
    targets = len(found.gold.grades)
    click.echo(f"wrote {printable(output)}: {queries(len(found.gold))}, {targets} targets")
    for reason, count in found.dropped.items():
        click.echo(f"  left out: {count} {reason}")
    for note in found.notes:
        click.echo(f"  note: {note}")


def _pair(text: str) -> tuple[str, str]:
    column, equals, name = text.partition("=")
    if not equals or not name:
        raise click.UsageError(
            f"--column {text!r}: expected COLUMN=NAME, such as query=search_term."
        )
    return column, name
