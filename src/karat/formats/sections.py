"""The sections of a configuration file, ``karat.yaml``; a command reads those that it needs."""

from collections.abc import Mapping

from karat.errors import InputError
from karat.formats.fields import Checker, Location, Record

__all__ = ["SECTIONS", "find_section"]

SECTIONS = (
    *("dataset", "engines", "agents", "evaluation", "metrics"),
    *("matrix", "suites", "gate", "output"),
)


def find_section(check: Checker, top: Record, name: str) -> tuple[Location, Record]:
    """Return the place and the content of the section *name* of a file.

    A file without sections holds the content alone: it is returned as it is. A file with other
    sections but without this one is an error.
    """
    if isinstance(top.get(name), Mapping):
        check.known(top, SECTIONS, (), list_keys=True)
        return (name,), check.record(top[name], (name,))
    if any(isinstance(top.get(section), Mapping) for section in SECTIONS):
        raise InputError(
            f"{check.source}: no section {name!r}; the file has {', '.join(map(repr, top))}"
        )
    return (), top
