"""SQLite files that several processes share, and key-value caches of limited size in them."""

import os
import re
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Self
from zlib import crc32

from karat.errors import InputError
from karat.system.locks import in_turn

WAIT_S = 30.0
_PAUSE_S = 0.01
KEYS_PER_QUERY = 500
EVICTED_ROWS = 5_000
# Writing every use would turn each lookup into a write; a day is exact enough for eviction.
DAY_S = 86_400

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS entry "
    "(key BLOB PRIMARY KEY, used INTEGER NOT NULL, value BLOB NOT NULL)",
    "CREATE INDEX IF NOT EXISTS entry_used ON entry (used)",
)
CACHE_SIZE_VARIABLE = "KARAT_CACHE_SIZE"
RUN_STARTED_VARIABLE = "KARAT_RUN_STARTED"
DEFAULT_CACHE_BYTES = 2 * 1024**3
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", re.IGNORECASE)
# When this process started, as far as caches are concerned.
_STARTED = time.time()


def share(database: sqlite3.Connection, *, wait_s: float = WAIT_S) -> None:
    """Switch to write-ahead logging: readers and the writer do not wait for each other.

    A power cut may lose the last transactions, never the file. While another process switches the
    same file, this waits up to *wait_s*; SQLite itself would fail at once.
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
    """Run the block as one write transaction: committed as a whole, or rolled back."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        # On a full disk SQLite has rolled it back already.
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


