"""Products with rows that grow: exact and alike in any company, or by a graph."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import from_texts
from karat.engines.chunked import ChunkEngine
from karat.engines.embedding import create_embedder
from karat.engines.embedding.texts import unit
from karat.engines.stages import DenseStage
from karat.engines.vector_rows import VectorTable
from tests.words import WORDS

RNG = np.random.default_rng(5)
ROWS = unit(RNG.standard_normal((400, 24)))


def filled(rows: np.ndarray, *, steps: int = 1, above: int = 1_000) -> VectorTable:
    table = VectorTable(approximate_above=above)
    for part in np.array_split(rows, steps):
        table.extend(part)
        table.prepare()
    return table


@given(st.lists(st.integers(0, len(ROWS) - 1), min_size=1, max_size=60), st.integers(1, 5))
def test_a_product_does_not_depend_on_the_rows_beside_it(chosen: list[int], steps: int) -> None:
    query = ROWS[0]
    some = filled(ROWS[chosen], steps=steps).products(query)
    assert (some == filled(ROWS).products(query)[chosen]).all()
    assert some == pytest.approx(np.maximum(ROWS[chosen] @ query, 0), abs=1e-6)


def test_a_graph_finds_what_lives_and_later_rows_are_compared() -> None:
    pytest.importorskip("faiss")
    table = filled(ROWS[:300], above=100)
    exact = filled(ROWS)
    assert table.recall == pytest.approx(1.0, abs=0.05)
    table.extend(ROWS[300:])
    table.prepare()
    live = np.arange(len(ROWS)) % 2 == 0
    scores = table.products(ROWS[1], live)
    assert scores[300:] == pytest.approx(exact.products(ROWS[1])[300:])
    best = np.argsort(-np.where(live, exact.products(ROWS[1]), 0))[:5]
    assert scores[best] == pytest.approx(exact.products(ROWS[1])[best])
    assert not scores[:300][~live[:300]].any()


def test_the_graph_is_built_anew_when_too_many_rows_are_without_one() -> None:
    pytest.importorskip("faiss")
    table = filled(ROWS[:150], above=100)
    before = table.recall
    table.extend(ROWS[150:])
    table.prepare()
    assert before is not None
    assert np.count_nonzero(table.products(ROWS[1])) > 0
    assert table.recall == pytest.approx(1.0, abs=0.05)


def test_without_the_extra_all_rows_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    table = filled(ROWS, above=100)
    assert table.recall is None
    assert (table.products(ROWS[1]) == filled(ROWS).products(ROWS[1])).all()


def test_an_engine_with_a_graph_tells_its_recall() -> None:
    pytest.importorskip("faiss")
    stage = DenseStage(create_embedder(WORDS), approximate_above=10)
    engine = ChunkEngine([stage], name="near")
    texts = {f"{number}.md": f"the {number} zebra{number} runs\n" for number in range(40)}
    engine.index(from_texts(texts))
    assert stage.recall == pytest.approx(1.0, abs=0.1)
    exact = ChunkEngine([DenseStage(create_embedder(WORDS))], name="exact")
    exact.index(from_texts(texts))
    near = [hit.path for hit in engine.search("zebra7 runs", 3)]
    assert near == [hit.path for hit in exact.search("zebra7 runs", 3)]
