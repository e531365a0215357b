"""A part of a gold set, drawn by chance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.app.benchmark_config import draw_sample
from karat.errors import InputError
from karat.model import Dataset, Query, Target

QUERIES = [Query(f"q{n}", "text", (Target(f"{n}.py"),), {"kind": str(n % 2)}) for n in range(20)]
GOLD = Dataset.of(QUERIES, name="gold", match="lines", metadata={"repository": "r"})


@given(st.integers(1, 25), st.integers(0, 5))
def test_a_sample_is_a_part_in_order(count: int, seed: int) -> None:
    part = draw_sample(GOLD, count, seed=seed)
    assert len(part) == min(count, len(GOLD))
    assert list(part.queries()) == [query for query in QUERIES if query.id in part.query_ids]
    assert (part.name, part.match, part.metadata) == (GOLD.name, GOLD.match, GOLD.metadata)
    assert draw_sample(GOLD, count, seed=seed) == part


def test_the_seed_decides() -> None:
    drawn = {draw_sample(GOLD, 5, seed=seed).query_ids for seed in range(5)}
    assert len(drawn) > 1
    assert draw_sample(GOLD, None, seed=0) is GOLD
    with pytest.raises(InputError, match="a sample of 0 queries"):
        draw_sample(GOLD, 0, seed=0)
