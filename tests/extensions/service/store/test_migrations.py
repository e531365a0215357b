"""The tables of a service: made when a service opens a store, and those of older stores changed."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, inspect, select, text

from karat.errors import InputError
from karat.experiments.store import SqlStore, migrations
from karat.experiments.store import schema as results
from karat.experiments.store.database import Database
from karat.extensions.service.store import JobKind, ServiceStore
from karat.extensions.service.store.schema import METADATA, TABLES
from karat.testing.store import PLAN
from tests.extensions.service.store.conftest import Clock, OpenService
from tests.lease_clock import LeaseClock

STAMP = results.SETTINGS.c.name == "tables of service"


def names(database: Database) -> set[str]:
    with database.reading() as connection:
        return set(inspect(connection).get_table_names())


def back_to_the_third(connection: Connection) -> None:
    """Make the tables what Karat wrote before an extension had them."""
    connection.execute(results.SETTINGS.delete().where(STAMP))


def back_to_the_second(connection: Connection) -> None:
    """Make the tables what Karat wrote before workers sent heartbeats."""
    back_to_the_third(connection)
    moment = {"sqlite": "DATETIME", "postgresql": "TIMESTAMPTZ"}[connection.dialect.name]
    connection.execute(text(f"ALTER TABLE jobs ADD COLUMN lease_until {moment}"))


def back_to_the_first(connection: Connection) -> None:
    """Make the tables what Karat wrote before it knew why targets were lost."""
    back_to_the_second(connection)
    for statement in (
        "DROP TABLE losses",
        "ALTER TABLE jobs DROP COLUMN correlation",
        "ALTER TABLE benchmarks DROP COLUMN revision",
    ):
        connection.execute(text(statement))


def make_first(connection: Connection) -> None:
    """Make the tables by the first file of Alembic, instead of by their description."""
    METADATA.drop_all(connection)
    from alembic.operations import Operations

    first = migrations.script(TABLES.versions).get_revision("0001")
    with Operations.context(MigrationContext.configure(connection)):
        first.module.upgrade()
    back_to_the_third(connection)


def test_revisions_are_listed() -> None:
    revisions = [each.revision for each in migrations.script(TABLES.versions).walk_revisions()]
    assert revisions[::-1] == list(TABLES.revisions)


def test_a_store_without_a_service_has_no_table_of_one(lease_clock: LeaseClock) -> None:
    with lease_clock.open_store(), lease_clock.open_database() as database:
        assert names(database) == set(results.METADATA.tables)
        with ServiceStore(lease_clock.place):
            assert names(database) == {*results.METADATA.tables, *METADATA.tables}


@pytest.mark.parametrize(
    "before", [make_first, back_to_the_first, back_to_the_second, back_to_the_third]
)
def test_migrations_make_the_same_tables(
    lease_clock: LeaseClock, before: Callable[[Connection], None]
) -> None:
    ServiceStore(lease_clock.place).close()
    with lease_clock.open_database() as database, database.writing() as connection:
        before(connection)
    for _ in range(2):  # The second time there is nothing to do.
        ServiceStore(lease_clock.place).close()
    with lease_clock.open_database() as database, database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "karat_version"})
        described: Any = [results.METADATA, METADATA]  # Alembic takes several, its types do not.
        assert compare_metadata(context, described) == []
        stamp = connection.execute(select(results.SETTINGS.c.value).where(STAMP)).scalar_one()
    assert stamp == TABLES.revisions[-1]


def test_a_running_job_of_an_older_release_gets_a_lease(
    lease_clock: LeaseClock, open_service: OpenService, clock: Clock
) -> None:
    with open_service(clock) as service:
        made = service.collections.add("ann", "Docs", description="", source={}, index={})
        job = service.jobs.add(JobKind.INDEX, made.id, owner="ann").id
        assert service.jobs.claim("m1:17@4711")
        token = service.tokens.add("ann", "laptop", digest="d", scopes=["read"])
        with service.database.writing() as connection:
            back_to_the_second(connection)
            connection.execute(text("DELETE FROM workers"))
    with open_service(clock) as service:
        assert service.tokens.all() == (token,)
        assert service.jobs.claim("another") is None
        for _ in range(10):
            lease_clock.forward(4)
            taken = service.jobs.claim("another")
            if taken:
                break
        assert taken
        assert taken.id == job


def test_tables_of_a_newer_version(lease_clock: LeaseClock) -> None:
    with ServiceStore(lease_clock.place) as service, service.database.writing() as connection:
        connection.execute(results.SETTINGS.update().where(STAMP).values(value="9999"))
    expected = "the tables of service were written by a newer version: theirs is 9999, expected at"
    with pytest.raises(InputError, match=expected):
        ServiceStore(lease_clock.place)


def test_the_command_line_leaves_the_worker_of_a_job_alone(
    lease_clock: LeaseClock, open_service: OpenService, clock: Clock, collection: str
) -> None:
    """It knows no table of jobs, and deletes rows of dead workers only."""
    with open_service(clock) as service, open_service(clock) as other:
        service.jobs.add(JobKind.INDEX, collection, owner="ann")
        assert service.jobs.claim("a worker")
        with lease_clock.open_store() as store:
            experiment = store.experiment(PLAN)
            assert store.claim(f"{experiment}.1")
            store.release(experiment)
            store.delete(experiment)
        assert other.jobs.claim("another") is None


def test_alembic_is_not_imported_for_a_current_file(tmp_path: Path) -> None:
    code = "from karat.extensions.service.store import ServiceStore; ServiceStore('k.db').close()"
    probe = f"{code}\nimport sys\nsys.exit('alembic' in sys.modules)"
    for _ in ("made", "opened"):
        subprocess.run([sys.executable, "-c", probe], check=True, cwd=tmp_path)


def test_a_store_of_results_is_opened_by_a_service(tmp_path: Path) -> None:
    path = tmp_path / "karat.db"
    with SqlStore(path) as store:
        experiment = store.experiment(PLAN)
    with ServiceStore(path) as service:
        assert service.results.latest().id == experiment
        assert service.results.migrated is None
