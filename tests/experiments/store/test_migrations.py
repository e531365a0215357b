"""The files of Alembic and the description of the tables agree, on both databases."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, inspect, text

from karat.errors import InputError
from karat.experiments.store import RunStatus, SqlStore, StoredQueryResult, migrations
from karat.experiments.store.database import Database
from karat.experiments.store.schema import METADATA, VERSION
from karat.testing.store import ANSWERS, PLAN, outlive
from tests.lease_clock import LeaseClock

# What is made and what must not be there, of the revision that files without Alembic have.
FIRST = {"answers", "datasets", "experiments", "runs", "scores"}


@pytest.fixture
def opened(place: str) -> Iterator[Database]:
    opened = Database(place)
    yield opened
    opened.close()


def forget(connection: Connection) -> None:
    """Leave the database as empty as it was."""
    METADATA.drop_all(connection)


def back_to_the_first(connection: Connection) -> None:
    """Make the database what Karat wrote before it used Alembic."""
    later = [table for table in METADATA.sorted_tables if table.name not in FIRST]
    METADATA.drop_all(connection, tables=later)
    connection.execute(text("ALTER TABLE runs DROP COLUMN scored"))
    connection.execute(text("ALTER TABLE runs DROP COLUMN content"))
    connection.execute(text("ALTER TABLE runs DROP COLUMN pinned"))
    connection.execute(text("CREATE TABLE karat_schema (version INTEGER PRIMARY KEY)"))
    connection.execute(text("INSERT INTO karat_schema VALUES (1)"))


def back_to_the_second(connection: Connection) -> None:
    """Make the database what Karat wrote before the tables of a service changed."""
    back_to_the_third(connection)
    connection.execute(text("UPDATE karat_version SET version_num = '0002'"))


def back_to_the_third(connection: Connection) -> None:
    """Make the database what Karat wrote before a run had its scores ahead of its latency."""
    back_to_the_fourth(connection)
    connection.execute(text("ALTER TABLE runs DROP COLUMN scored"))
    connection.execute(text("UPDATE karat_version SET version_num = '0003'"))


def back_to_the_fourth(connection: Connection) -> None:
    """Make the database what Karat wrote before workers sent heartbeats."""
    back_to_the_fifth(connection)
    connection.execute(text("DROP TABLE workers"))
    connection.execute(text("UPDATE karat_version SET version_num = '0004'"))


def back_to_the_fifth(connection: Connection) -> None:
    """Make the database what Karat wrote before a service could share what it holds."""
    back_to_the_sixth(connection)
    connection.execute(text("DROP TABLE settings"))
    connection.execute(text("UPDATE karat_version SET version_num = '0005'"))


def back_to_the_sixth(connection: Connection) -> None:
    """Make the database what Karat wrote before it stored the files of engines."""
    back_to_the_seventh(connection)
    connection.execute(text("ALTER TABLE runs DROP COLUMN content"))
    connection.execute(text("UPDATE karat_version SET version_num = '0006'"))


def back_to_the_seventh(connection: Connection) -> None:
    """Make the database what Karat wrote before runs could be pinned."""
    connection.execute(text("ALTER TABLE runs DROP COLUMN pinned"))
    connection.execute(text("UPDATE karat_version SET version_num = '0007'"))


def drift(connection: Connection) -> list[object]:
    """Return what Alembic would change to get to the tables as they are described."""
    options = {"compare_server_default": True, "version_table": VERSION.name}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), METADATA))


def test_revisions_are_listed() -> None:
    found = [revision.revision for revision in migrations.script().walk_revisions()]
    assert found[::-1] == list(migrations.REVISIONS)
    assert VERSION.c.keys() == ["version_num"]


def test_a_new_database_has_the_newest_tables(opened: Database) -> None:
    with opened.reading() as connection:
        assert migrations.is_current(connection, "x")
        assert drift(connection) == []


@pytest.mark.parametrize(
    "before",
    [
        *(forget, back_to_the_first, back_to_the_second, back_to_the_third),
        *(back_to_the_fourth, back_to_the_fifth, back_to_the_sixth),
        back_to_the_seventh,
    ],
)
def test_migrations_make_the_same_tables(
    before: Callable[[Connection], None], opened: Database
) -> None:
    with opened.writing() as connection:
        before(connection)
        if before is forget:
            migrations.migrate(connection)
        else:
            migrations.upgrade(connection, "x")
    with opened.reading() as connection:
        assert migrations.is_current(connection, "x")
        assert drift(connection) == []
        assert set(inspect(connection).get_table_names()) == METADATA.tables.keys()


def test_an_older_database_keeps_what_it_has(place: str) -> None:
    with SqlStore(place) as store:
        run = f"{store.experiment(PLAN)}.1"
        store.add_many(StoredQueryResult(run, *kept) for kept in ANSWERS)
        before = store.measured(run)
    opened = Database(place)
    with opened.writing() as connection:
        back_to_the_first(connection)
    opened.close()
    with SqlStore(place) as store:
        assert repr(store.measured(run)) == repr(before)
        assert store.migrated == (migrations.REVISIONS[0], migrations.REVISIONS[-1])
    with SqlStore(place) as store:
        assert store.migrated is None


def test_a_run_that_was_completed_has_its_scores(place: str) -> None:
    with SqlStore(place) as store:
        experiment = store.experiment(PLAN)
        store.finish(f"{experiment}.1", RunStatus.COMPLETED)
        ended = store.show(experiment).runs[0].ended
    opened = Database(place)
    with opened.writing() as connection:
        back_to_the_third(connection)
    opened.close()
    with SqlStore(place) as store:
        first, second = store.show(experiment).runs
    assert (first.scored, second.scored) == (ended, None)


def test_whoever_works_gets_a_lease(lease_clock: LeaseClock) -> None:
    """Workers of earlier releases send no heartbeat: they are watched, then they are dead."""
    store = lease_clock.open_store("m1:17@4711")
    experiment = store.experiment(PLAN)
    assert store.claim(f"{experiment}.1")
    store.finish(f"{experiment}.1", RunStatus.FAILED)
    assert store.claim(f"{experiment}.2")
    with lease_clock.open_database() as opened, opened.writing() as connection:
        back_to_the_fourth(connection)
    with lease_clock.open_store() as observer:
        (holder,) = observer.holders(experiment)
        assert (holder.label, holder.alive) == ("host m1, process 17", None)
        assert not observer.claim(f"{experiment}.2")
        outlive(observer, experiment, lease_clock.forward)
        assert observer.claim(f"{experiment}.2")
    store.close()


def test_a_step_that_breaks_changes_nothing(
    place: str, opened: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(connection: Connection) -> None:
        connection.execute(text("DROP TABLE scores"))
        raise RuntimeError("half way")

    with opened.writing() as connection:
        back_to_the_first(connection)
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "migrate", fail)
        with pytest.raises(RuntimeError, match="half way"):
            Database(place)
    with opened.reading() as connection:
        assert set(inspect(connection).get_table_names()) == FIRST | {"karat_schema"}
    Database(place).close()


def test_a_database_of_a_newer_karat(place: str, opened: Database) -> None:
    with opened.writing() as connection:
        connection.execute(VERSION.update().values(version_num="9999"))
    with pytest.raises(InputError, match="a newer Karat: its schema version is 9999, expected at "):
        Database(place)


def test_alembic_is_not_imported_for_a_current_file(tmp_path: Path) -> None:
    code = "import sys; from karat.experiments.store import SqlStore; SqlStore('karat.db').close()"
    probe = f"{code}\nsys.exit('alembic' in sys.modules)"
    for _ in ("made", "opened"):
        subprocess.run([sys.executable, "-c", probe], check=True, cwd=tmp_path)
