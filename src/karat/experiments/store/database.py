"""The database of a store, SQLite or PostgreSQL, with readable errors."""

import json
import os
import platform
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from logging import ERROR, WARNING, Logger
from pathlib import Path
from threading import Lock

from sqlalchemy import (
    URL,
    Connection,
    Dialect,
    Engine,
    Table,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    OperationalError,
    SQLAlchemyError,
    StatementError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import ConnectionPoolEntry

from karat.errors import InputError, KaratError, MissingExtra, StorageFull, StoreUnavailable
from karat.experiments.store.migrations import TableSet, add, is_added, is_current, upgrade
from karat.installation import package_requirements
from karat.system.files import is_disk_full
from karat.system.sqlite import share

WAIT_S = 30.0
POSTGRES = "postgresql+psycopg"

AWAY = "the database does not answer; try again in a moment"
# Error codes of PostgreSQL: connection lost, server shutting down or starting, no connection left.
AWAY_CODES = ("08", "57P", "53300")
FULL = "cannot grow, the disk is full; all earlier results are safe"
ELSEWHERE = "choose another file with --store FILE"
# Error codes of SQLite as sentences about the file: errors of the user, and others.
REFUSED: dict[int, str] = {
    sqlite3.SQLITE_NOTADB: "is not a Karat database; give one, or a new file name",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; expected a file in a writable folder; " + ELSEWHERE,
    sqlite3.SQLITE_READONLY: "is read-only, and SQLite must write even to read; " + ELSEWHERE,
}
BROKEN: dict[int, str] = {
    sqlite3.SQLITE_BUSY: f"is in use: another process has been writing for {WAIT_S:g} s",
    sqlite3.SQLITE_CORRUPT: "is damaged; another program may have changed it",
}


class Database:
    """A database with the tables of a store.

    *address* is a file, or an address such as ``postgresql://user@host/database``. The tables are
    made, or brought up to date, when it is opened. Threads may share it, and processes may open
    the same place.
    """

    def __init__(self, address: str | os.PathLike[str], *, tables: Iterable[TableSet] = ()) -> None:
        """Open the database; *tables* are those of extensions that are used."""
        url = _url(os.fspath(address))
        self.is_sqlite = url.get_backend_name() == "sqlite"
        # A query part may hold a password, and the rest is shown without one.
        self.name = str(url.database) if self.is_sqlite else str(url.set(query={}))
        self._engine = self._opened(url)
        # SQLite always reads one state; PostgreSQL does at this isolation level.
        level = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        self._reading = self._engine.execution_options(**level)
        self._writing = self._engine.execution_options(begin="BEGIN IMMEDIATE")
        self._single = self._engine.execution_options(begin="")
        self._held: Connection | None = None
        self._lock = Lock()
        self._closed = False
        self._opening = True
        # The versions before and after, where opening has migrated the tables.
        self.migrated: tuple[str, str] | None = None
        try:
            self._prepare()
            self.add_tables(tables)
        except BaseException:
            self.close()
            raise
        self._opening = False

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection that sees one state of the database."""
        with self._explained(), self._reading.connect() as connection:
            yield connection

    @contextmanager
    def asking(self) -> Iterator[Connection]:
        """Yield a connection for one reading statement, which sees one state by itself.

        On SQLite this saves two of three calls, after each of which a thread waits for a lock.
        """
        with self._explained(), self._single.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a connection whose statements are committed together if all of them succeed."""
        with self._explained(), self._writing.begin() as connection:
            yield connection

    @contextmanager
    def driver(self) -> Iterator[sqlite3.Connection]:
        """Yield SQLite's own connection, on which every statement is a transaction by itself.

        It stays open: taking one from the pool and giving it back costs more than a statement.
        """
        with self._lock, self._explained():
            held = self._held = self._held or self._single.connect()
            yield held.connection.driver_connection  # type: ignore[misc]

    @property
    def dialect(self) -> Dialect:
        """Return the SQL dialect."""
        return self._engine.dialect

    def insert(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        """Return an insert that supports ``on_conflict``, in either dialect."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    def add_tables(self, sets: Iterable[TableSet]) -> None:
        """Make the tables of extensions, or bring them up to date."""
        with self.reading() as connection:
            missing = [each for each in sets if not is_added(connection, each, self.name)]
        if missing:
            with self.writing() as connection:
                for each in missing:
                    add(connection, each, self.name)

    def close(self) -> None:
        """Close every connection."""
        if self._held is not None:
            self._held.close()
            self._held = None
        self._engine.dispose()
        self._closed = True

    def _opened(self, url: URL) -> Engine:
        if self.is_sqlite:
            _make_private(Path(self.name))
        try:
            engine = create_engine(
                url,
                json_serializer=_json,
                # A server may have been restarted since a connection was last used.
                pool_pre_ping=not self.is_sqlite,
                connect_args={"timeout": WAIT_S} if self.is_sqlite else {},
                # The row count of an insert says whether it was the first.
                execution_options={"preserve_rowcount": True},
            )
        except ModuleNotFoundError as error:
            raise MissingExtra(
                "psycopg", extra="postgres", purpose="a store in PostgreSQL"
            ) from error
        if self.is_sqlite:
            event.listen(engine, "connect", _on_connect)
            event.listen(engine, "begin", _on_begin)
        return engine

    def _prepare(self) -> None:
        with self.reading() as connection:
            if is_current(connection, self.name):
                return
        if self.is_sqlite:
            # Both settings are stored in the file. A page holds several answers of a hundred hits,
            # which saves a third of the room; and readers do not wait for a writer, nor it for
            # them.
            with self.driver() as driver:
                driver.execute("PRAGMA page_size = 8192")
                share(driver, wait_s=WAIT_S)
        with self.writing() as connection:
            self.migrated = upgrade(connection, self.name)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn an exception of a driver into an error of Karat."""
        if self._closed:
            raise KaratError(f"{self.name} was closed")
        try:
            yield
        except StatementError as error:
            if not self.is_sqlite and _is_away(error):
                raise self._away(error.orig or error) from error
            raise self._reason(error.orig or error) from error
        except PoolTimeout as error:  # All connections of the pool wait for the server.
            raise self._away(error) from error
        except (sqlite3.Error, SQLAlchemyError) as error:
            raise self._reason(error) from error

    def _away(self, error: BaseException) -> KaratError:
        # Whoever opens the database needs the reason. Later the readers of a service see the text.
        if self._opening:
            return StoreUnavailable(f"{self.name}: the database does not answer: {error}")
        return StoreUnavailable(AWAY)

    def _reason(self, error: BaseException) -> KaratError:
        if isinstance(error, KaratError):
            return error
        if is_disk_full(error):
            return StorageFull(f"{self.name} {FULL}")
        # The lower byte is the kind of error, the rest a detail of it.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in REFUSED:
            return InputError(f"{self.name} {REFUSED[code]}")
        if code in BROKEN:
            return KaratError(f"{self.name} {BROKEN[code]}")
        # SQLite has twenty causes of "disk I/O error"; only this code names the cause.
        detail = getattr(error, "sqlite_errorname", "")
        where = f"{self.name}: " if self.is_sqlite or self._opening else ""
        return KaratError(f"{where}the database failed: {error}{detail and f' ({detail})'}")


def log_retry(logger: Logger, message: str, error: Exception, **about: object) -> None:
    """Log that *message* is tried again after *error*, which belongs to an ``except`` block.

    A database that is away gets one line with neither its text nor a traceback, which would name
    its host and user.
    """
    is_away = isinstance(error, StoreUnavailable)
    told = f"{message}; retrying" + (f": {AWAY}" if is_away else "")
    logger.log(WARNING if is_away else ERROR, told, exc_info=not is_away, extra=about)


def _is_away(error: StatementError) -> bool:
    """Return whether *error* means that PostgreSQL has ended the connection or accepts none."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    code = getattr(error.orig, "sqlstate", None)
    # The driver gives no code to a connection that could not be made.
    return isinstance(error, OperationalError) and (code is None or code.startswith(AWAY_CODES))


def _make_private(file: Path) -> None:
    """Create the folder and the file if they are missing, readable by their owner alone.

    SQLite gives its further files the same mode.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{file}: cannot create the folder of the store: {error}; {ELSEWHERE}"
        ) from error
    # If the file cannot be created, SQLite raises the error.
    with suppress(OSError):
        file.touch(mode=0o600, exist_ok=False)


def _url(address: str) -> URL:
    if "://" not in address:
        return URL.create("sqlite", database=address)
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):  # ValueError for a port that is not a number.
        url = None
    if url is None or url.get_backend_name() not in {"sqlite", "postgresql"}:
        raise InputError(
            "the URL of the store is not that of a supported database; expected a file, or "
            "postgresql://user@host/database"
        )
    return url.set(drivername=POSTGRES) if url.get_backend_name() == "postgresql" else url


