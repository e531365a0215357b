"""Two processes that open one new file."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from karat.system.sqlite import share, writing


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "file", timeout=0, isolation_level=None)) as opened:
        yield opened


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "file", isolation_level=None)) as opened:
        opened.execute("BEGIN EXCLUSIVE")
        yield opened


def mode(database: sqlite3.Connection) -> str:
    return str(database.execute("PRAGMA journal_mode").fetchone()[0])


def test_it_waits_for_the_other(
    ours: sqlite3.Connection, theirs: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    def third_pause_ends_it(pause_s: float) -> None:
        pauses.append(pause_s)
        if len(pauses) == 3:
            theirs.execute("COMMIT")

    monkeypatch.setattr("karat.system.sqlite.sleep", third_pause_ends_it)
    share(ours)
    assert len(pauses) == 3
    assert mode(ours) == "wal"


def test_it_waits_no_longer_than_it_is_told(
    ours: sqlite3.Connection, theirs: sqlite3.Connection
) -> None:
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        share(ours, wait_s=-1)
    theirs.execute("COMMIT")
    assert mode(ours) == "delete"


def test_what_is_interrupted_is_taken_back(ours: sqlite3.Connection) -> None:
    ours.execute("CREATE TABLE kept (value)")

    def interrupted() -> Iterator[tuple[int]]:
        yield (1,)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), writing(ours):
        ours.executemany("INSERT INTO kept VALUES (?)", interrupted())
    with writing(ours):
        ours.execute("INSERT INTO kept VALUES (2)")
    assert ours.execute("SELECT value FROM kept").fetchall() == [(2,)]


def test_a_full_disk_is_told(ours: sqlite3.Connection) -> None:
    ours.execute("CREATE TABLE kept (value)")
    ours.execute("PRAGMA max_page_count = 20")
    with pytest.raises(sqlite3.OperationalError, match="full"), writing(ours):
        ours.execute("INSERT INTO kept VALUES (zeroblob(1000000))")
    assert not ours.in_transaction


def test_a_file_that_is_none_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"no database" * 100)
    with (
        closing(sqlite3.connect(tmp_path / "file")) as opened,
        pytest.raises(sqlite3.DatabaseError, match="not a database"),
    ):
        share(opened)
