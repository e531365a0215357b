"""Records are equal where all their values are; NaN counts as a value."""

from array import array
from dataclasses import dataclass
from math import inf, nan
from typing import NamedTuple

import pytest

from karat.model import Answer, Hit, JudgedQuery, QueryStatus, Run, ScoreTable, Target
from karat.model.frozen import FrozenMapping, by_value, same

NAN = float("nan")  # not the object math.nan


@by_value
class Row(NamedTuple):
    name: str
    value: float = nan


@by_value
@dataclass(frozen=True, slots=True)
class Table:
    values: tuple[float, ...]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (NAN, nan),
        ((1, NAN), (1, nan)),
        ([[NAN]], [[nan]]),
        ({"a": [NAN]}, {"a": [nan]}),
        ({"a": NAN}, FrozenMapping({"a": nan})),
        (array("d", [NAN, 1]), array("d", [nan, 1])),
        (array("d", [NAN, 0.0]), array("d", [nan, -0.0])),
        (array("i", [1]), array("q", [1])),
        (1, 1.0),
    ],
)
def test_equal_values_are_the_same(left: object, right: object) -> None:
    assert same(left, right)
    assert same(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (NAN, 0.0),
        (NAN, inf),
        (NAN, "nan"),
        (NAN, None),
        ((NAN,), (NAN, 1)),
        ((NAN,), [NAN]),
        ((1, NAN), (2, NAN)),
        ({"a": NAN}, {"b": NAN}),
        ({"a": NAN}, {"a": NAN, "b": NAN}),
        ({"a": NAN}, [NAN]),
        (array("d", [NAN]), array("d", [NAN, NAN])),
        (array("d", [NAN, 1]), array("d", [NAN, 2])),
        (array("d", [1]), [1]),
    ],
)
def test_different_values_are_not_the_same(left: object, right: object) -> None:
    assert not same(left, right)
    assert not same(right, left)


def test_a_named_tuple_compares_and_hashes_nan_as_a_value() -> None:
    assert Row("a", NAN) == Row("a")
    assert not Row("a", NAN) != Row("a")  # noqa: SIM202 - != has code of its own
    assert hash(Row("a", NAN)) == hash(Row("a"))
    assert Row("a", NAN) != Row("b", NAN)
    assert Row("a", 1.0) != Row("a", NAN)
    others: tuple[object, ...] = (Target("a", NAN), "a")
    assert Row("a", NAN) not in others


def test_a_named_tuple_still_equals_a_plain_tuple() -> None:
    row, plain = Row("a", 1.0), ("a", 1.0)
    assert row == plain
    assert plain == row
    assert hash(row) == hash(plain)
    assert hash(Target("a")) == hash(tuple(Target("a")))


def test_targets_of_no_grade_are_one_key() -> None:
    assert len({Target("a", NAN), Target("a", nan)}) == 1


def test_a_dataclass_compares_and_hashes_nan_as_a_value() -> None:
    assert Table((1, NAN)) == Table((1, nan))
    assert hash(Table((1, NAN))) == hash(Table((1, nan)))
    assert Table((1, NAN)) != Table((2, NAN))
    others: tuple[object, ...] = ((1,), None)
    assert Table((1,)) not in others


def test_a_record_of_columns_is_not_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Run.of([Answer("q", (Hit("a.py"),))]))


def test_runs_and_scores_differ_in_one_number() -> None:
    run = Run.of([Answer("q", (Hit("a.py"), Hit("b.py", 0.5)))])
    assert run == Run.of(run.answers())
    assert run != Run.of([Answer("q", (Hit("a.py"), Hit("b.py", 0.25)))])

    def table(*scores: float) -> ScoreTable:
        return ScoreTable("t", ("q", "r"), (QueryStatus.SCORED,) * 2, {"AP": array("d", scores)})

    assert table(NAN, 0.5) == table(nan, 0.5)
    assert table(NAN, 0.5) != table(0.5, NAN)


def judged(
    ranks: list[int] | range, grade: float = 1.0, *, retrieved: int = 9, level: int = 1
) -> JudgedQuery:
    first_ranks = ([1], [float(level)])
    return JudgedQuery(ranks, [grade] * 2, ideal=[1.0], retrieved=retrieved, found=first_ranks)


def test_judged_queries_compare_their_columns() -> None:
    one = judged([1, 2])
    one.relevant()  # what it remembers is not part of its value
    assert one == judged(range(1, 3))
    assert hash(one) == hash(judged(range(1, 3)))
    assert judged([1, 2], NAN) == judged([1, 2], nan)
    for other in (judged([1, 3]), judged([1, 2], 2.0), judged([1, 2], retrieved=8)):
        assert one != other
    assert one != judged([1, 2], level=2)
    assert one != [1, 2]
