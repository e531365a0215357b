"""Text that would like to be more than text."""

from collections.abc import Callable

import pytest

from karat.model import Dataset, Query, Target
from karat.model.timings import RunResult
from karat.report.findings import Findings

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
def hostile(make: Callable[..., Findings], run: Callable[..., RunResult]) -> Findings:
    """Return a report in which queries, paths, tags, ids and names are all hostile."""
    queries = [
        Query(f"{number}{ATTACK}", text, (Target(f"{ATTACK}/{number}.py"),), {"kind": text[:90]})
        for number, text in enumerate(TEXTS)
    ]
    paths = {query.id: (query.targets[0].path, ATTACK) for query in queries}
    others = {query.id: (ATTACK, query.targets[0].path) for query in queries}
    gold = Dataset.of(queries, name=ATTACK, match="document")
    return make([run(ATTACK, paths), run(f"{ATTACK}\x00", others)], gold=gold, by=["kind"])
