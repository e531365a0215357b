"""Standings by counting agree with a naive count, on every path through the code."""

from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.scoring.matching.documents import ARRAY_FROM, COUNT_UP_TO, NonFiniteScore, count_ranks

# Few distinct values give ties; neighbours in float64 that float32 cannot tell apart, too.
SCORE = st.sampled_from([0.0, -1.0, 2.5, 0.1, 0.1 + 1e-12, 1e308, -1e308]) | st.floats(
    allow_nan=False, allow_infinity=False
)


def naive(
    scores: list[float], chosen: list[float], *, float32: bool
) -> tuple[list[int], list[int]]:
    if float32:
        scores, chosen = array("f", scores).tolist(), array("f", chosen).tolist()
    first = [1 + sum(other > score for other in scores) for score in chosen]
    equal = [sum(other == score for other in scores) for score in chosen]
    return first, equal


@settings(max_examples=50)
@given(st.lists(SCORE, min_size=1, max_size=12), st.data(), st.booleans())
def test_a_list_is_counted_like_a_naive_count(
    scores: list[float], data: st.DataObject, float32: bool
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(scores), max_size=10))
    expected = naive(scores, chosen, float32=float32)
    assert count_ranks(scores, chosen, float32=float32) == expected
    assert count_ranks(sorted(scores, reverse=True), chosen, float32=float32) == expected
    assert count_ranks(np.array(scores), chosen, float32=float32) == expected


@pytest.mark.parametrize("float32", [False, True])
@pytest.mark.parametrize("chosen_count", [0, 1, COUNT_UP_TO, COUNT_UP_TO + 1, 40])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("order", ["descending", "random"])
def test_a_long_list_is_counted_like_a_naive_count(
    float32: bool, chosen_count: int, seed: int, order: str
) -> None:
    rng = np.random.default_rng(seed)
    scores = (rng.integers(0, 60, ARRAY_FROM + seed) / 7 + rng.choice([0, 1e-12])).tolist()
    if order == "descending":
        scores.sort(reverse=True)
    chosen = rng.choice(scores, chosen_count).tolist()
    expected = naive(scores, chosen, float32=float32)
    assert count_ranks(scores, chosen, float32=float32) == expected
    assert count_ranks(np.array(scores), chosen, float32=float32) == expected


def test_a_list_that_only_looks_descending_is_still_counted_right() -> None:
    scores = [9.0, 8.0] + [5.0, 7.0] * ARRAY_FROM + [1.0]
    assert count_ranks(scores, [7.0, 5.0, 1.0]) == naive(scores, [7.0, 5.0, 1.0], float32=False)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("rest", [[], [1.0], [float("inf")], [1.0] * ARRAY_FROM])
def test_a_score_that_is_not_finite_is_noticed(bad: float, rest: list[float]) -> None:
    with pytest.raises(NonFiniteScore):
        count_ranks([bad, *rest], [])
    with pytest.raises(InputError, match="not a finite number"):
        count_ranks(np.array([*rest, bad]), [])


@pytest.mark.parametrize("count", [3, ARRAY_FROM])
def test_finite_scores_may_be_too_large_to_add_up(count: int) -> None:
    scores = [1.0, *[1e308] * count, 2.0]
    assert count_ranks(scores, [1e308, 2.0]) == ([1, count + 1], [count, 1])
    assert count_ranks(np.array(scores), [1e308, 2.0]) == ([1, count + 1], [count, 1])
    # Beyond float32 all are infinite, and so tied.
    wide = [1e308, 1.0, *[1e300] * count]
    assert count_ranks(wide, [1e308], float32=True) == ([1], [count + 1])


def test_nothing_has_no_standing() -> None:
    assert count_ranks([], []) == ([], [])
