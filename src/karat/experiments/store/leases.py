"""Leases: which worker holds a run, or something of an extension, and whether it is alive.

A worker that holds something has a row with a counter, its heartbeat, which a thread increases once
a second. Whether the worker is dead is decided in this order, and by nothing else:

1. It has no row: it has released everything.
2. Its lock file is free. A worker holds a lock on a file while it runs; the kernel releases the
   lock when the process ends, however it ends. This counts only for the kernel that has the lock.
3. PostgreSQL: its lease has expired by the clock of the database, which has also set it.
4. SQLite: its heartbeat did not change while another process watched it for ``LEASE_S`` seconds, by
   the monotonic clock of that process.

Process ids, host names and the time of day decide nothing: containers share them or change them.
"""

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from socket import gethostname
from tempfile import gettempdir
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, NamedTuple, Self
from weakref import ref

from sqlalchemy import ColumnElement, Connection, Row, delete, func, literal, select

from karat.errors import KaratError
from karat.experiments.store.base import LEASE_S
from karat.experiments.store.database import Database, log_retry
from karat.experiments.store.schema import WORKERS
from karat.system.locks import LockedFile, is_free
from karat.system.processes import kernel_id

logger = logging.getLogger("karat.leases")

HEARTBEAT_S = 1.0
# The longest time between two looks that counts as silence: while the watching process, or every
# writer of the database, was held up, the worker may have been held up too.
LONGEST_STEP_S = 5.0


def new_worker() -> str:
    """Return an identity that no other worker has: a random number after host and process.

    Host and process are for people who read it.
    """
    return f"{gethostname()}:{os.getpid()}:{token_hex(8)}"


class _Sighting(NamedTuple):
    """The heartbeat of a worker as it was last seen, and for how long it has not changed."""

    heartbeat: int
    seen_s: float
    silent_s: float = 0.0
    alive: bool | None = None

    def next(self, heartbeat: int, now_s: float) -> Self:
        """Return what is known after one more look."""
        if heartbeat != self.heartbeat:
            return self._replace(heartbeat=heartbeat, seen_s=now_s, silent_s=0.0, alive=True)
        silent_s = self.silent_s + min(now_s - self.seen_s, LONGEST_STEP_S)
        return self._replace(seen_s=now_s, silent_s=silent_s)


