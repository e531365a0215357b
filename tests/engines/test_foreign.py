"""Embedders and rerankers of someone else: what they lack has the default."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.engines.embedding.base import Embedder, Usage, as_embedder, create_embedder
from karat.engines.rerank.base import Reranker, as_reranker, create_reranker
from karat.errors import EngineError, InputError
from tests.words import WORDS, WordEmbedder


class Plain:
    """What docs/extending.md asks of an embedder and of a reranker, and no more."""

    name = "plain"
    weight = 0.25
    dimension = 2
    max_tokens = 7
    digest = "d"

    def embed(self, texts: Sequence[str], kind: str = "document") -> NDArray[np.float32]:
        return np.ones((len(texts), 2), np.float32)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [1.0] * len(texts)


class Able(Plain):
    """All that an embedder or a reranker may have beyond that."""

    texts_at_once = 9
    usage = Usage(1, 0, 2, 3, None)

    def __init__(self) -> None:
        self.calls: list[object] = []

    def token_vectors(self, texts: Sequence[str], kind: str = "document") -> list[str]:
        return [f"{kind} {text}" for text in texts]

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        return [len(text) > 7 for text in texts]

    def expect(self, queries: Sequence[str]) -> None:
        self.calls.append(queries)

    def from_cache(self) -> bool:
        return True

    def metadata(self) -> Mapping[str, object]:
        return {"tokens": 3}

    def apart(self) -> "Able":
        return Able()

    def close(self) -> None:
        self.calls.append("close")


def plain(argument: str) -> Plain:
    return Plain()


def test_an_embedder_that_lacks_abilities_has_the_defaults() -> None:
    embedder = create_embedder(f"{__name__}:plain")
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dimension, embedder.max_tokens) == ("plain", 2, 7)
    assert embedder.embed(["a"], "query").tolist() == [[1, 1]]
    assert (embedder.is_remote, embedder.texts_at_once, embedder.usage) == (False, 1, None)
    assert (embedder.too_long(["a"]), embedder.metadata()) == (None, {})
    with pytest.raises(EngineError, match="plain: this embedder has no token vectors"):
        embedder.token_vectors(["a"])
    embedder.close()


def test_the_abilities_of_an_embedder_count() -> None:
    able: Any = Able()
    embedder = as_embedder(able)
    assert (embedder.is_remote, embedder.texts_at_once, embedder.usage) == (True, 9, able.usage)
    assert embedder.has_token_vectors
    assert list(map(str, embedder.token_vectors(["a"], "query"))) == ["query a"]
    assert embedder.too_long(["a", "a long text"]) == [False, True]
    assert embedder.metadata() == {"tokens": 3}
    embedder.close()
    assert able.calls == ["close"]


def test_a_reranker_that_lacks_abilities_has_the_defaults() -> None:
    reranker = create_reranker(f"{__name__}:plain")
    assert isinstance(reranker, Reranker)
    assert (reranker.name, reranker.weight) == ("plain", 0.25)
    assert list(reranker.scores("q", ["a", "b"])) == [1, 1]
    assert (reranker.from_cache(), reranker.metadata()) == (False, {})
    assert reranker.apart() is reranker
    reranker.expect(["q"])
    reranker.close()


def test_the_abilities_of_a_reranker_count() -> None:
    able: Any = Able()
    reranker = as_reranker(able)
    assert (reranker.from_cache(), reranker.metadata()) == (True, {"tokens": 3})
    assert isinstance(reranker.apart(), Reranker)
    assert reranker.apart() is not reranker
    reranker.expect(["q"])
    reranker.close()
    assert able.calls == [["q"], "close"]


def test_one_of_karat_is_not_wrapped() -> None:
    embedder = as_embedder(WordEmbedder())
    assert as_embedder(embedder) is embedder
    assert create_embedder(WORDS).name == "words"
    reranker = as_reranker(Plain())
    assert as_reranker(reranker) is reranker


def test_what_is_neither_is_refused_by_what_it_lacks() -> None:
    with pytest.raises(InputError, match="str is no embedder, for it lacks name, digest, embed;"):
        as_embedder("granite")
    with pytest.raises(InputError, match="WordEmbedder is no reranker, for it lacks weight, score"):
        as_reranker(WordEmbedder())
