"""Two rankings are compared as worked out by hand, as published, and by the definition."""

from collections.abc import Sequence
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.extensions.overlap.metrics import churn, overlap, rbo
from karat.model import JudgedQuery

RANKINGS = st.lists(st.integers(0, 15), unique=True, max_size=10)


def compared(other: Sequence[object], ranking: Sequence[object]) -> JudgedQuery:
    """Return *ranking*, judged by *other*."""
    found = [(rank, item) for rank, item in enumerate(ranking, 1) if item in other]
    return JudgedQuery(
        [rank for rank, _ in found],
        [float(len(other) - other.index(item)) for _, item in found],
        ideal=[float(grade) for grade in range(len(other), 0, -1)],
        retrieved=len(ranking),
    )


def rbo_by_definition(one: Sequence[object], other: Sequence[object], p: float) -> float:
    """Return the limit of the definition for lists that go on as equation 32 assumes.

    At each depth beyond the end of a list, the agreement of the known part goes on: that of the
    shorter list up to the end of the longer one, and of both from there on.
    """
    short, long = sorted((one, other), key=len)
    if not short:
        return float(not long)
    in_short = len(set(short) & set(long[: len(short)])) / len(short)
    total = 0.0
    for depth in range(1, 3_000):
        shared = float(len(set(one[:depth]) & set(other[:depth])))
        if depth > len(short):
            shared += in_short * (min(depth, len(long)) - len(short))
        agreement = shared / min(depth, len(long))
        total += (1 - p) * p ** (depth - 1) * agreement
    return total


def test_the_overlaps_of_the_article() -> None:
    # Webber, Moffat and Zobel (2010), figure 3: the overlap of two rankings by depth.
    one, other = "abcdefg", "zcavwxy"
    by_depth = [overlap(compared(one, other), depth) for depth in range(1, 8)]
    assert by_depth == pytest.approx([0, 0, 2 / 3, 1 / 2, 2 / 5, 2 / 6, 2 / 7])
    # Their weights at p = 0.5 are 1/2, 1/4, ... 1/128; the last agreement has 1/128 more.
    weights = [1 / 2**depth for depth in range(1, 8)]
    expected = sum(weight * each for weight, each in zip(weights, by_depth, strict=True))
    assert rbo(compared(one, other), p=0.5) == pytest.approx(expected + 2 / 7 / 128)


def test_the_published_example_with_ties() -> None:
    # Corsi and Urbano, "The treatment of ties in rank-biased overlap" (2024): with all orders of
    # tied items alike, the expected RBO at p = 0.95 is 0.6922853.
    one = [("red",), ("blue", "green"), ("yellow",), ("pink",)]
    other = [("blue", "red"), ("white",), ("yellow", "black", "purple"), ("green",)]

    def orders(ranking: Sequence[tuple[str, ...]]) -> list[list[str]]:
        return [[*sum(each, ())] for each in product(*map(permutations, ranking))]

    scores = [rbo(compared(a, b), p=0.95) for a, b in product(orders(one), orders(other))]
    assert sum(scores) / len(scores) == pytest.approx(0.6922853, abs=5e-8)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # Equal lists, in another order: 0 at depth 1, then 1: 0.5 + 0 + 0.5.
        ("ab", "ba", 0.5),
        # Depth 1 agrees; the second item of the longer list would agree too.
        ("a", "ab", 1.0),
        ("ab", "cd", 0.0),
        ("", "", 1.0),
        ("", "ab", 0.0),
        ("ab", "", 0.0),
    ],
)
def test_small_rankings(one: str, other: str, expected: float) -> None:
    assert rbo(compared(one, other), p=0.5) == pytest.approx(expected)


@given(one=RANKINGS, other=RANKINGS, p=st.sampled_from([0.3, 0.8, 0.9, 0.98]))
def test_rbo_is_that_of_its_definition(one: list[int], other: list[int], p: float) -> None:
    score = rbo(compared(one, other), p=p)
    assert score == pytest.approx(rbo_by_definition(one, other, p), abs=1e-9)
    assert score == pytest.approx(rbo(compared(other, one), p=p))
    assert 0.0 <= score <= 1.0


@given(one=RANKINGS, other=RANKINGS, k=st.integers(1, 12))
def test_a_cut_off_cuts_both(one: list[int], other: list[int], k: int) -> None:
    shared = len(set(one[:k]) & set(other[:k]))
    longer = max(len(one[:k]), len(other[:k]))
    score = overlap(compared(one, other), k)
    assert score == (shared / longer if longer else 1.0)
    assert churn(compared(one, other), k) == 1.0 - score
    assert rbo(compared(one, other), k) == pytest.approx(rbo(compared(one[:k], other[:k])))


@given(ranking=RANKINGS, k=st.integers(1, 12))
def test_a_ranking_is_like_itself(ranking: list[int], k: int) -> None:
    itself = compared(ranking, ranking)
    assert (overlap(itself, k), churn(itself, k)) == (1.0, 0.0)
    assert rbo(itself) == pytest.approx(1.0)


@pytest.mark.parametrize("p", [0.0, 1.0, -1.0])
def test_p_is_a_probability(p: float) -> None:
    with pytest.raises(InputError, match="rbo's p is"):
        rbo(compared("a", "a"), p=p)
