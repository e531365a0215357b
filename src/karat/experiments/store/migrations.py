"""Create the tables of a new database, and migrate those of an older one step by step.

The tables of results have their version in the table of Alembic. Those of extensions are made when
they are first needed; each set of them has its version in the table of settings.

Alembic takes longer to import than a command may take to start, so that only a database of an
earlier version needs it: whether one is current is a single row.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, MetaData, inspect, select, text

from karat.errors import InputError
from karat.experiments.store.schema import METADATA, SETTINGS, VERSION
from karat.registry import Registry

if TYPE_CHECKING:
    from alembic.runtime.migration import MigrationContext, MigrationStep
    from alembic.script import ScriptDirectory


# The names of the files in versions/, in their order.
REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")
# A table of stores from before Alembic, which have the first revision.
BEFORE_ALEMBIC = "karat_schema"

# Before the name of a set of tables, in the table of settings.
TABLES_OF = "tables of "

# Two processes that open a new database at once would otherwise both make the tables.
SETUP_LOCK = 7_236_114_509


@dataclass(frozen=True, slots=True)
class TableSet:
    """Tables that an extension has in the database of a store, described by *metadata*.

    *revisions* are their versions, the oldest first; each is a file of Alembic in the folder
    *versions*, which a single one does not need. *version_before* returns the version of tables
    that were made when it was not stored.
    """

    name: str
    metadata: MetaData
    revisions: tuple[str, ...] = ("0001",)
    versions: Path | None = None
    version_before: Callable[[Connection], str] | None = None


# Sets of tables of extensions, which a service makes when it opens its store.
TABLE_SETS: Registry[TableSet] = Registry("tables", {})


def is_current(connection: Connection, database: str) -> bool:
    """Return whether the tables are the newest; raise InputError for what Karat cannot use."""
    version = _version(connection, database)
    if version and version not in REVISIONS:
        raise InputError(
            f"{database} was written by a newer Karat: its schema version is {version}, expected "
            f"at most {REVISIONS[-1]}; update Karat"
        )
    return version == REVISIONS[-1]


def upgrade(connection: Connection, database: str) -> tuple[str, str] | None:
    """Make the tables, or change those of an earlier version; the connection is in a write.

    Return the version that the tables had, with the new one; None where there were no tables, or
    another process was faster.
    """
    _wait_for_others(connection)
    # Another process may have done it since the caller looked.
    if is_current(connection, database):
        return None
    if version := _version(connection, database):
        if VERSION.name not in inspect(connection).get_table_names():
            _stamp(connection, version)
        migrate(connection)
        return version, REVISIONS[-1]
    METADATA.create_all(connection)
    _stamp(connection, REVISIONS[-1])
    return None


def is_added(connection: Connection, tables: TableSet, database: str) -> bool:
    """Return whether *tables* are there, and the newest; raise InputError for newer ones."""
    version = _version_of(connection, tables)
    if version and version not in tables.revisions:
        raise InputError(
            f"{database}: the tables of {tables.name} were written by a newer version: theirs is "
            f"{version}, expected at most {tables.revisions[-1]}; update {tables.name}"
        )
    return version == tables.revisions[-1]


def add(connection: Connection, tables: TableSet, database: str) -> None:
    """Make *tables*, or change those of an earlier version; the connection is in a write."""
    _wait_for_others(connection)
    if is_added(connection, tables, database):
        return
    existing = sorted(tables.metadata.tables.keys() & inspect(connection).get_table_names())
    version = _version_of(connection, tables)
    if existing and not version:
        if tables.version_before is None:
            raise InputError(
                f"{database} has a table {existing[0]!r} already, which {tables.name} adds; "
                "expected a name that nothing else uses"
            )
        version = tables.version_before(connection)
    if version:
        _run_steps(connection, tables, version)
    else:
        tables.metadata.create_all(connection)
    name = TABLES_OF + tables.name
    connection.execute(SETTINGS.delete().where(SETTINGS.c.name == name))
    connection.execute(SETTINGS.insert(), {"name": name, "value": tables.revisions[-1]})


def script(versions: Path | None = None) -> "ScriptDirectory":
    """Return the migrations in the folder *versions*, by default those of results."""
    from alembic.script import ScriptDirectory

    folder = versions or Path(__file__).with_name("versions")
    return ScriptDirectory(folder.parent, version_locations=[folder])


def migrate(connection: Connection) -> None:
    """Take every step from the version that *connection* has to the newest."""
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext, MigrationStep

    scripts = script()

    def steps(current: tuple[str, ...], _context: "MigrationContext") -> "Iterable[MigrationStep]":
        newest_first = list(scripts.iterate_revisions("head", current or "base"))
        return [
            MigrationStep.upgrade_from_script(scripts.revision_map, revision)
            for revision in reversed(newest_first)
        ]

    context = MigrationContext.configure(
        connection, opts={"fn": steps, "version_table": VERSION.name}
    )
    with Operations.context(context):
        context.run_migrations()


def _run_steps(connection: Connection, tables: TableSet, version: str) -> None:
    """Take every step of *tables* after *version*."""
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext

    if version == tables.revisions[-1]:
        return
    newest_first = list(script(tables.versions).iterate_revisions("head", version))
    with Operations.context(MigrationContext.configure(connection)):
        for revision in reversed(newest_first):
            revision.module.upgrade()


def _version_of(connection: Connection, tables: TableSet) -> str:
    """Return the stored version of *tables*, "" if there is none."""
    statement = select(SETTINGS.c.value).where(SETTINGS.c.name == TABLES_OF + tables.name)
    return str(connection.execute(statement).scalar_one_or_none() or "")


def _wait_for_others(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": SETUP_LOCK})


def _stamp(connection: Connection, version: str) -> None:
    VERSION.create(connection, checkfirst=True)
    connection.execute(VERSION.insert().values(version_num=version))


def _version(connection: Connection, database: str) -> str:
    """Return the version of the tables, "" where there are none."""
    tables = inspect(connection).get_table_names()
    if VERSION.name in tables:
        return str(connection.execute(select(VERSION.c.version_num)).scalar_one())
    if BEFORE_ALEMBIC in tables:
        return REVISIONS[0]
    if tables and connection.dialect.name == "sqlite":
        raise InputError(
            f"{database} is the database of another program, with a table {tables[0]!r}; expected "
            "a file that Karat created, or a new name"
        )
    return ""
