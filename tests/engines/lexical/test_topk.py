"""The best k are those that a full sort would put first, ties in the order of documents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.engines.lexical.index import best


def by_sorting(scores: list[float], k: int) -> list[int]:
    order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    return [index for index in order if scores[index] > 0][:k]


@given(st.integers(0, 2**32 - 1), st.integers(0, 3000), st.integers(1, 30), st.integers(1, 50))
def test_as_a_full_sort(seed: int, size: int, levels: int, k: int) -> None:
    scores = np.random.default_rng(seed).integers(0, levels, size).astype(np.float32)
    ranking = best(scores, k)
    assert ranking.documents.tolist() == by_sorting(scores.tolist(), k)
    assert ranking.scores.tolist() == scores[ranking.documents].tolist()


@pytest.mark.parametrize("k", [0, -1])
def test_no_place_no_document(k: int) -> None:
    assert not len(best(np.ones(3, dtype=np.float32), k).documents)
