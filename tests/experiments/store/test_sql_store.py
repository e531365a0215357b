from pathlib import Path

import pytest

from karat.experiments.store import SqlStore
from karat.testing.store import OpenStore, StoreSuite


class TestSqlite(StoreSuite):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> OpenStore:
        return lambda worker: SqlStore(tmp_path / "new" / "karat.db", worker=worker)