class Leases:
    """The leases in *database*: those that this process holds, and what it knows of others.

    *worker* is a new identity, for all that this process claims through this object. *clock* is
    monotonic. With *heartbeat_s*, a thread sends a heartbeat whenever so much time has passed and
    something is held; with None only the caller does.
    """

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], float] = monotonic,
        heartbeat_s: float | None = HEARTBEAT_S,
    ) -> None:
        """Hold nothing yet."""
        self.worker = new_worker()
        self._database = database
        self._clock = clock
        self._heartbeat_s = heartbeat_s
        self._guard = Lock()
        self._held: dict[str, set[str]] = {}
        self._locks: dict[str, LockedFile | None] = {}
        self._sightings: dict[str, _Sighting] = {}
        self._watched_s: float | None = None
        self._stopping = Event()
        self._thread: Thread | None = None
        self._upsert = _upsert_of(database)

    def renew(self, connection: Connection, worker: str) -> None:
        """Renew the lease of *worker* in the transaction that claims something for it."""
        with self._guard:
            if worker not in self._locks:
                self._locks[worker] = _worker_lock(lock_file(self._database, worker))
            lock = self._locks[worker]
        kernel = kernel_id() if lock else None
        connection.execute(self._upsert, {"id": worker, "heartbeat": 1, "kernel": kernel})

    def hold(self, worker: str, item: str) -> None:
        """Send heartbeats of *worker* from now on, because it has claimed *item*."""
        with self._guard:
            self._held.setdefault(worker, set()).add(item)
            if self._thread is None and self._heartbeat_s is not None:
                arguments = (ref(self), self._stopping, self._heartbeat_s)
                self._thread = Thread(
                    target=_send_heartbeats, args=arguments, name="leases", daemon=True
                )
                self._thread.start()

    def drop(self, worker: str, item: str) -> None:
        """Forget *item*, which has ended; a worker that holds nothing sends no heartbeat."""
        with self._guard:
            items = self._held.get(worker, set())
            items.discard(item)
            if not items:
                self._held.pop(worker, None)

    def holds(self, worker: str, item: str) -> bool:
        """Return whether *worker* is one of this process and works on *item*."""
        with self._guard:
            return item in self._held.get(worker, ())

    def heartbeat(self) -> None:
        """Renew the lease of every worker of this process that holds something."""
        with self._guard:
            workers = list(self._held)
        if workers:
            with self._database.writing() as connection:
                for worker in workers:
                    self.renew(connection, worker)

    def is_due(self) -> bool:
        """Return whether others have not been watched since a heartbeat ago."""
        return self._watched_s is None or self._clock() - self._watched_s >= HEARTBEAT_S

    def watch(self, connection: Connection, workers: Iterable[str]) -> dict[str, bool | None]:
        """Look at *workers*, and return of each whether it is alive; None if not known yet.

        *connection* is in a write: a look counts only when the worker could have written too.
        """
        asked = set(workers)
        now_s = self._watched_s = self._clock()
        if not asked:
            return {}
        rows = self._worker_rows(connection, asked)
        with self._guard:
            for worker, row in rows.items():
                seen = self._sightings.get(worker)
                self._sightings[worker] = (
                    seen.next(row.heartbeat, now_s) if seen else _Sighting(row.heartbeat, now_s)
                )
        dead = self._dead_of(asked, rows)
        return {
            worker: False if worker in dead else self._sightings[worker].alive for worker in asked
        }

    def dead(self, connection: Connection, workers: Iterable[str]) -> frozenset[str]:
        """Return those of *workers* that are known to be dead, without watching them."""
        asked = set(workers)
        return self._dead_of(asked, self._worker_rows(connection, asked)) if asked else frozenset()

    def tidy(self, connection: Connection) -> None:
        """Delete the rows and lock files of dead workers: without a row they are dead as well."""
        workers = connection.execute(select(WORKERS.c.id)).scalars().all()
        dead = self.dead(connection, workers)
        # In PostgreSQL a worker that sends a heartbeat has locked its row: skip it, and check again
        # that those whose rows are locked here are dead.
        locked = (
            select(WORKERS.c.id).where(WORKERS.c.id.in_(dead)).with_for_update(skip_locked=True)
        )
        dead = self.dead(connection, connection.execute(locked).scalars().all())
        connection.execute(delete(WORKERS).where(WORKERS.c.id.in_(dead)))
        for worker in dead:
            file = lock_file(self._database, worker)
            if is_free(file):
                file.unlink(missing_ok=True)
            self._sightings.pop(worker, None)

    def close(self) -> None:
        """Let go of everything that is held; calling it twice is fine."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        with self._guard:
            locks, self._locks = self._locks, {}
            self._held = {}
        # A row that cannot be deleted is that of a dead worker soon: its heartbeat has ended.
        with suppress(KaratError):
            if locks:
                with self._database.writing() as connection:
                    connection.execute(delete(WORKERS).where(WORKERS.c.id.in_(locks)))
        for lock in filter(None, locks.values()):
            lock.remove()

    def _worker_rows(self, connection: Connection, workers: Collection[str]) -> dict[str, Row[Any]]:
        expired: ColumnElement[bool] = literal(value=False)
        if not self._database.is_sqlite:
            # The transaction's start, which is never later than what it reads.
            expired = func.coalesce(WORKERS.c.lease_until < func.now(), True)
        statement = select(
            WORKERS.c.id, WORKERS.c.heartbeat, WORKERS.c.kernel, expired.label("expired")
        ).where(WORKERS.c.id.in_(workers))
        return {row.id: row for row in connection.execute(statement)}

    def _dead_of(self, workers: set[str], rows: Mapping[str, Row[Any]]) -> frozenset[str]:
        return frozenset(worker for worker in workers if self._is_dead(rows.get(worker)))

    def _is_dead(self, row: Row[Any] | None) -> bool:
        if row is None or row.expired:
            return True
        if row.kernel and row.kernel == kernel_id() and is_free(lock_file(self._database, row.id)):
            return True
        seen = self._sightings.get(row.id)
        return (
            self._database.is_sqlite
            and seen is not None
            and seen.heartbeat == row.heartbeat
            and seen.silent_s >= LEASE_S
        )


def _upsert_of(database: Database) -> Any:
    """Return the statement that makes the row of a worker, or increases its heartbeat."""
    insert = database.insert(WORKERS)
    changed: dict[str, object] = {"heartbeat": WORKERS.c.heartbeat + 1}
    if not database.is_sqlite:
        until = func.clock_timestamp() + timedelta(seconds=LEASE_S)
        insert = insert.values(lease_until=until)
        changed["lease_until"] = until
    return insert.on_conflict_do_update(index_elements=[WORKERS.c.id], set_=changed)


def _send_heartbeats(leases: "ref[Leases]", stopping: Event, heartbeat_s: float) -> None:
    """Send heartbeats until *stopping*, or until *leases* is no longer used."""
    while not stopping.wait(heartbeat_s):
        held = leases()
        if held is None:
            return
        try:
            held.heartbeat()
        except Exception as error:  # noqa: BLE001
            # The lease outlasts a database that does not respond for a moment. Whatever else it is,
            # without heartbeats another worker would take what this one still works on.
            log_retry(logger, "heartbeat failed", error)
        del held


def lock_file(database: Database, worker: str) -> Path:
    """Return the lock file of *worker*: beside a SQLite file, else in the temporary folder.

    It is hidden, because a database may be in a folder that is searched.
    """
    name = f"{sha256(worker.encode()).hexdigest()[:16]}.lock"
    if database.is_sqlite:
        file = Path(database.name)
        return file.with_name(f".{file.name}-{name}")
    return Path(gettempdir(), f"karat-{name}")


def _worker_lock(file: Path) -> LockedFile | None:
    """Return a lock on *file* that proves that this process lives; None where none is kept."""
    if not kernel_id():
        return None
    with suppress(ImportError, OSError):
        lock = LockedFile(file)
        # Some file systems accept a lock and do not keep it.
        if not is_free(file):
            return lock
        lock.remove()
    return None
