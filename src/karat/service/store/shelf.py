"""What the parts of the service's store have in common: a database, a clock, ids and pages."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar
from uuid import uuid4

from sqlalchemy import Connection, Row, Select, Table, func, select

from karat.errors import UnknownName
from karat.experiments.store.database import Database
from karat.service.store.records import Page

__all__ = ["Shelf", "new_id", "one", "owned"]

Item = TypeVar("Item")


def new_id() -> str:
    """Return an id that nobody can guess and that is never a path."""
    return str(uuid4())


class Shelf:
    """One kind of thing in *database*; *clock* tells when something is done."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        """Keep the database; nothing is read yet."""
        self._database = database
        self._clock = clock

    def _one(self, wanted: Select[*tuple[Any, ...]], what: str, **values: str) -> Row[Any]:
        """Return the only row; UnknownName, which calls it *what*, where there is none."""
        with self._database.asking() as connection:
            return one(connection, wanted, what, **values)

    def _page(
        self,
        wanted: Select[*tuple[Any, ...]],
        make: Callable[[Row[Any]], Item],
        *,
        limit: int,
        offset: int,
    ) -> Page[Item]:
        with self._database.reading() as connection:
            total = select(func.count()).select_from(wanted.order_by(None).subquery())
            rows = connection.execute(wanted.limit(limit).offset(offset))
            return Page(tuple(map(make, rows)), connection.execute(total).scalar_one())


def one(
    connection: Connection, wanted: Select[*tuple[Any, ...]], what: str, **values: str
) -> Row[Any]:
    """Return the only row of *wanted*, whose parameters are *values*.

    UnknownName, which calls it *what*, is raised without one.
    """
    found = connection.execute(wanted, values).one_or_none()
    if found is None:
        raise UnknownName(f"no {what}")
    return found


def owned(wanted: Select[*tuple[Any, ...]], table: Table, owner: str | None) -> Any:
    """Return *wanted* of *owner* only, where one is named."""
    return wanted if owner is None else wanted.where(table.c.owner == owner)
