"""The store of a service, in the same database as the results of experiments."""

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
from karat.service.store.benchmarks import BenchmarkTable
from karat.service.store.collections import CollectionTable
from karat.service.store.datasets import DatasetTable, JudgmentTable, LossTable, MappingTable
from karat.service.store.jobs import EventTable, JobTable
from karat.service.store.tokens import TokenTable

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
        self.tokens = TokenTable(self.database, clock=clock)
        self.collections = CollectionTable(self.database, clock=clock)
        self.datasets = DatasetTable(self.database, clock=clock)
        self.judgments = JudgmentTable(self.database, clock=clock)
        self.mappings = MappingTable(self.database, clock=clock)
        self.benchmarks = BenchmarkTable(self.database, clock=clock)
        self.losses = LossTable(self.database, clock=clock)
        self.jobs = JobTable(self.database, clock=clock)
        self.events = EventTable(self.database, clock=clock)

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
