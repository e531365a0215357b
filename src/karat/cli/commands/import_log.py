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
    help="What the log calls query, path, rank, time, session or dwell.",
)
@click.option(
    "--min-clicks",
    type=WholeNumber(1),
    default=1,
    show_default=True,
    metavar="N",
    help="In how many sessions a result must be opened to be a target.",
)
@click.option(
    "--min-sessions",
    type=WholeNumber(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Leave out a query of fewer sessions: it may tell who asked.",
)
@click.option(
    "--many-clicks",
    type=WholeNumber(1),
    default=3,
    show_default=True,
    metavar="N",
    help="From so many on, the grade is higher by one.",
)
@click.option(
    "--dwell",
    "dwell_s",
    type=Number(0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="A reader who stays so long is content, and the grade higher by one.",
)
@click.option(
    "--match",
    type=click.Choice(MATCHES),
    default="exact",
    show_default=True,
    help="How a hit matches what was opened.",
)
def command(log: str, output: str, columns: tuple[str, ...], match: str, **rules: float) -> None:
    """Make a gold set from LOG, a CSV or JSON lines file of searches and clicks.

    A line has a query and the path that was opened; rank, time, session and dwell time are used
    where they are there. Neither sessions nor times are written.

    \b
    karat import-log clicks.csv -o gold.json
    karat import-log clicks.jsonl -o gold.json --column path=doc_id --min-sessions 5
    """
    from pathlib import Path

    from karat.app.import_log import LogRules, import_log
    from karat.formats import write
    from karat.formats.clicks import read_clicks
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
        raise click.UsageError(f"--column {text!r}: expected such as query=search_term.")
    return column, name
