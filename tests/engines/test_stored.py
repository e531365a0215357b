"""Engines with the option store, whatever the store is."""

from collections import Counter
from collections.abc import Mapping
from math import log

import pytest

from karat.engines.spec import build
from karat.engines.stored_lexical import TermWeights
from karat.engines.stored_vectors import parse_store
from karat.errors import InputError
from tests.extension_kit import install_objects
from tests.word_corpus import QUERIES, corpus, paths_and_scores

MODEL = "tests.words:words"


class WordsInMemory:
    """Words in the memory of this process."""

    def __init__(self, *, limit: int = 1_000) -> None:
        self.limit = limit
        self.indexes: dict[str, dict[int, TermWeights]] = {}

    def create(self, name: str) -> None:
        self.indexes.setdefault(name, {})

    def held(self, name: str, rows: range) -> set[int]:
        return self.indexes[name].keys() & set(rows)

    def count(self, name: str) -> int:
        return len(self.indexes[name])

    def add(self, name: str, rows: Mapping[int, TermWeights]) -> None:
        self.indexes[name].update(rows)

    def best(self, name: str, terms: TermWeights, k: int) -> list[tuple[int, float]]:
        chunks = self.indexes[name]
        having = Counter(term for weights in chunks.values() for term in weights)
        idf = {term: log(1 + (len(chunks) - n + 0.5) / (n + 0.5)) for term, n in having.items()}
        scores = [
            (row, sum(weights[term] * terms[term] * idf[term] for term in terms & weights.keys()))
            for row, weights in chunks.items()
        ]
        return sorted(scores, key=lambda pair: -pair[1])[: min(k, self.limit)]

    def close(self) -> None: ...


@pytest.mark.parametrize("engine", ["dense", "hybrid"])
def test_the_hits_are_those_of_the_index_without_a_store(engine: str) -> None:
    local = build({"engine": engine, "model": MODEL, "cache": False})
    stored = build({"engine": engine, "model": MODEL, "cache": False, "store": "in_memory"})
    for snapshot in (corpus(40), corpus(40, changed=7), corpus(30)):
        local.index(snapshot)
        stored.index(snapshot)
        for query in QUERIES:
            expected = paths_and_scores(local.search(query, 10))
            assert paths_and_scores(stored.search(query, 10)) == expected
    stored.close()


def test_words_rank_like_those_without_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    install_objects(monkeypatch, "lexical_store", {"in_memory": f"{__name__}:WordsInMemory"})
    local = build({"engine": "bm25", "cache": False})
    stored = build({"engine": "bm25", "cache": False, "store": "in_memory"})
    for snapshot in (corpus(60), corpus(45)):
        local.index(snapshot)
        stored.index(snapshot)
        for query in QUERIES:
            expected = paths_and_scores(local.search(query, 8))
            assert paths_and_scores(stored.search(query, 8)) == expected
    uploaded = stored.work()["uploaded"]
    assert uploaded == 105
    stored.index(corpus(60))
    assert stored.work()["uploaded"] == uploaded
    stored.close()


@pytest.mark.parametrize(
    ("store", "message"),
    [
        ("in_memry", "no vector store named 'in_memry'; did you mean 'in_memory'"),
        ("memory(api_key=s3cret)", "write key_env=NAME"),
        ("memory(API_KEY=s3cret)", "write key_env=NAME"),
        ("memory(url=http://ann:s3cret@host:6333)", "write key_env=NAME"),
        ("memory(url=http://a:1 http://b:2/?api_key=s3cret)", "write key_env=NAME"),
        ("memory(dsn=postgresql://ann:s3cret@h/d)", "write dsn_env=NAME"),
        ({"type": "memory", "api_key": "s3cret"}, "write key_env=NAME"),
    ],
)
def test_stores_that_are_rejected(store: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        build({"engine": "dense", "model": MODEL, "store": store})
    assert "s3cret" not in str(caught.value)


def test_a_store_that_does_not_search_words(monkeypatch: pytest.MonkeyPatch) -> None:
    install_objects(monkeypatch, "lexical_store", {"other": f"{__name__}:WordsInMemory"})
    with pytest.raises(InputError, match=r"store 'in_memory' has no word search; .*other"):
        build({"engine": "bm25", "store": "in_memory"})


def test_an_option_that_the_store_lacks() -> None:
    engine = build({"engine": "dense", "model": MODEL, "store": "in_memory(shard=3)"})
    with pytest.raises(InputError, match="store in_memory: no option 'shard'"):
        engine.index(corpus(3))


def test_an_empty_text_is_no_store() -> None:
    assert parse_store("", "dense") is None
