"""Text that would like to be more than text, and a browser to see that it is not."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from karat.model import Dataset, Query, Target
from karat.model.timings import Measured
from karat.report.findings import Findings

CHROMIUM = Path(__file__).resolve().parents[3] / ".venv" / "chromium" / "chromium"
# A page from a file needs none of what a browser does behind one's back.
QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
ATTACK = (
    "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
)
TEXTS = (
    ATTACK,
    "zero \x00 byte",
    "\u202eright to left\u202c שלום עולם مرحبا",
    "long " * 2_000,
    "two\nlines & <b>bold</b> \u2028 end",
)


@pytest.fixture(scope="session")
def hostile(make: Callable[..., Findings], run: Callable[..., Measured]) -> Findings:
    """Return a report in which queries, paths, tags, ids and names are all hostile."""
    queries = [
        Query(f"{number}{ATTACK}", text, (Target(f"{ATTACK}/{number}.py"),), {"kind": text[:90]})
        for number, text in enumerate(TEXTS)
    ]
    paths = {query.id: (query.targets[0].path, ATTACK) for query in queries}
    others = {query.id: (ATTACK, query.targets[0].path) for query in queries}
    gold = Dataset.of(queries, name=ATTACK, match="document")
    return make([run(ATTACK, paths), run(f"{ATTACK}\x00", others)], gold=gold, by=["kind"])


@pytest.fixture(scope="session")
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
