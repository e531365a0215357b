"""The unit of a gold set, and the engines that get it."""

import pytest

from karat.experiments.plan import judged_units
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
    assert judged_units(gold(*targets), match).most == unit


def test_queries_of_parts_are_named_where_others_judge_files() -> None:
    mixed = judged_units(gold((FILE,), (LINES,), ()), "lines")
    assert (mixed.files, mixed.parts) == (True, frozenset({"1"}))
    lines = judged_units(gold((LINES,), ()), "lines")
    assert (lines.files, lines.parts) == (False, frozenset())
    files = judged_units(gold((FILE,), (LINES,)), "exact")
    assert (files.files, files.parts) == (True, frozenset())
    assert judged_units(gold(()), "exact").files


def test_a_judgment_that_is_not_relevant_does_not_decide() -> None:
    judged = (FILE, LINES._replace(path="b.py", grade=0.0))
    assert judged_units(gold(judged), "lines").most == "file"
