import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.ndcg import NDCGEvaluator, create_synthetic_evaluation_data, get_vector_backend


def test_the_usual_sizes() -> None:
    items, query, judgments = create_synthetic_evaluation_data()
    assert len(items) == len(judgments) == 20
    assert len(query) == 128
    assert {len(item["embedding"]) for item in items} == {128}
    assert [item["key"] for item in items] == list(judgments)
    assert sorted(judgments.values(), reverse=True) == [1.0, 1.0, 1.0, 0.5, 0.5] + [0.0] * 15


@given(
    st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
    st.integers(2, 60),
    st.integers(0, 2**32),
)
def test_relevant_is_near_and_irrelevant_far(sizes: tuple[int, int], dim: int, seed: int) -> None:
    data = create_synthetic_evaluation_data(sizes[0], dim, sizes[1], seed=seed)
    assert data == create_synthetic_evaluation_data(sizes[0], dim, sizes[1], seed=seed)
    assert sum(grade > 0 for grade in data.judgments.values()) == sizes[1]
    assert math.hypot(*data.query_embedding) == pytest.approx(1.0)
    for item in data.items:
        assert math.hypot(*item["embedding"]) == pytest.approx(1.0)
        near = math.fsum(map(float.__mul__, item["embedding"], data.query_embedding))
        if data.judgments[item["key"]] > 0:
            assert 0.6 - 1e-9 <= near <= 0.95 + 1e-9
        else:
            assert near <= 0.4 + 1e-9


@given(st.integers(0, 2**32))
def test_an_exact_search_is_perfect_and_the_given_order_is_not(seed: int) -> None:
    items, query, judgments = create_synthetic_evaluation_data(100, 16, 10, seed)
    backend = get_vector_backend({"type": "in_memory", "metrics_callback": None})
    backend.upsert("synthetic", items)
    evaluator = NDCGEvaluator(prometheus=False)
    comparison = evaluator.compare_rankings(
        items, backend.query("synthetic", query, k=10), judgments
    )
    assert set(comparison["improved"].values()) == {1.0}
    assert comparison["baseline"]["ndcg@10"] < 1.0


def test_other_seeds_other_data() -> None:
    one, two = (create_synthetic_evaluation_data(seed=seed) for seed in (1, 2))
    assert one.query_embedding != two.query_embedding
    assert one.judgments != two.judgments


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0, 8, 0), "got 0 items"),
        ((3, 8, 4), "got 3 items of which 4 are relevant"),
        ((3, 8, -1), "of which -1"),
        ((3, 1, 1), "embedding_dim is 1; expected 2 or more"),
    ],
)
def test_sizes_that_are_none(sizes: tuple[int, int, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        create_synthetic_evaluation_data(*sizes)
