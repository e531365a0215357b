"""Where the tests of a store find a database of either kind."""

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where an empty database is, of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "karat.db")
    return str(request.getfixturevalue("address"))