class KeyValueFile:
    """A cache of bytes by key in one SQLite file, which threads and processes may share.

    All values of one key must be equal, so that it does not matter which process writes last. A
    value is stored behind its checksum; a value that does not match it is a cache miss. A file that
    is damaged, or is not a database, is replaced by an empty one; with *keeps_damaged* it is
    renamed before, with a warning. Above *max_bytes* the entries that were used least recently are
    evicted, but none that was used since the time *needed_since*: rather than that, the file grows.
    A file of another *version* (from 1, 31 bits) is emptied, tables of older releases included; a
    process that still has it open stores nothing more and finds nothing.

    A file that cannot be opened raises InputError. Later trouble, such as a full disk, is only a
    warning: nothing more is stored, and what cannot be read is a cache miss. With *required* it is
    an InputError too.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        name: str = "cache",
        version: int,
        max_bytes: int | None = None,
        evicted_rows: int = EVICTED_ROWS,
        needed_since: float = inf,
        keeps_damaged: bool = False,
        required: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open or create the file; *name* is for errors, *clock* returns seconds."""
        self._path = Path(path)
        self._name = name
        self._version = version
        self._max_bytes = max_bytes
        self._evicted_rows = evicted_rows
        self._needed_since = needed_since
        self._keeps_damaged = keeps_damaged
        self._required = required
        self._reads = self._writes = True
        self._clock = clock
        self._lock = Lock()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with in_turn(self._path.parent):
                self._open()
        except OSError as error:
            raise self._unusable(error) from error
        except sqlite3.Error as error:
            self._replace(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __len__(self) -> int:
        entries = 0
        with self._lock, self._recovering():
            (entries,) = self._database.execute("SELECT count(*) FROM entry").fetchone()
        return int(entries)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those *keys* that are in the cache."""
        hits: dict[bytes, bytes] = {}
        old: list[bytes] = []
        now = int(self._clock())
        if not self._reads:
            return hits
        with self._lock, self._recovering():
            for start in range(0, len(keys), KEYS_PER_QUERY):
                some = keys[start : start + KEYS_PER_QUERY]
                marks = ",".join("?" * len(some))
                # One statement, so that the entries are those of this version.
                rows = self._database.execute(
                    f"SELECT key, used, value FROM entry WHERE key IN ({marks}) "  # noqa: S608
                    f"AND (SELECT user_version FROM pragma_user_version) = {self._version}",
                    some,
                )
                for key, used, value in rows:
                    if crc32(value[4:]) == int.from_bytes(value[:4]):
                        hits[key] = value[4:]
                        if now - used > DAY_S or used < self._needed_since <= now:
                            old.append(key)
        if old and self._writes:
            uses = ((now, key) for key in old)
            with self._lock, self._recovering(writes=True):
                self._write("UPDATE entry SET used = ? WHERE key = ?", uses)
        return hits

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Store *values* in one transaction."""
        if not self._writes:
            return
        now = int(self._clock())
        rows = (
            (key, now, crc32(value).to_bytes(4) + bytes(value)) for key, value in values.items()
        )
        with self._lock, self._recovering(writes=True):
            self._write("INSERT OR REPLACE INTO entry VALUES (?, ?, ?)", rows)
            self._evict()

    def _write(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        with writing(self._database):
            if self._pragma("user_version") == self._version:
                self._database.executemany(statement, rows)

    def _evict(self) -> None:
        while self._max_bytes is not None and self._used_bytes() > self._max_bytes:
            deleted = self._database.execute(
                "DELETE FROM entry WHERE key IN "
                "(SELECT key FROM entry WHERE used < ? ORDER BY used LIMIT ?)",
                (self._needed_since, self._evicted_rows),
            )
            if not deleted.rowcount:
                break

    def _used_bytes(self) -> int:
        """Return the size without free pages, which SQLite uses again."""
        size, pages, free = (self._pragma(n) for n in ("page_size", "page_count", "freelist_count"))
        return size * (pages - free)

    def _tables(self) -> list[str]:
        rows = self._database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return [name.decode() for (name,) in rows.fetchall()]

    def _pragma(self, name: str) -> int:
        return int(self._database.execute(f"PRAGMA {name}").fetchone()[0])

    def _open(self) -> None:
        try:
            self._database = sqlite3.connect(
                self._path, timeout=WAIT_S, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        self._inode = _inode(self._path)
        # A damaged value may have the type of a text.
        self._database.text_factory = bytes
        share(self._database)
        if self._pragma("user_version") != self._version:
            with writing(self._database):
                # Another process may have emptied the file, and stored entries, meanwhile.
                if self._pragma("user_version") != self._version:
                    for table in self._tables():
                        self._database.execute(f'DROP TABLE "{table}"')
                    # In the same transaction, so that no process finds the file without tables.
                    for statement in _SCHEMA:
                        self._database.execute(statement)
                    self._database.execute(f"PRAGMA user_version = {self._version}")

    @contextmanager
    def _recovering(self, *, writes: bool = False) -> Iterator[None]:
        """Replace a damaged file, or go on without it; the block ends as after a cache miss.

        With *writes* only writing has failed: the file is still read.
        """
        try:
            yield
        except sqlite3.Error as error:
            if not self._required and isinstance(error, sqlite3.OperationalError):
                self._go_on_without(error, reads=writes)
            else:
                self._replace(error)

    def _go_on_without(self, error: sqlite3.Error, *, reads: bool) -> None:
        # A process of an older release drops the tables before it makes its own.
        if "no such table" in str(error):
            return
        self._reads, self._writes = reads, False
        warn_of_cache(self._unusable(error))

    def _replace(self, error: sqlite3.Error) -> None:
        """Start with an empty file where *error* says that this one is damaged, or raise it."""
        # Subclasses stand for a lock, a full disk and the like, which a new file does not repair.
        if type(error) is not sqlite3.DatabaseError:
            self._database.close()
            raise self._unusable(error) from error
        # Locked, so that no process opens a file of which only a part has been removed.
        with in_turn(self._path.parent):
            # Another process may have replaced it meanwhile; an open file keeps its inode.
            is_here = _inode(self._path) == self._inode
            self._database.close()
            if is_here:
                if self._keeps_damaged:
                    self._set_aside(error)
                for ending in ("", "-wal", "-shm"):
                    Path(f"{self._path}{ending}").unlink(missing_ok=True)
            try:
                self._open()
            except sqlite3.Error as second:
                self._database.close()
                raise self._unusable(second) from second

    def _set_aside(self, error: sqlite3.Error) -> None:
        names = (f"{self._path}.damaged{number or ''}" for number in count())
        renamed = next(name for name in names if not Path(name).exists())
        for ending in ("", "-wal"):
            with suppress(FileNotFoundError):
                Path(f"{self._path}{ending}").rename(f"{renamed}{ending}")
        warnings.warn(
            f"{self._path}: the {self._name} is damaged ({error}) and was renamed to {renamed}; "
            f"a new one was started. Try: sqlite3 {renamed} .recover",
            UserWarning,
            stacklevel=2,
        )

    def _unusable(self, error: Exception) -> InputError:
        return InputError(f"{self._path}: the {self._name} cannot be used: {error}")


def warn_of_cache(problem: Exception) -> None:
    """Warn that a cache is not used because of *problem*; a command never ends for that."""
    warnings.warn(f"{problem}; continuing without it", UserWarning, stacklevel=2)


def _inode(path: Path) -> int:
    """Return the inode of a file, 0 where it does not exist."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def cache_size(environment: Mapping[str, str] = os.environ) -> int:
    """Return the most bytes that vectors may take, and indexes: KARAT_CACHE_SIZE, else 2 GiB.

    >>> cache_size({"KARAT_CACHE_SIZE": "10GB"}), cache_size({"KARAT_CACHE_SIZE": "500 MB"})
    (10000000000, 500000000)
    """
    text = environment.get(CACHE_SIZE_VARIABLE, "").strip()
    if not text:
        return DEFAULT_CACHE_BYTES
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise InputError(
            f"{CACHE_SIZE_VARIABLE} is {text!r}; expected a number of bytes, such as 500MB or 10GB"
        )
    return int(float(match[1]) * UNITS[match[2].upper()])


def run_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment variable with the start time of the run, for worker processes.

    >>> run_environment({"KARAT_RUN_STARTED": "1700000000"})
    {'KARAT_RUN_STARTED': '1700000000'}
    """
    return {RUN_STARTED_VARIABLE: environment.get(RUN_STARTED_VARIABLE) or str(int(_STARTED))}


def needed_since() -> float:
    """Return the start of the run; a service runs for months, so at most a day ago."""
    started = run_environment()[RUN_STARTED_VARIABLE]
    return max(float(started) if started.isdigit() else _STARTED, time.time() - DAY_S)
