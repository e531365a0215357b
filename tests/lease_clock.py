"""A clock of leases that only tests move, on SQLite and PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from sqlalchemy import Interval, literal, update

from karat.experiments.store import SqlStore
from karat.experiments.store.database import Database
from karat.experiments.store.leases import Leases
from karat.experiments.store.schema import WORKERS


class LeaseClock:
    """The monotonic clock of all processes that use *place*, and that of a PostgreSQL server."""

    def __init__(self, place: str) -> None:
        self.now_s = 1_000.0
        self.place = place
        self._server = Database(place) if "://" in place and "sqlite" not in place else None

    def leases(self, database: Database) -> Leases:
        """Return leases that send no heartbeat by themselves."""
        return Leases(database, clock=lambda: self.now_s, heartbeat_s=None)

    def open_store(self, worker: str | None = None) -> SqlStore:
        """Open the store, as another process would."""
        database = Database(self.place)
        return SqlStore(database, worker=worker, leases=self.leases(database))

    @contextmanager
    def open_database(self) -> Iterator[Database]:
        """Open the database beside all stores."""
        database = Database(self.place)
        yield database
        database.close()

    def forward(self, seconds: float) -> None:
        """Let some time pass, for everybody."""
        self.now_s += seconds
        if self._server:
            # As much time passes for a lease as it ends earlier.
            earlier = WORKERS.c.lease_until - literal(timedelta(seconds=seconds), Interval)
            with self._server.writing() as connection:
                connection.execute(update(WORKERS).values(lease_until=earlier))

    def close(self) -> None:
        if self._server:
            self._server.close()
