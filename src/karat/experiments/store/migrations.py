"""Create the tables of a new database, and migrate those of an older one step by step.

Alembic takes longer to import than a command may take to start, so that only a database of an
earlier version needs it: whether one is current is a single row.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, select, text

from karat.errors import InputError
from karat.experiments.store.schema import METADATA, VERSION

if TYPE_CHECKING:
    from alembic.runtime.migration import MigrationContext, MigrationStep
    from alembic.script import ScriptDirectory


# The names of the files in versions/, in their order.
REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007")
# A table of stores from before Alembic, which have the first revision.
BEFORE_ALEMBIC = "karat_schema"

# Two processes that open a new database at once would otherwise both make the tables.
SETUP_LOCK = 7_236_114_509


def is_current(connection: Connection, place: str) -> bool:
    """Return whether the tables are the newest; raise InputError for what Karat cannot use."""
    version = _version(connection, place)
    if version and version not in REVISIONS:
        raise InputError(
            f"{place} was written by a newer Karat: its schema version is {version}, expected at "
            f"most {REVISIONS[-1]}; update Karat"
        )
    return version == REVISIONS[-1]


def upgrade(connection: Connection, place: str) -> tuple[str, str] | None:
    """Make the tables, or change those of an earlier version; the connection is in a write.

    Return the version that the tables had, with the new one; None where there were no tables, or
    another process was faster.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": SETUP_LOCK})
    # Another process may have done it since the caller looked.
    if is_current(connection, place):
        return None
    if version := _version(connection, place):
        if VERSION.name not in inspect(connection).get_table_names():
            _stamp(connection, version)
        migrate(connection)
        return version, REVISIONS[-1]
    METADATA.create_all(connection)
    _stamp(connection, REVISIONS[-1])
    return None


def script() -> "ScriptDirectory":
    """Return the migrations in ``versions``."""
    from alembic.script import ScriptDirectory

    here = Path(__file__).parent
    return ScriptDirectory(here, version_locations=[here / "versions"])


def migrate(connection: Connection) -> None:
    """Take every step from the version that *connection* has to the newest."""
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext, MigrationStep

    found = script()

    def steps(current: tuple[str, ...], _context: "MigrationContext") -> "Iterable[MigrationStep]":
        newest_first = list(found.iterate_revisions("head", current or "base"))
        return [
            MigrationStep.upgrade_from_script(found.revision_map, revision)
            for revision in reversed(newest_first)
        ]

    context = MigrationContext.configure(
        connection, opts={"fn": steps, "version_table": VERSION.name}
    )
    with Operations.context(context):
        context.run_migrations()


def _stamp(connection: Connection, version: str) -> None:
    VERSION.create(connection, checkfirst=True)
    connection.execute(VERSION.insert().values(version_num=version))


def _version(connection: Connection, place: str) -> str:
    """Return the version of the tables, "" where there are none."""
    tables = inspect(connection).get_table_names()
    if VERSION.name in tables:
        return str(connection.execute(select(VERSION.c.version_num)).scalar_one())
    if BEFORE_ALEMBIC in tables:
        return REVISIONS[0]
    if tables and connection.dialect.name == "sqlite":
        raise InputError(
            f"{place} is the database of another program, with a table {tables[0]!r}; expected a "
            "file that Karat created, or a new name"
        )
    return ""
