"""Where the tests of a store find a database of either kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lease_clock import LeaseClock


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where an empty database is, of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "karat.db")
    return str(request.getfixturevalue("address"))


@pytest.fixture
def lease_clock(place: str) -> Iterator[LeaseClock]:
    """Return the clock of the leases at *place*."""
    clock = LeaseClock(place)
    yield clock
    clock.close()
