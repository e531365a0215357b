"""Judgments as a string end where the ranking, or what is wanted of it, ends."""

import pytest

from karat.extensions.trec_eval.metrics.sets import relstring
from karat.model import JudgedQuery


@pytest.mark.parametrize(("length", "expected"), [(10, "-2--"), (3, "-2-"), (1, "-"), (0, "")])
def test_as_many_as_are_wanted_and_there(length: int, expected: str) -> None:
    judged = JudgedQuery([2, 7], [2, 1], ideal=[2, 1], retrieved=4)
    assert relstring(judged, length) == expected


def test_every_judged_hit_is_shown_where_all_are_wanted() -> None:
    judged = JudgedQuery([1, 2], [12, -1], ideal=[12, -1], retrieved=3)
    assert relstring(judged) == ">.-"