def _json(value: object) -> str:
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"the value cannot be stored as JSON: {error}") from error


def _on_connect(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    # Python's module would begin transactions implicitly; _on_begin does it instead.
    connection.isolation_level = None
    # The death of a process loses nothing; a power cut may lose the last answers, never the file.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _on_begin(connection: Connection) -> None:
    # A write transaction begins as IMMEDIATE: one that begins as a reader may fail when another
    # process has written meanwhile.
    if statement := connection.get_execution_options().get("begin", "BEGIN"):
        # Directly by the driver: SQLAlchemy's own way takes as long as a whole read.
        connection.connection.driver_connection.execute(statement)  # type: ignore[union-attr]


NAME = re.compile(r"[\w.-]+")
CPU_FILE = Path("/proc/cpuinfo")
CPU_MODEL = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)


def environment() -> Mapping[str, object]:
    """Return where an experiment runs: Python, platform, processor, versions of packages.

    ``revision`` is the commit of the current folder, where a user has the search that is tested.
    """
    from karat.corpus.git import current_revision

    return {"revision": current_revision(), **_machine()}


@cache
def _machine() -> Mapping[str, object]:
    """Return what stays the same while a process runs."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cores": os.cpu_count() or 0,
        "packages": _packages(),
    }


def _cpu() -> str:
    """Return the model of the processor if the system has it, else its family."""
    if CPU_FILE.is_file():
        model = CPU_MODEL.search(CPU_FILE.read_text(encoding="utf-8", errors="replace"))
        if model:
            return model[1]
    return platform.processor() or platform.machine()


def _packages() -> dict[str, str]:
    versions = {}
    for name in sorted({NAME.findall(line)[0].lower() for line in package_requirements()}):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
