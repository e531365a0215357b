"""Where the tests of a store find a database of either kind."""

from pathlib import Path

import pytest
from sqlalchemy import URL


@pytest.fixture
def address(database: str) -> str:
    """Return the connection string as an address; the server may listen on a socket only."""
    from psycopg.conninfo import conninfo_to_dict

    parts = {key: str(value) for key, value in conninfo_to_dict(database).items()}
    return URL.create("postgresql", query=parts).render_as_string(hide_password=False)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where an empty database is, of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "karat.db")
    return str(request.getfixturevalue("address"))
