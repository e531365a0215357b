"""One statement for row after row, with as little around it as a database allows."""

import sqlite3
from collections.abc import Mapping

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from karat.store.database import Database

__all__ = ["Insert", "RowByRow"]

Insert = sqlite.Insert | postgresql.Insert


class RowByRow:
    """Executes *insert*, which fills all columns of *table* but its key, for one row at a time.

    SQLite is asked by its own driver: SQLAlchemy would take three times as long as the statement,
    and every query of a run waits for it.
    """

    def __init__(self, database: Database, insert: Insert, table: Table) -> None:
        """Compile the statement."""
        self._database = database
        self._insert = insert
        dialect = database.dialect
        columns = [column for column in table.columns if not column.primary_key]
        compiled = insert.compile(dialect=dialect, column_keys=[one.name for one in columns])
        binders = {
            one.name: one.type.dialect_impl(dialect).bind_processor(dialect) for one in columns
        }
        self._text = str(compiled)
        self._values = [(name, binders[name] or _as_it_is) for name in compiled.positiontup or ()]

    def execute(self, row: Mapping[str, object]) -> int | None:
        """Return how many rows have changed; None where *row* belongs to nothing that is there."""
        if not self._database.is_sqlite:
            with self._database.single() as connection:
                try:
                    return connection.execute(self._insert, dict(row)).rowcount
                except IntegrityError:
                    return None
        values = [bind(row[name]) for name, bind in self._values]
        with self._database.driver() as driver:
            try:
                return driver.execute(self._text, values).rowcount
            except sqlite3.IntegrityError:
                return None


def _as_it_is(value: object) -> object:
    return value
