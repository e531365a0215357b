"""Words and embeddings count by what a place is."""

import numpy as np
import pytest

from karat.corpus import from_texts
from karat.engines.builtin import hybrid
from karat.engines.chunked import ChunkEngine
from karat.engines.fusion import Weights, min_max
from karat.testing.engines import EngineSuite
from tests.words import WORDS

CORPUS = from_texts(
    {
        "auth.py": "def login(user):\n    return check(user)\n",
        "mail.py": "def send(letter):\n    return post(letter)\n",
        "guide.md": "# Signing in\n\nHow a user logs in with a password.\n",
        "notes.md": "# Letters\n\nHow a letter is sent.\n",
    }
)


class TestHybridByKind(EngineSuite):
    @pytest.fixture
    def engine(self) -> ChunkEngine:
        return hybrid(model=WORDS)


def test_code_and_prose_have_weights_of_their_own() -> None:
    engine = hybrid(model=WORDS)
    engine.index(CORPUS)
    places = engine.held.chunks
    assert places is not None
    hits = places.hits(range(4), [1.0] * 4)
    assert [hit.path for hit in hits] == ["auth.py", "guide.md", "mail.py", "notes.md"]
    words, meaning = Weights(code=(0.25, 0.75), other=(1.0, 0.0)).of(places)
    assert np.asarray(words).tolist() == [0.25, 1.0, 0.25, 1.0]
    assert np.asarray(meaning).tolist() == [0.75, 0.0, 0.75, 0.0]


def test_equal_weights_are_not_spelled_out_for_each_place() -> None:
    engine = hybrid(model=WORDS, dense_weight=0.3)
    engine.index(CORPUS)
    assert engine.held.chunks is not None
    assert engine.weights.of(engine.held.chunks) == (0.7, 0.3)


@pytest.mark.parametrize(
    ("settings", "code", "prose"),
    [
        ({}, 0.5, 0.6),
        ({"unit": "file"}, 0.6, 0.6),
        ({"dense_weight": 0.3}, 0.3, 0.3),
    ],
)
def test_the_joint_score_is_the_weighted_sum_of_both(
    settings: dict[str, object], code: float, prose: float
) -> None:
    engine = hybrid(model=WORDS, code_ranking=False, **settings)  # type: ignore[arg-type]
    engine.index(CORPUS)
    explanations = engine.explain("how does a user log in to send?", 10)
    assert len(explanations) == 4
    sides = [
        min_max(np.array([explained.stages[stage] for explained in explanations], np.float32))
        for stage in ("bm25", "dense")
    ]
    for explained, words, meaning in zip(explanations, *sides, strict=True):
        share = code if explained.hit.path.endswith(".py") else prose
        expected = (1 - share) * words + share * meaning
        assert explained.ranking["joined"] == pytest.approx(expected, rel=1e-5)


def test_a_weight_of_zero_is_one_that_was_given() -> None:
    assert hybrid(model=WORDS, dense_weight=0.0).weights == Weights.of_dense(code=0.0, other=0.0)
