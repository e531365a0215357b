import errno
import sqlite3
from pathlib import Path

import pytest

from karat.errors import InputError, StorageFull
from karat.system.files import free_bytes, is_disk_full


class DiskFull(Exception):
    """An error as psycopg raises it."""

    sqlstate = "53100"


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    """Return *error* as it is caught."""
    try:
        raise error from cause
    except type(error) as caught:
        return caught


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        DiskFull(),
        StorageFull("karat.db cannot grow"),
        raised(InputError("a.txt: cannot be written"), OSError(errno.ENOSPC, "No space")),
    ],
)
def test_full(error: Exception) -> None:
    assert is_disk_full(error)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EACCES, "Permission denied"),
        raised(InputError("a.txt: cannot be written"), OSError(errno.EROFS, "Read-only")),
        sqlite3.OperationalError("no such table"),
    ],
)
def test_not_full(error: Exception) -> None:
    assert not is_disk_full(error)


def test_a_database_that_may_not_grow(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    database.execute("CREATE TABLE t (x)")
    database.execute("PRAGMA max_page_count = 2")
    with pytest.raises(sqlite3.OperationalError) as caught:
        database.execute("INSERT INTO t VALUES (zeroblob(100000))")
    database.close()
    assert is_disk_full(caught.value)


def test_a_circle_of_errors_ends() -> None:
    one, two = ValueError("one"), ValueError("two")
    one.__context__, two.__context__ = two, one
    assert not is_disk_full(one)


def test_free_space_of_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    assert free_bytes(tmp_path / "a" / "b") > 0
