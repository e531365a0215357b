"""Connect to the service, and find its objects by id or name."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from karat.errors import MissingExtra, UnknownName
from karat.report.display import printable

if TYPE_CHECKING:
    from karat.client import Client

__all__ = ["AS_JSON", "connect", "find_named", "put_list"]

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class HasName(Protocol):
    """An object with an id and a name."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...


Item = TypeVar("Item", bound=HasName)


def connect() -> "Client":
    """Return a client of the service that ``--server`` names; its token is in KARAT_TOKEN."""
    try:
        from karat.client import Client
    except ModuleNotFoundError as missing:
        raise MissingExtra("httpx", extra="http", purpose="using a service") from missing
    return Client(str(click.get_current_context().find_root().params["server"]))


def put_list(lines: Iterable[str], *, none: str) -> None:
    """Print *lines*; if there are none, print that the service has *none*."""
    empty = True
    for line in lines:
        click.echo(printable(line))
        empty = False
    if empty:
        click.echo(f"the service has {none}", err=True)


def find_named(items: Iterable[Item], name: str, what: str) -> Item:
    """Return the one of *items* with this id, with an id that begins so, or with this name."""
    found = list(items)
    for fits in (
        [item for item in found if item.id == name],
        [item for item in found if item.name == name],
        [item for item in found if item.id.startswith(name)],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            ids = ", ".join(item.id for item in fits)
            raise UnknownName(f"several {what}s match {name!r}: {ids}; give the id of one")
    raise UnknownName(f"the service has no {what} {name!r}")
