"""One statement for a handful of rows, with as little around it as a database allows."""

import sqlite3
from collections.abc import Mapping, Sequence

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from karat.store.database import Database

__all__ = ["Insert", "Insertion"]

Insert = sqlite.Insert | postgresql.Insert


class Insertion:
    """Executes *insert*, which fills all columns of *table* but its key.

    SQLite is asked by its own driver: SQLAlchemy would take three times as long as the statement,
    and the queries of a run wait for it.
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

    def execute(self, rows: Sequence[Mapping[str, object]]) -> int | None:
        """Insert all *rows* or none, and return how many have changed something.

        None says that one of them belongs to nothing that is there.
        """
        if not self._database.is_sqlite:
            with self._database.writing() as connection:
                try:
                    return connection.execute(self._insert, [dict(row) for row in rows]).rowcount
                except IntegrityError:
                    return None
        values = [[bind(row[name]) for name, bind in self._values] for row in rows]
        with self._database.driver() as driver:
            try:
                # It commits, or takes back what was done until an error.
                with driver:
                    driver.execute("BEGIN IMMEDIATE")
                    return driver.executemany(self._text, values).rowcount
            except sqlite3.IntegrityError:
                return None


def _as_it_is(value: object) -> object:
    return value
