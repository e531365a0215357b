"""karat plugins: list the extensions, what they add, and why one is off."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from karat.report.display import printable

if TYPE_CHECKING:
    from karat.discovery import InstalledExtension

WIDTH = 100
# Widest column of names, and the most names that a line lists of one kind.
COLUMN = 24
MOST = 8


@click.command("plugins")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, as_json: bool) -> None:
    """List the extensions: where each comes from, what it adds, and why one is off.

    Other distributions add extensions when they are installed. A single file is loaded with
    --plugin before the command, or with plugins: in karat.yaml.

    \b
    karat plugins
    karat init --plugin my_plugin.py
    karat --plugin my_plugin.py plugins
    """
    from karat.discovery import installed, on_problem

    # The list has the reasons.
    on_problem(lambda _: None)
    extensions = installed()
    if as_json:
        click.echo(json.dumps([_record(one) for one in extensions], indent=2))
        return
    formatter = click.HelpFormatter(width=WIDTH)
    rows = [(one.name, printable(_description(one))) for one in extensions]
    if rows:
        formatter.write_dl(rows, col_max=COLUMN)
        click.echo(formatter.getvalue())
    click.echo("Write one: karat init --plugin FILE. How they work: docs/extending.md.")


def _description(one: "InstalledExtension") -> str:
    """Return what *one* is, adds and needs; its reason if it is off."""
    if one.problem:
        return f"off ({one.origin}): {one.problem}"
    if one.extension is None:
        return one.origin
    added = "; ".join(f"{kind} {_some(names)}" for kind, names in _additions(one))
    needs = f" Needs {', '.join(one.extension.needs)}." if one.extension.needs else ""
    adds = f" Adds {added}." if added else ""
    return f"{one.extension.summary} ({one.origin}){adds}{needs}"


def _additions(one: "InstalledExtension") -> Iterator[tuple[str, list[str]]]:
    """Yield each kind of object that *one* adds, with their names."""
    if one.extension is None:
        return
    kinds = {
        "command": one.extension.commands,
        "remote command": one.extension.remote,
        **one.extension.adds,
        "name": one.extension.names,
    }
    yield from ((kind, list(table)) for kind, table in kinds.items() if table)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more


def _record(one: "InstalledExtension") -> dict[str, object]:
    return {
        "name": one.name,
        "origin": one.origin,
        "summary": one.extension.summary if one.extension else None,
        "adds": dict(_additions(one)),
        "needs": list(one.extension.needs) if one.extension else [],
        "problem": one.problem or None,
    }
