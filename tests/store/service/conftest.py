"""A service's store on either database, with a clock that only the test moves."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from karat.model import Dataset, Query, Target
from karat.store.service import Benchmark, ServiceStore

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
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(place: str, clock: Clock) -> Iterator[ServiceStore]:
    """Return an empty store."""
    with ServiceStore(place, clock=clock) as service:
        yield service


@pytest.fixture
def gold() -> Dataset:
    return GOLD


@pytest.fixture
def collection(service: ServiceStore) -> str:
    source = {"kind": "folder", "path": "/srv"}
    return service.collections.add("ann", "Docs", description="", source=source, index={}).id


@pytest.fixture
def dataset(service: ServiceStore) -> str:
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
    return service.benchmarks.add(
        "ann", "Modes", description="", mapping=mapping, config={"top_k": 10}, total_runs=2
    )
