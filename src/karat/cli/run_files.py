"""Runs written to files: one name for one run, a name with a gap for several."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from karat.errors import InputError

if TYPE_CHECKING:
    from karat.model import Run

__all__ = ["NAME", "keeper"]

# In the name of a file that keeps runs, this becomes the name of the engine.
NAME = "{engine}"
NOT_IN_A_FILE_NAME = re.compile(r"[^\w.=,+-]+")


def keeper(place: str, format_name: str | None, *, several: bool) -> "Callable[[Run], None]":
    """Return what writes a run to *place*; a name that would be written twice is refused."""
    if several and NAME not in place:
        raise InputError(f"{place}: several runs and one name; expected {NAME} in it")
    written: set[str] = set()

    def keep(run: "Run") -> None:
        from karat.formats import write

        path = place.replace(NAME, NOT_IN_A_FILE_NAME.sub("_", run.name).strip("_"))
        if path in written:
            raise InputError(f"{path}: two runs would be written here, {run.name!r} the second")
        written.add(path)
        write(run, path, format=format_name)
        click.echo(f"wrote {path}", err=True)

    return keep
