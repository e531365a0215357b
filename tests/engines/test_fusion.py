"""Rankings are joined as worked out by hand, whatever their scales."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.engines.fusion import fuse, min_max, reciprocal_ranks, rest, stretch, top
from karat.errors import InputError, UnknownName

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 7.0]), max_size=12)


def column(*values: float) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    return np.array(values, np.float32)


@given(values=SCORES, k=st.integers(0, 14))
def test_the_top_is_that_of_a_stable_sort(values: list[float], k: int) -> None:
    order = sorted(range(len(values)), key=lambda row: -values[row])
    assert top(column(*values), k).tolist() == [row for row in order if values[row] > 0][:k]


def test_ranks_count_and_scores_do_not() -> None:
    ranks = reciprocal_ranks(column(0.0, 9.0, 1.0), k=60)
    assert ranks.tolist() == pytest.approx([0.0, 1 / 61, 1 / 62])
    assert reciprocal_ranks(column(3.0, 2.0, 1.0), depth=1).tolist() == pytest.approx(
        [1 / 61, 0, 0]
    )


def test_the_least_that_was_found_is_above_what_was_not() -> None:
    assert min_max(column(5.0, 5.0)).tolist() == [1.0, 1.0]
    lowest, missing = min_max(column(2.0, 4.0, 0.0))[[0, 2]]
    assert lowest > missing == 0.0


@given(values=SCORES, factor=st.sampled_from([0.5, 2.0, 1000.0]))
def test_a_scale_changes_nothing(values: list[float], factor: float) -> None:
    for method in ("rrf", "min-max"):
        one = fuse([column(*values)], [1.0], method=method)
        other = fuse([column(*values) * np.float32(factor)], [1.0], method=method)
        assert one.tolist() == pytest.approx(other.tolist(), rel=1e-4)


def test_weights_decide() -> None:
    lexical, dense = column(1.0, 0.0), column(0.0, 1.0)
    assert fuse([lexical, dense], [0.7, 0.3]).tolist() == pytest.approx([0.7, 0.3])
    assert fuse([], []).tolist() == []


@given(pairs=st.lists(st.tuples(st.floats(0, 9, width=32), st.floats(0, 9, width=32)), min_size=1))
@pytest.mark.parametrize("method", ["rrf", "min-max"])
def test_what_lies_deeper_comes_after_all_that_was_joined(
    method: str, pairs: list[tuple[float, float]]
) -> None:
    parts = [column(*values) for values in zip(*pairs, strict=True)]
    joined = fuse(parts, [0.4, 0.6], method=method, depth=2)
    deeper = rest(joined, parts, [0.4, 0.6])
    assert not np.any((joined > 0) & (deeper > 0))
    assert deeper.max() <= joined[joined > 0].min(initial=1.0)


@given(values=st.lists(st.floats(0, 1, width=16), min_size=1), depth=st.integers(1, 5))
def test_stretching_keeps_the_order(values: list[float], depth: int) -> None:
    scores = column(*values)
    longer = stretch(scores, depth=depth)
    assert top(longer, len(values)).tolist() == top(scores, len(values)).tolist()
    assert longer.max() <= 1.0


def test_what_cannot_be_joined_is_refused() -> None:
    with pytest.raises(UnknownName, match="no fusion named 'max'; known: rrf, min-max"):
        fuse([column(1.0)], [1.0], method="max")
    with pytest.raises(InputError, match="2 rankings and 1 weights"):
        fuse([column(1.0), column(1.0)], [1.0])
