"""The steps of Alembic, run inside the transaction that opens a database."""

from collections.abc import Iterable
from pathlib import Path

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext, MigrationStep
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from karat.experiments.store.schema import VERSION

__all__ = ["migrate", "script"]


def script() -> ScriptDirectory:
    """Return the migrations in ``versions``."""
    here = Path(__file__).parent
    return ScriptDirectory(here, version_locations=[here / "versions"])


def migrate(connection: Connection) -> None:
    """Take every step from the version that *connection* has to the newest."""
    found = script()

    def steps(current: tuple[str, ...], _context: MigrationContext) -> Iterable[MigrationStep]:
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
