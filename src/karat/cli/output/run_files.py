"""Runs written to files: one name for one run, a name with a gap for several."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from karat.errors import InputError

if TYPE_CHECKING:
    from karat.model import Run

__all__ = ["NAME", "make_namer", "make_writer"]

# In the name of a file that keeps runs, this becomes the name of the engine.
NAME = "{engine}"
NOT_IN_A_FILE_NAME = re.compile(r"[^\w.=,+-]+")


def make_namer(place: str, *, several: bool) -> Callable[[str], str]:
    """Return what says where the run of a name goes; a file that two would share is refused."""
    if several and NAME not in place:
        raise InputError(f"{place}: several runs need several files; put {NAME} into the name")
    taken: set[str] = set()

    def name(run: str) -> str:
        path = place.replace(NAME, NOT_IN_A_FILE_NAME.sub("_", run).strip("_"))
        if path in taken:
            raise InputError(f"{path}: two runs would write to this file, the second is {run!r}")
        taken.add(path)
        return path

    return name


def make_writer(place: str, format_name: str | None, *, several: bool) -> "Callable[[Run], None]":
    """Return what writes a run to *place*, or several to the files that it names.

    What the format cannot hold is told: a run without its lines scores otherwise.
    """
    file_of = make_namer(place, several=several)

    def keep(run: "Run") -> None:
        from karat.formats import write
        from karat.formats.losses import losses

        path = file_of(run.name)
        lost = losses(run, write(run, path, format=format_name))
        click.echo(f"wrote {path}", err=True)
        if lost:
            click.echo(
                f"warning: not written: {', '.join(lost)}; a .jsonl file stores everything",
                err=True,
            )

    return keep
