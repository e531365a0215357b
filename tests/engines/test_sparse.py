"""Sparse retrieval: BM25 as it is, and the terms of an encoder."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import from_texts
from karat.engines.builtin import bm25, sparse
from karat.engines.chunked import ChunkEngine
from karat.engines.sparse import TermIndex, Terms
from karat.engines.spec import build
from karat.errors import InputError
from karat.testing import EngineSuite
from karat.testing.engines import DOCUMENTS


class TestBm25(EngineSuite):
    @pytest.fixture
    def engine(self) -> ChunkEngine:
        return sparse()


def test_without_a_model_it_is_bm25_without_rules() -> None:
    corpus = from_texts({**DOCUMENTS, "tests/test_auth.py": DOCUMENTS["src/auth.py"]})
    engines = [build("sparse(k1=0.9, b=0.4)"), bm25(k1=0.9, b=0.4, header=1, code_ranking=False)]
    results = []
    for engine in engines:
        engine.index(corpus)
        results.append(list(engine.search("login password", 10)))
    assert results[0] == results[1]
    assert results[0]


def test_options_that_have_no_effect_are_refused() -> None:
    with pytest.raises(InputError, match="k1 and b apply to BM25 only"):
        build("sparse(model=some/model, k1=1.2)")


weights = st.dictionaries(st.integers(0, 9), st.sampled_from([0.25, 0.5, 1.0, 2.0]), max_size=6)


def terms_of(rows: list[dict[int, float]]) -> Terms:
    entries = [(row, term, w) for row, held in enumerate(rows) for term, w in sorted(held.items())]
    columns = list(zip(*entries, strict=True)) or [(), (), ()]
    return Terms(
        np.array(columns[0], np.int64),
        np.array(columns[1], np.int64),
        np.array(columns[2], np.float32),
    )


@given(st.lists(st.lists(weights, max_size=4), max_size=4), weights)
def test_products_as_a_loop_would(
    parts: list[list[dict[int, float]]], asked: dict[int, float]
) -> None:
    index = TermIndex()
    for rows in parts:
        index.add(terms_of(rows), rows=len(rows))
    expected = [
        sum(weight * row.get(term, 0.0) for term, weight in asked.items())
        for rows in parts
        for row in rows
    ]
    assert index.scores(terms_of([asked])).tolist() == expected
