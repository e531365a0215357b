"""The tables are made in a new database, and brought up to date in an older one, step by step."""

from collections.abc import Callable

from sqlalchemy import Connection, inspect, select, text

from karat.errors import InputError
from karat.store.schema import METADATA, SCHEMA

__all__ = ["STEPS", "is_current", "upgrade"]

Step = Callable[[Connection], None]

# The first step leads from version 1 to 2. A new database has the newest tables at once.
STEPS: tuple[Step, ...] = ()

# Two processes that open a new database at once would otherwise both make the tables.
SETUP_LOCK = 7_236_114_509


def is_current(connection: Connection, place: str) -> bool:
    """Return whether the tables are the newest; raise InputError for what Karat cannot use."""
    version, newest = _version(connection, place), 1 + len(STEPS)
    if version > newest:
        raise InputError(
            f"{place} was written by a newer Karat: version {version} of its tables, expected at "
            f"most {newest}; update Karat"
        )
    return version == newest


def upgrade(connection: Connection, place: str) -> None:
    """Make the tables, or change those of an earlier version; the connection is in a write."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": SETUP_LOCK})
    # Another process may have done it since the caller looked.
    if is_current(connection, place):
        return
    version = _version(connection, place)
    if version:
        for step in STEPS[version - 1 :]:
            step(connection)
        connection.execute(SCHEMA.delete())
    else:
        METADATA.create_all(connection)
    connection.execute(SCHEMA.insert().values(version=1 + len(STEPS)))


def _version(connection: Connection, place: str) -> int:
    """Return the version of the tables, 0 where there are none."""
    tables = inspect(connection).get_table_names()
    if SCHEMA.name in tables:
        return int(connection.execute(select(SCHEMA.c.version)).scalar_one())
    if tables and connection.dialect.name == "sqlite":
        raise InputError(
            f"{place} is a database of something else, with a table {tables[0]!r}; expected a file "
            "that Karat has made, or a new name"
        )
    return 0
