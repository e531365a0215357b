"""The hits after each step of a search, down to those of the search itself."""

from collections.abc import Sequence

import numpy as np
import pytest

from karat.corpus import Corpus, from_texts
from karat.engines.base import Engine
from karat.engines.builtin import bm25, hybrid
from karat.engines.rerank import RerankEngine, Reranker
from karat.errors import EngineError
from karat.model import Hit
from tests.words import WORDS

CORPUS = from_texts(
    {
        "login.py": "def login(user, password):\n    return password == user.password\n",
        "mail.py": "def mail(letter):\n    return send(letter)\n",
        "sign.py": "def authenticate(person):\n    return check(person)\n",
        "user.py": "class User:\n    password = ''\n",
    }
)
QUERY = "login with the password of a user"


class Backwards(Reranker):
    """A reranker that likes what comes last."""

    name, weight = "backwards", 1.0

    def scores(self, query: str, texts: Sequence[str]) -> np.ndarray:
        return np.arange(len(texts), dtype=np.float64)


def indexed(engine: Engine, corpus: Corpus = CORPUS) -> Engine:
    engine.index(corpus)
    return engine


def kinds(engine: Engine, query: str = QUERY) -> list[str]:
    steps = engine.steps(query, 3)
    assert list(steps[-1].hits) == list(engine.search(query, 3))
    return [step.kind for step in steps]


def paths(hits: Sequence[Hit]) -> list[str]:
    return [hit.path for hit in hits]


def test_one_stage_is_one_step() -> None:
    assert kinds(indexed(bm25(cache=False))) == ["stage"]


def test_stages_stand_side_by_side_before_they_are_joined() -> None:
    engine = indexed(hybrid(model=WORDS, cache=False))
    assert kinds(engine) == ["stage", "stage", "fusion"]
    words, meaning, joined = engine.steps(QUERY, 4)
    assert paths(words.hits) == paths(indexed(bm25(cache=False)).search(QUERY, 4))
    assert meaning.hits
    assert words.hits != meaning.hits != joined.hits


def test_a_threshold_is_a_step_of_its_own() -> None:
    assert kinds(indexed(bm25(cache=False, threshold=0.9))) == ["stage", "threshold"]


def test_a_reranker_comes_after_all_of_the_first_search() -> None:
    first = hybrid(model=WORDS, cache=False)
    engine = RerankEngine(first, Backwards(), depth=2, threshold=0.5)
    indexed(engine)
    assert kinds(engine) == ["stage", "stage", "fusion", "rerank", "threshold"]
    fused, reranked = engine.steps(QUERY, 3)[2:4]
    assert paths(reranked.hits)[:2] == paths(fused.hits)[1::-1]
    assert paths(reranked.hits)[2:] == paths(fused.hits)[2:]


def test_a_first_search_without_steps_is_one_stage() -> None:
    class Plain(Engine):
        name, thread_safe = "plain", True

        def index(self, corpus: Corpus) -> None:
            pass

        def search(self, query: str, k: int) -> list[Hit]:
            return [Hit("login.py", 2.0, 1, 2), Hit("mail.py", 1.0, 1, 2)][:k]

    engine = RerankEngine(Plain(), Backwards())
    assert kinds(indexed(engine)) == ["stage", "rerank"]


def test_nothing_asked_is_nothing_found() -> None:
    assert kinds(indexed(hybrid(model=WORDS, cache=False)), " ") == ["stage"]
    with pytest.raises(EngineError, match="search was called before index"):
        bm25(cache=False).steps(QUERY, 3)
