"""The unit of a gold set, and the engines that get it."""

import pytest

from karat.app.units import judged_unit
from karat.model import Dataset, Query, Target

FILE = Target("auth.py")
LINES = Target("auth.py", start_line=3, end_line=9)
SYMBOL = Target("auth.py", symbol="login")


def gold(*targets: tuple[Target, ...]) -> Dataset:
    return Dataset.of([Query(str(n), "login", some) for n, some in enumerate(targets)])


@pytest.mark.parametrize(
    ("targets", "match", "unit"),
    [
        pytest.param([(FILE,), (FILE,), (LINES,)], "lines", "file", id="few lines"),
        pytest.param([(FILE,), (LINES,)], "lines", "file", id="even"),
        pytest.param([(FILE,), (LINES,), (LINES, FILE)], "lines", "lines", id="most lines"),
        pytest.param([(FILE,), (LINES,), (), ()], "lines", "file", id="unjudged do not count"),
        pytest.param([()], "lines", "lines", id="nothing judged"),
        pytest.param([(FILE,), (FILE,), (SYMBOL,)], "symbol", "file", id="few symbols"),
        pytest.param([(SYMBOL,), (LINES,)], "symbol", "file", id="lines are no symbols"),
        pytest.param([(FILE,)], "akashic", "lines", id="parts of paths or names"),
        pytest.param([(LINES,)], "exact", "file", id="the mode judges files"),
    ],
)
def test_the_unit_is_that_of_most_queries(
    targets: list[tuple[Target, ...]], match: str, unit: str
) -> None:
    assert judged_unit(gold(*targets), match) == unit
