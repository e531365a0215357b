"""The store of a service in a SQLite file and in PostgreSQL, with a clock that only tests move."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from karat.extensions.service.store import Benchmark, ServiceStore
from karat.model import Dataset, Query, Target
from tests.lease_clock import LeaseClock

GOLD = Dataset.of(
    [
        Query("q1", "where is login", (Target("file:///srv/auth.md", 2.0, ref="uri"),)),
        Query("q2", "send mail", (Target("mail.md"),), {"area": "mail"}),
    ],
    name="gold",
    match="document",
)


@dataclass
class Clock:
    """A clock that stands still."""

    now: datetime = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def forward(self, seconds: float) -> None:
        """Let some time go by."""
        self.now += timedelta(seconds=seconds)


OpenService = Callable[[Clock], ServiceStore]


@pytest.fixture(params=["sqlite", "postgresql"])
def lease_clock(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LeaseClock]:
    """Return the clock of the leases in an empty store."""
    sqlite = request.param == "sqlite"
    clock = LeaseClock(str(tmp_path / "karat.db") if sqlite else request.getfixturevalue("address"))
    yield clock
    clock.close()


@pytest.fixture
def open_service(lease_clock: LeaseClock) -> OpenService:
    """Return a function that opens the store with a given clock."""
    return lambda clock: ServiceStore(
        lease_clock.place, clock=clock, make_leases=lease_clock.leases
    )


@pytest.fixture
def clock() -> Clock:
    """Return the clock of the store."""
    return Clock()


@pytest.fixture
def service(open_service: OpenService, clock: Clock) -> Iterator[ServiceStore]:
    """Return an empty store."""
    with open_service(clock) as service:
        yield service


@pytest.fixture
def collection(service: ServiceStore) -> str:
    """Return a collection that is pending."""
    source = {"kind": "folder", "path": "/srv"}
    return service.collections.add("ann", "Docs", description="", source=source, index={}).id


@pytest.fixture
def dataset(service: ServiceStore) -> str:
    """Return a dataset of two queries."""
    return service.datasets.add(
        "ann", "Questions", description="of users", gold=GOLD, schema_version="1.0"
    ).id


@pytest.fixture
def mapping(service: ServiceStore, dataset: str, collection: str) -> str:
    """Return a mapping that is resolved."""
    mapping = service.mappings.add(dataset, collection).id
    service.mappings.keep_resolution(mapping, GOLD, mapped=2, total=2, unresolved=[])
    return mapping


@pytest.fixture
def benchmark(service: ServiceStore, mapping: str) -> Benchmark:
    """Return a benchmark that is pending."""
    return service.benchmarks.add(
        "ann", "Modes", description="", mapping=mapping, config={"top_k": 10}, total_runs=2
    )
