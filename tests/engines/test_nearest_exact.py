import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from karat.engines.nearest import ExactIndex
from karat.errors import InputError

NUMBERS = st.integers(-3, 3)


def by_definition(matrix: np.ndarray, query: np.ndarray, k: int, live: np.ndarray) -> list[int]:
    scores = matrix.astype(np.float64) @ query.astype(np.float64)
    order = sorted(np.flatnonzero(live).tolist(), key=lambda row: (-scores[row], row))
    return order[:k]


@given(
    arrays.arrays(np.int8, st.tuples(st.integers(0, 30), st.just(3)), elements=NUMBERS),
    arrays.arrays(np.int8, (2, 3), elements=NUMBERS),
    st.integers(1, 40),
    st.randoms(use_true_random=False),
)
def test_agrees_with_a_full_sort(
    matrix: np.ndarray, queries: np.ndarray, k: int, chance: np.random.Generator
) -> None:
    """Small whole numbers tie all the time, and the row decides."""
    live = np.array([chance.random() < 0.7 for _ in matrix], bool)
    rows, asked = matrix.astype(np.float32), queries.astype(np.float32)
    index = ExactIndex(rows)
    for number, query in enumerate(asked):
        for mask in (live, np.ones(len(rows), bool)):
            nearest = index.search(query, k, live=mask)
            assert nearest.rows.tolist() == by_definition(rows, query, k, mask)
        many = index.search_many(asked, k)[number]
        one = index.search(query, k)
        assert many.rows.tolist() == one.rows.tolist()
        assert many.scores.tolist() == one.scores.tolist()


@pytest.mark.parametrize("k", [1, 10, 500, 6_000])
def test_blocks_agree_with_a_full_sort(k: int) -> None:
    chance = np.random.default_rng(k)
    matrix = chance.standard_normal((5_003, 16)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix[4_000:4_100] = matrix[:100]
    index = ExactIndex(matrix)
    live = chance.random(len(matrix)) < 0.5
    for query in matrix[:5]:
        for mask in (None, live):
            expected = by_definition(
                matrix, query, k, np.ones(5_003, bool) if mask is None else mask
            )
            assert index.search(query, k, live=mask).rows.tolist() == expected


def test_what_is_no_query() -> None:
    index = ExactIndex(np.eye(3, dtype=np.float32))
    assert len(index) == 3
    with pytest.raises(InputError, match="the query has 2 dimensions; the index has 3"):
        index.search(np.ones(2, np.float32), 1)
    with pytest.raises(InputError, match="not finite"):
        index.search(np.array([1, np.nan, 0], np.float32), 1)
    with pytest.raises(InputError, match=r"shape \(3,\); expected one row per item"):
        ExactIndex(np.ones(3, np.float32))
