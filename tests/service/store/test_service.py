"""The store of a service, in a file and in PostgreSQL."""

from pathlib import Path

import pytest

from karat.service.store import ServiceStore
from karat.testing import ServiceStoreSuite
from karat.testing.service.fixtures import OpenService


class TestSqlite(ServiceStoreSuite):
    @pytest.fixture
    def open_service(self, tmp_path: Path) -> OpenService:
        return lambda clock: ServiceStore(tmp_path / "karat.db", clock=clock)


class TestPostgres(ServiceStoreSuite):
    @pytest.fixture
    def open_service(self, address: str) -> OpenService:
        return lambda clock: ServiceStore(address, clock=clock)
