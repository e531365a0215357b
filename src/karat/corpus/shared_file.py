"""A SQLite file that several processes read and write at once."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

__all__ = ["WAIT_S", "in_turn", "share", "writing"]

WAIT_S = 30.0
_PAUSE_S = 0.01


def share(database: sqlite3.Connection, *, wait_s: float = WAIT_S) -> None:
    """Let readers and a writer of the file not block each other (WAL).

    A power cut may lose what was written last, never the file. For as long as another process
    does the same, as when both have just made the file, this waits; SQLite itself would not.
    """
    deadline = monotonic() + wait_s
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # The lower byte is the kind of error, the rest a detail of it.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                raise
            sleep(_PAUSE_S)
        else:
            break
    database.execute("PRAGMA synchronous = NORMAL")


@contextmanager
def writing(database: sqlite3.Connection) -> Iterator[None]:
    """Run the block in one write transaction, which is rolled back on an error."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        # On a full disk SQLite has taken it back by itself.
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Hold a lock on *folder* during the block, among all threads and processes.

    Without support for such locks, the call does not wait.
    """
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
