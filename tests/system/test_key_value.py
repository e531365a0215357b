"""A cache file that is shared, limited in size, and replaced when it is damaged."""

import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from karat.errors import InputError
from karat.system.sqlite import DAY_S, KeyValueFile, share

VALUES = {number.to_bytes(20, "big"): bytes([number]) * 400 for number in range(20)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "cache.sqlite"


def test_values_are_there_when_the_file_is_opened_again(path: Path) -> None:
    with KeyValueFile(path, version=1) as file:
        assert file.get(list(VALUES)) == {}
        file.put(VALUES)
    with KeyValueFile(path, version=1) as file:
        assert file.get([*VALUES, b"unknown"]) == VALUES
        assert len(file) == len(VALUES)


def test_another_version_empties_the_file(path: Path) -> None:
    with KeyValueFile(path, version=1) as file:
        file.put(VALUES)
    with KeyValueFile(path, version=2) as file:
        assert len(file) == 0


def test_tables_of_an_older_release_are_dropped(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as old, old:
        old.execute("CREATE TABLE vector (key BLOB PRIMARY KEY, value BLOB)")
        old.execute("INSERT INTO vector VALUES (x'01', zeroblob(100000))")
    with KeyValueFile(path, version=1) as file:
        file.put(VALUES)
        assert file.get(list(VALUES)) == VALUES
    with closing(sqlite3.connect(path)) as now:
        tables = now.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    assert tables == [("entry",)]


def test_the_least_recently_used_entries_are_evicted(path: Path) -> None:
    now = 0.0
    with KeyValueFile(path, version=1, clock=lambda: now) as file:
        for key, value in VALUES.items():
            now += 1
            file.put({key: value * 10})
        now += DAY_S + 100
        first, *rest = VALUES
        file.get([first])
    with KeyValueFile(path, version=1, max_bytes=60_000, evicted_rows=4, clock=lambda: now) as file:
        file.put({b"new": b"x"})
        left = file.get([*VALUES, b"new"])
    assert 4 < len(left) < len(VALUES)
    assert {first, rest[-1], b"new"} <= set(left)
    assert rest[0] not in left


@pytest.mark.parametrize("content", [b"no database " * 100, b"SQLite format 3\0" + b"x" * 5000])
def test_a_file_that_is_not_a_database_is_replaced(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with KeyValueFile(path, version=1) as file:
        file.put(VALUES)
        assert file.get(list(VALUES)) == VALUES


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)


def test_a_damaged_file_is_replaced_once(path: Path) -> None:
    with KeyValueFile(path, version=1) as file:
        file.put(VALUES)
    damage(path)
    with KeyValueFile(path, version=1) as ours, KeyValueFile(path, version=1) as theirs:
        assert theirs.get(list(VALUES)) == {}
        theirs.put(VALUES)
        # This one still has the damaged file open; it must not remove the new one.
        assert ours.get(list(VALUES)) == {}
        assert ours.get(list(VALUES)) == theirs.get(list(VALUES)) == VALUES


def test_a_changed_value_is_a_cache_miss(path: Path) -> None:
    with KeyValueFile(path, version=1) as file:
        file.put(VALUES)
    changed, *others = VALUES
    with closing(sqlite3.connect(path)) as database, database:
        statement = "UPDATE entry SET value = 'text' || substr(value, 5) WHERE key = ?"
        database.execute(statement, (changed,))
    with KeyValueFile(path, version=1) as file:
        assert set(file.get(list(VALUES))) == set(others)


def test_a_path_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the chunk cache cannot be used: unable to open"):
        KeyValueFile(tmp_path, name="chunk cache", version=1)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cache cannot be used"):
        KeyValueFile(tmp_path / "file" / "below" / "cache.sqlite", version=1)


def fill(file: KeyValueFile) -> None:
    """Leave the file no room, as a full disk does."""
    file._database.execute("PRAGMA max_page_count = 1")


def test_a_full_disk_ends_storing_and_not_the_caller(path: Path) -> None:
    first, *others = VALUES
    with KeyValueFile(path, name="chunk cache", version=1) as file:
        file.put({first: VALUES[first]})
        fill(file)
        full = "the chunk cache cannot be used: database or disk is full; continuing without it"
        with pytest.warns(UserWarning, match=full):
            file.put({others[0]: bytes(1_000_000)})
        # No second warning, and what was stored is still found.
        file.put({others[0]: bytes(1_000_000)})
        assert file.get(list(VALUES)) == {first: VALUES[first]}


def test_a_cache_that_is_required_raises(path: Path) -> None:
    with KeyValueFile(path, version=1, required=True) as file:
        fill(file)
        with pytest.raises(InputError, match="disk is full"):
            file.put({b"key": bytes(1_000_000)})


def test_a_file_that_cannot_be_read_is_a_miss(path: Path) -> None:
    with KeyValueFile(path, version=1) as file:
        file.put(VALUES)
        with closing(sqlite3.connect(path)) as other:
            other.execute("ALTER TABLE entry RENAME COLUMN value TO content")
        with pytest.warns(UserWarning, match="no such column"):
            assert file.get(list(VALUES)) == {}
        assert file.get(list(VALUES)) == {}


def test_a_file_without_a_table_is_a_miss_without_a_word(path: Path) -> None:
    with KeyValueFile(path, version=1) as file:
        with closing(sqlite3.connect(path)) as other:
            other.execute("DROP TABLE entry")
        file.put(VALUES)
        assert file.get(list(VALUES)) == {}


def test_two_versions_at_once_never_share_an_entry(path: Path) -> None:
    with KeyValueFile(path, version=1) as old:
        old.put(VALUES)
        with KeyValueFile(path, version=2) as new:
            new.put({b"key": b"new"})
            assert old.get([b"key", *VALUES]) == {}
            old.put({b"key": b"old"})
            assert new.get([b"key"]) == {b"key": b"new"}


def test_the_tables_of_another_version_are_there_with_its_number(path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def look(_: str) -> None:
        with closing(sqlite3.connect(path)) as reader:
            (version,) = reader.execute("PRAGMA user_version").fetchone()
            tables = "SELECT count(*) FROM sqlite_master WHERE name = 'entry'"
            seen.append((version, *reader.execute(tables).fetchone()))

    def share_and_trace(database: sqlite3.Connection) -> None:
        share(database)
        database.set_trace_callback(look)

    KeyValueFile(path, version=1).close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("karat.system.sqlite.share", share_and_trace)
        KeyValueFile(path, version=2).close()
    assert set(seen) <= {(1, 1), (2, 1)}
    assert seen


def test_threads_share_it(path: Path) -> None:
    with KeyValueFile(path, version=1) as file:
        threads = [Thread(target=file.put, args=({key: value},)) for key, value in VALUES.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert file.get(list(VALUES)) == VALUES


def test_entries_stored_while_another_process_opens_the_file_stay(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = dict(VALUES)

    def interfere(statement: str) -> None:
        """Store entries just before the other process locks the file to empty it."""
        if statement.startswith("BEGIN") and waiting:
            values = dict(waiting)
            waiting.clear()
            with KeyValueFile(path, version=1) as other:
                other.put(values)

    def share_slowly(database: sqlite3.Connection) -> None:
        share(database)
        monkeypatch.undo()
        monkeypatch.setattr("karat.system.sqlite.in_turn", no_lock)
        database.set_trace_callback(interfere)

    from contextlib import nullcontext

    def no_lock(_: Path) -> nullcontext[None]:
        return nullcontext()

    monkeypatch.setattr("karat.system.sqlite.in_turn", no_lock)
    monkeypatch.setattr("karat.system.sqlite.share", share_slowly)
    with KeyValueFile(path, version=1) as file:
        assert file.get(list(VALUES)) == VALUES


def test_a_damaged_file_can_be_kept(path: Path) -> None:
    for number in range(2):
        with KeyValueFile(path, version=1, keeps_damaged=True) as file:
            file.put(VALUES)
        damaged = bytearray(path.read_bytes())
        damaged[:16] = bytes(16)
        path.write_bytes(damaged)
        renamed = path.with_name(f"cache.sqlite.damaged{number or ''}")
        with (
            pytest.warns(UserWarning, match=rf"is damaged .* renamed to .*{renamed.name};"),
            KeyValueFile(path, name="answers", version=1, keeps_damaged=True) as file,
        ):
            assert len(file) == 0
        assert renamed.read_bytes() == damaged
