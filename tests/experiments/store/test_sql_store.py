from pathlib import Path

import pytest

from karat.testing.store import OpenStore, PassTime, StoreSuite
from tests.lease_clock import LeaseClock


class TestSqlite(StoreSuite):
    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        return str(tmp_path / "new" / "karat.db")

    @pytest.fixture
    def open_store(self, lease_clock: LeaseClock) -> OpenStore:
        return lease_clock.open_store

    @pytest.fixture
    def pass_time(self, lease_clock: LeaseClock) -> PassTime:
        return lease_clock.forward
