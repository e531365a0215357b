"""Files that are no store, disks that are full, folders that are shut."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import Engine, event

from karat.errors import InputError, KaratError
from karat.experiments.store import SqlStore, StoredQueryResult
from karat.experiments.store import database as database_module
from karat.model import Answer, Hit
from karat.testing.store import ANSWERS, PLAN

NOBODY = 65_534


def value_of(path: Path, statement: str) -> object:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchone()[0]


def test_the_file(tmp_path: Path) -> None:
    path = tmp_path / "karat.db"
    with SqlStore(path) as store:
        store.experiment(PLAN)
        assert (tmp_path / "karat.db-wal").exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["karat.db"]
    assert value_of(path, "PRAGMA journal_mode") == "wal"
    assert value_of(path, "PRAGMA page_size") == 8192
    assert value_of(path, "PRAGMA integrity_check") == "ok"
    with SqlStore(f"sqlite:///{path}") as store:
        assert store.latest().name == "nightly"


def test_only_its_owner_may_read_it(tmp_path: Path, open_handed: None) -> None:
    folder = tmp_path / "new"
    with SqlStore(folder / "karat.db") as store:
        store.experiment(PLAN)
        modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in folder.iterdir()}
    assert modes == dict.fromkeys(["karat.db", "karat.db-wal", "karat.db-shm"], 0o600)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    # What is there already is as its owner wants it.
    (folder / "karat.db").chmod(0o640)
    SqlStore(folder / "karat.db").close()
    assert stat.S_IMODE((folder / "karat.db").stat().st_mode) == 0o640


def test_one_statement_needs_no_transaction(tmp_path: Path) -> None:
    database = database_module.Database(tmp_path / "karat.db")
    try:
        for ways, is_open in ((database.asking, False), (database.reading, True)):
            with ways() as connection:
                assert connection.exec_driver_sql("SELECT 1").scalar() == 1
                driver = connection.connection.driver_connection
                assert isinstance(driver, sqlite3.Connection)
                assert driver.in_transaction is is_open
    finally:
        database.close()


def test_several_may_make_one_file_at_once(tmp_path: Path) -> None:
    def open_and_write(number: int) -> bool:
        with SqlStore(tmp_path / "karat.db") as store:
            return store.add(f"{store.experiment(PLAN)}.1", *ANSWERS[number % 5])

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(open_and_write, range(20))) == 5


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    text = '{"test_cases": []}' * 1_000
    path.write_text(text)
    with pytest.raises(InputError, match=r"gold.json is not a Karat database; give one"):
        SqlStore(path)
    assert path.read_text() == text


def test_a_database_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(
        InputError, match="is the database of another program, with a table 'custom"
    ):
        SqlStore(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("place", [".", "file.txt/karat.db"])
def test_places_that_hold_no_file(place: str, tmp_path: Path) -> None:
    (tmp_path / "file.txt").touch()
    with pytest.raises(InputError, match=r"cannot create the folder of the store|cannot be opened"):
        SqlStore(tmp_path / place)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Give up the rights of root, whom no folder is shut to."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def shut_folder() -> Iterator[Path]:
    """Return a folder with a store that this user may read and not write."""
    # The folders of pytest cannot even be read by another user.
    with TemporaryDirectory(prefix="karat-shut-") as name:
        folder = Path(name)
        with SqlStore(folder / "karat.db") as store:
            store.experiment(PLAN)
        (folder / "karat.db").chmod(0o444)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


def test_a_folder_that_is_shut(shut_folder: Path) -> None:
    with as_nobody():
        with pytest.raises(InputError, match=r"cannot be opened; .*--store FILE"):
            SqlStore(shut_folder / "new.db")
        with pytest.raises(
            InputError, match=r"cannot create the folder of the store: .*denied.*--store FILE"
        ):
            SqlStore(shut_folder / "new" / "karat.db")
        with pytest.raises(InputError, match=r"karat.db (cannot be opened|is read-only).*--store"):
            SqlStore(shut_folder / "karat.db")


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    def limit(connection: sqlite3.Connection, _entry: object) -> None:
        connection.execute("PRAGMA max_page_count = 100")

    noise = tuple(Hit(os.urandom(50).hex()) for _ in range(100))
    answers = [Answer(f"q{number}", noise) for number in range(1_000)]
    with SqlStore(tmp_path / "karat.db") as store:
        run = f"{store.experiment(PLAN)}.1"
    event.listen(Engine, "connect", limit)
    try:
        with SqlStore(tmp_path / "karat.db") as store:
            kept: list[bool] = []
            with pytest.raises(KaratError, match="the disk is full; all earlier results are"):
                kept.extend(store.add(run, answer) for answer in answers)
            assert store.answered(run) == {answer.query_id for answer in answers[: len(kept)]}
    finally:
        event.remove(Engine, "connect", limit)
    assert kept
    with SqlStore(tmp_path / "karat.db") as store:
        assert store.add(run, answers[len(kept)])
        assert len(store.measured(run).run) == len(kept) + 1
    assert value_of(tmp_path / "karat.db", "PRAGMA integrity_check") == "ok"


def test_a_writer_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "WAIT_S", 0.01)
    path = tmp_path / "karat.db"
    with SqlStore(path) as store, closing(sqlite3.connect(path, isolation_level=None)) as other:
        run = f"{store.experiment(PLAN)}.1"
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(KaratError, match="is in use: another process has been writing"):
            store.add(run, *ANSWERS[0])
        # Who only reads does not wait.
        assert store.answered(run) == frozenset()
        other.execute("ROLLBACK")
        assert store.add(run, *ANSWERS[0])


def test_a_file_that_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "karat.db"
    with SqlStore(path) as store:
        run = f"{store.experiment(PLAN)}.1"
        store.add_many(StoredQueryResult(run, *kept) for kept in ANSWERS)
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(KaratError, match="is damaged; another program may have changed it"):
        SqlStore(path).measured(run)
