"""The store of a service: what it keeps beside the results, in the same database."""

import os
from collections.abc import Callable
from datetime import datetime
from typing import Self

from sqlalchemy import func, select

from karat.experiments.store.database import Database
from karat.experiments.store.recorder import utc_now
from karat.experiments.store.records import RunStatus
from karat.experiments.store.schema import RUNS
from karat.experiments.store.sql_store import SqlStore
from karat.service.store.benchmarks import Benchmarks
from karat.service.store.collections import Collections
from karat.service.store.datasets import Datasets
from karat.service.store.events import Events
from karat.service.store.jobs import Jobs
from karat.service.store.judgments import Judgments, LossTable
from karat.service.store.mappings import Mappings
from karat.service.store.tokens import Tokens

__all__ = ["ServiceStore"]


class ServiceStore:
    """Everything at *place*: a file, or an address such as ``postgresql://user@host/database``.

    *results* is the store that the command line uses too. Threads may share a service, and
    processes may open the same place.
    """

    def __init__(
        self,
        place: str | os.PathLike[str],
        *,
        worker: str | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Open the database, which is made where there is none."""
        self.database = Database(place)
        self.results = SqlStore(self.database, worker=worker, clock=clock)
        self.tokens = Tokens(self.database, clock=clock)
        self.collections = Collections(self.database, clock=clock)
        self.datasets = Datasets(self.database, clock=clock)
        self.judgments = Judgments(self.database, clock=clock)
        self.mappings = Mappings(self.database, clock=clock)
        self.benchmarks = Benchmarks(self.database, clock=clock)
        self.losses = LossTable(self.database, clock=clock)
        self.jobs = Jobs(self.database, clock=clock)
        self.events = Events(self.database, clock=clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def active_runs(self) -> int:
        """Return how many runs are being worked on; an answer shows that the database answers."""
        running = [status.value for status in RunStatus if status.running]
        wanted = select(func.count()).where(RUNS.c.status.in_(running))
        with self.database.reading() as connection:
            return int(connection.execute(wanted).scalar_one())

    def close(self) -> None:
        """Let go of the database; calling it twice is fine."""
        self.database.close()
