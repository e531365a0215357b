"""Targets that are in no tree searched: kept with a run, and left out where they flatter."""

from karat.experiments.target_check import missing_paths, resolved_for
from karat.model import Dataset, Query, Run, Target
from karat.model.timings import MISSING_NOTE as NOTE
from karat.model.timings import RunResult

GOLD = Dataset.of(
    [
        Query("q1", "one", (Target("a.py"), Target("gone.py"), Target("gone.py", 1, 3, 9))),
        Query("q2", "two", (Target("b.py"), Target("junk.py", 0))),
        Query("q3", "three", (Target("lost.py"),)),
    ],
    name="gold",
)
LEFT = Dataset.of(
    [
        Query("q1", "one", (Target("a.py"),)),
        Query("q2", "two", (Target("b.py"),)),
        Query("q3", "three"),
    ]
)
MISSING = {"q1": ["gone.py"], "q3": ["lost.py"]}


def run(name: str, **notes: object) -> RunResult:
    return RunResult(Run.of([]), None, "", name, notes)


def test_relevant_targets_are_kept_by_their_paths() -> None:
    assert missing_paths(GOLD, LEFT) == MISSING
    assert missing_paths(GOLD, GOLD) == {}


def test_what_is_left_of_the_gold_set() -> None:
    left = resolved_for(GOLD, [run("a", **{NOTE: MISSING}), run("b", **{NOTE: dict(MISSING)})])
    assert left is not None
    assert [[target.path for target in query.targets] for query in left.queries()] == [
        ["a.py"],
        ["b.py", "junk.py"],
        [],
    ]
    assert (left.name, left.match) == (GOLD.name, GOLD.match)


def test_nothing_is_left_out_where_nothing_is_known_or_nothing_else_is_there() -> None:
    assert resolved_for(GOLD, [run("a")]) is None
    assert resolved_for(GOLD, [run("a", **{NOTE: {}})]) is None
    assert resolved_for(GOLD, [run("a", **{NOTE: MISSING}), run("b")]) is None
    everything = {"q1": ["a.py", "gone.py"], "q2": ["b.py"], "q3": ["lost.py"]}
    assert resolved_for(GOLD, [run("a", **{NOTE: everything})]) is None
