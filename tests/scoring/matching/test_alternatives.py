"""Copies of a passage count as the passage: once, and on top of nothing."""

import pytest

from karat.errors import InputError
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.scoring.matching import judge, trace
from karat.scoring.matching.judge import with_alternatives
from karat.scoring.matching.modes import exact, lines

PLACE = {"path": "a.md", "start_line": 10, "end_line": 12}
COPY = {"path": "./b.md", "start_line": 3, "end_line": 5, "target": PLACE}
EXTRA = {"alternatives": [COPY]}
TARGET = Target("a.md", 1, 10, 12)
GOLD = Dataset.of([Query("q", "who", (TARGET,), extra=EXTRA)], match="lines")


def run(*hits: Hit) -> Run:
    return Run.of([Answer("q", hits)])


def test_a_hit_on_a_copy_is_a_hit_on_the_target() -> None:
    judged = judge(GOLD, run(Hit("c.md", 3.0, 1, 9), Hit("b.md", 2.0, 5, 9))).queries[0]
    assert (judged.ranks, judged.ideal) == ([2], [1.0])
    assert trace(GOLD, run(Hit("b.md", 2.0, 5, 9)), keep=3)[0].ranks == (1,)


def test_copies_count_once() -> None:
    copied = judge(GOLD, run(Hit("b.md", 3.0, 3, 5), Hit("a.md", 2.0, 10, 12))).queries[0]
    assert (copied.ranks, copied.grades) == ([1, 2], [1.0, 0.0])


def test_lines_beside_the_copy_are_no_hit() -> None:
    assert judge(GOLD, run(Hit("b.md", 2.0, 6, 9))).queries[0].ranks == []


def test_a_hit_on_a_target_stays_as_it_is() -> None:
    both = Target("b.md", 1, 5, 6)
    hit = Hit("b.md", 2.0, 5, 9)
    assert with_alternatives([hit], [TARGET, both], EXTRA, lines()) == [hit]
    assert with_alternatives([hit], [TARGET], {}, lines()) == [hit]
    for wrong in (1, [1], [{"path": "a"}], [{**COPY, "start_line": "x"}], [{"target": 3}]):
        with pytest.raises(InputError, match="'alternatives' of a query is not a list of places"):
            with_alternatives([hit], [TARGET], {"alternatives": wrong}, lines())


def test_whole_files() -> None:
    assert with_alternatives([Hit("b.md", 2.0)], [TARGET], EXTRA, exact()) == [Hit("a.md", 2.0)]
    truth = {"q": {"a.md": 1.0}}
    assert judge(truth, run(Hit("a.md", 2.0))).queries[0].ranks == [1]
