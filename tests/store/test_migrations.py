from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from karat.store import SqlStore, migrations
from karat.store.database import Database
from karat.testing.recorder import ANSWERS, PLAN


def add_colour(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE runs ADD COLUMN colour TEXT DEFAULT 'red'"))


def paint(connection: Connection) -> None:
    connection.execute(text("UPDATE runs SET colour = 'blue'"))


def fail(connection: Connection) -> None:
    paint(connection)
    raise RuntimeError("half way")


def version_and_colours(path: Path) -> tuple[int, set[str]]:
    database = Database(path)
    with database.reading() as connection:
        version = connection.execute(text("SELECT version FROM karat_schema")).scalar_one()
        colours = set(connection.execute(text("SELECT colour FROM runs")).scalars())
    database.close()
    return version, colours


def test_an_older_file_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "karat.db"
    with SqlStore(path) as store:
        run = f"{store.experiment(PLAN)}.1"
        store.add_many(run, ANSWERS)
    monkeypatch.setattr(migrations, "STEPS", (add_colour,))
    assert version_and_colours(path) == (2, {"red"})
    # From 2 to 3 only the second step is done.
    monkeypatch.setattr(migrations, "STEPS", (add_colour, paint))
    assert version_and_colours(path) == (3, {"blue"})
    assert version_and_colours(path) == (3, {"blue"})
    with SqlStore(path) as store:
        assert store.show(run.partition(".")[0]).runs[0].answers == len(ANSWERS)


def test_a_step_that_breaks_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "karat.db"
    with SqlStore(path) as store:
        store.experiment(PLAN)
    monkeypatch.setattr(migrations, "STEPS", (add_colour, fail))
    with pytest.raises(RuntimeError, match="half way"):
        Database(path)
    monkeypatch.setattr(migrations, "STEPS", (add_colour,))
    assert version_and_colours(path) == (2, {"red"})


def test_a_new_file_has_the_newest_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "STEPS", (fail,))
    database = Database(tmp_path / "karat.db")
    with database.reading() as connection:
        assert connection.execute(text("SELECT version FROM karat_schema")).scalar_one() == 2
    database.close()
