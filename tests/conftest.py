"""What every test shares: how hypothesis searches, and where external data is found."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# A deadline measures the machine, not the code. In CI the examples are the same in each run, so
# that a red build belongs to the change that it reports on; elsewhere each run looks for new ones.
settings.register_profile("explore", deadline=None)
settings.register_profile("repeat", deadline=None, derandomize=True, database=None)
settings.load_profile("repeat" if os.environ.get("CI") else "explore")


@pytest.fixture(scope="session", autouse=True)
def own_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what engines cache out of the home of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KARAT_CACHE", str(tmp_path_factory.mktemp("karat-cache")))
        yield


@pytest.fixture(scope="session")
def project_root() -> Path:
    """Return the folder that holds pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of external reference data beside the project, or skip the test."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("external reference data is absent: no ../shared/data beside the project")
    return folder
