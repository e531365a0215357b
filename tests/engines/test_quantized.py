"""Vectors in a file: the same products as in memory, and codes that find nearly all neighbours."""

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.corpus import from_texts
from karat.engines import vector_rows
from karat.engines.builtin import dense, hybrid
from karat.engines.fusion import top
from karat.engines.vector_rows import VECTORS, FileVectors, VectorTable
from karat.errors import InputError
from tests.words import WORDS

DIMENSION = 96


def unit_rows(count: int, seed: int = 5) -> NDArray[np.float32]:
    """Return rows of length 1 around some centres, as embeddings are."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((20, DIMENSION))
    rows = centres[rng.integers(20, size=count)] + rng.standard_normal((count, DIMENSION))
    units: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units.astype(np.float32)


def filled(rows: NDArray[np.float32], kind: str, candidates: int = 100) -> FileVectors:
    table = FileVectors(kind=kind, candidates=candidates)
    for start in range(0, len(rows), 700):
        table.extend(rows[start : start + 700])
        table.prepare()
    return table


def in_memory(rows: NDArray[np.float32]) -> VectorTable:
    table = VectorTable()
    table.extend(rows)
    return table


def test_a_mapped_file_gives_the_same_bits() -> None:
    rows = unit_rows(1500)
    table = filled(rows, "mapped")
    for query in rows[:5]:
        assert table.products(query).tobytes() == in_memory(rows).products(query).tobytes()
    assert table.recall is None


@pytest.mark.parametrize(
    ("kind", "least", "share"), [("int8", 0.99, 0.25), ("binary", 0.9, 1 / 32)]
)
def test_codes_find_nearly_all_neighbours(kind: str, least: float, share: float) -> None:
    rows = unit_rows(3000)
    table = filled(rows, kind)
    assert table.recall is not None
    assert least <= table.recall <= 1
    assert table.nbytes == pytest.approx((1 + share) * rows.nbytes)
    exact = in_memory(rows).products(rows[7])
    scores = table.products(rows[7])
    assert np.count_nonzero(scores) <= 200
    # A candidate has its exact score, and the row itself is one.
    assert scores[scores > 0].tobytes() == exact[scores > 0].tobytes()
    assert top(scores, 1).tolist() == top(exact, 1).tolist() == [7]


@pytest.mark.parametrize("kind", ["int8", "binary"])
def test_the_order_of_rows_decides_nothing(kind: str) -> None:
    rows = unit_rows(2000)
    mixed = np.random.default_rng(3).permutation(2000)
    one, other = filled(rows, kind), filled(rows[mixed], kind)
    for query in unit_rows(5, seed=9):
        assert other.products(query).tobytes() == one.products(query)[mixed].tobytes()


def test_all_rows_with_the_same_code_are_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_rows, "CODE_BLOCK", 64)
    rows = np.repeat(unit_rows(2), [50, 400], axis=0)
    scores = filled(rows, "binary").products(rows[-1])
    assert np.flatnonzero(scores == scores[-1]).tolist() == list(range(50, 450))


@pytest.mark.parametrize("kind", ["int8", "binary"])
def test_only_live_rows_are_candidates(kind: str) -> None:
    rows = unit_rows(2000)
    live = np.zeros(2000, np.bool_)
    live[1::2] = True
    scores = filled(rows, kind).products(rows[8], live)
    assert scores[8] == 0
    assert not scores[~live].any()
    assert np.count_nonzero(scores)


@pytest.mark.parametrize("vectors", VECTORS)
def test_a_small_corpus_is_searched_exactly(vectors: str) -> None:
    texts = {f"{n}.py": f"def word{n}(): return {n}" for n in range(30)}
    for make in (dense, hybrid):
        plain = make(model=WORDS, cache=False)
        other = make(model=WORDS, vectors=vectors, cache=False)
        for engine in (plain, other):
            engine.index(from_texts(texts))
            engine.show(from_texts({**texts, "3.py": "def other(): ..."}))
        assert other.search("word 7", 20) == plain.search("word 7", 20)


def test_an_unknown_form_is_an_error() -> None:
    with pytest.raises(
        InputError, match="vectors 'int4' is not valid; expected one of: float32, mapped, int8"
    ):
        dense(model=WORDS, vectors="int4")
