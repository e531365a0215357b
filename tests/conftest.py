"""What every test shares: how hypothesis searches, what may be missing, where data is found."""

import os
from collections.abc import Callable, Generator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn, TypeVar

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
IN_CI = bool(os.environ.get("CI"))

# A deadline measures the machine, not the code. In CI the examples are the same in each run, so
# that a red build belongs to the change that it reports on; elsewhere each run looks for new ones.
settings.register_profile("explore", deadline=None)
settings.register_profile("repeat", deadline=None, derandomize=True, database=None)
settings.load_profile("repeat" if IN_CI else "explore")

# How the reason of a skip begins where a part is missing: by `missing`, by `pytest.importorskip`.
MISSING = ("Skipped: missing: ", "Skipped: could not import ")

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


@pytest.fixture(scope="session")
def missing() -> Callable[[str], NoReturn]:
    """Return the function that skips a test for want of a part, named by its argument.

    In CI every part is installed, so that nothing goes untested unseen: there it is a failure.
    """
    return lambda part: pytest.skip(f"missing: {part}")


def without_gaps(report: Report) -> Report:
    """Return *report*, in CI as a failure where it is a skip for a missing part."""
    if IN_CI and report.skipped and isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        if reason.startswith(MISSING):
            report.outcome = "failed"
            report.longrepr = f"{path}:{line}: {reason.removeprefix('Skipped: ')}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Look for a part that is missing to a test."""
    return without_gaps((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Look for a part that is missing to a whole file."""
    return without_gaps((yield))


def pytest_configure(config: pytest.Config) -> None:
    """Keep what engines cache out of the home of whoever runs the tests, doctests included."""
    folder = TemporaryDirectory(prefix="karat-cache-")
    config.add_cleanup(folder.cleanup)
    os.environ["KARAT_CACHE"] = folder.name


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
