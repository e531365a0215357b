"""Engines whose vectors or words are on a service return the hits of those in this process."""

from collections.abc import Iterator

import psycopg
import pytest

from karat.engines.engine_group import build_group
from karat.engines.spec import build, parse_spec
from karat.errors import InputError
from karat.extensions.stores.qdrant import QdrantStore
from tests.word_corpus import QUERIES, corpus, paths_and_scores

MODEL = "tests.words:words"


@pytest.fixture
def clean(qdrant_url: str) -> Iterator[str]:
    yield qdrant_url
    for prefix in ("karat-", "karat-words-"):
        store = QdrantStore(url=qdrant_url, prefix=prefix)
        for namespace in store.namespaces():
            store.drop(namespace)
        store.close()


@pytest.fixture(params=["qdrant", "pgvector"])
def store(request: pytest.FixtureRequest) -> str:
    if request.param == "qdrant":
        return f"qdrant(url={request.getfixturevalue('clean')}, shards=2)"
    return f"pgvector(dsn={request.getfixturevalue('database')})"


@pytest.mark.parametrize("engine", ["dense", "hybrid"])
def test_the_hits_are_those_of_the_index_in_this_process(engine: str, store: str) -> None:
    local = build({"engine": engine, "model": MODEL, "cache": False})
    stored = build({"engine": engine, "model": MODEL, "cache": False, "store": store})
    for snapshot in (corpus(40), corpus(40, changed=7), corpus(30)):
        local.index(snapshot)
        stored.index(snapshot)
        for query in QUERIES:
            assert paths_and_scores(stored.search(query, 10)) == paths_and_scores(
                local.search(query, 10)
            )
    stored.close()


def test_a_second_engine_uploads_and_embeds_nothing(clean: str) -> None:
    spec = {"engine": "dense", "model": MODEL, "cache": False, "store": f"qdrant(url={clean})"}
    first, second = (build_group([parse_spec(spec)]) for _ in range(2))
    first.show(corpus(30))
    second.show(corpus(30, changed=4))
    assert first.engines[0].work()["embedded"] == 30
    assert second.engines[0].work()["embedded"] == 1
    assert paths_and_scores(first.engines[0].search("login", 5)) == paths_and_scores(
        second.engines[0].search("login", 5)
    )
    assert first.engines[0].stages[0].recall == 1.0  # type: ignore[attr-defined]
    for group in (first, second):
        group.close()


def test_an_approximate_index_is_built_before_the_first_search(database: str) -> None:
    for exact in (True, False):
        store = f"pgvector(dsn={database}, exact={exact})"
        engine = build({"engine": "dense", "model": MODEL, "cache": False, "store": store})
        engine.index(corpus(5))
        engine.close()
        with psycopg.connect(database) as connection:
            indexes = connection.execute("SELECT indexdef FROM pg_indexes").fetchall()
        assert any("USING hnsw" in row[0] for row in indexes) is not exact


def test_words_on_a_server_rank_like_those_in_this_process(clean: str) -> None:
    local = build({"engine": "bm25", "cache": False})
    stored = build({"engine": "bm25", "cache": False, "store": f"qdrant(url={clean})"})
    for snapshot in (corpus(60), corpus(45)):
        local.index(snapshot)
        stored.index(snapshot)
        for query in QUERIES:
            hits, expected = stored.search(query, 8), local.search(query, 8)
            assert [hit.path for hit in hits] == [hit.path for hit in expected]
            assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected])
    uploaded = stored.work()["uploaded"]
    assert uploaded == 105
    stored.index(corpus(60))
    assert stored.work()["uploaded"] == uploaded
    stored.close()


def test_a_misspelt_name() -> None:
    with pytest.raises(InputError, match="no vector store named 'qdrnt'; did you mean 'qdrant'"):
        build({"engine": "dense", "model": MODEL, "store": "qdrnt"})


def test_a_store_that_does_not_search_words() -> None:
    with pytest.raises(InputError, match="store 'pgvector' has no word search; expected qdrant"):
        build({"engine": "bm25", "store": "pgvector(dsn=x)"})


def test_an_option_that_the_store_lacks(clean: str) -> None:
    engine = build({"engine": "dense", "model": MODEL, "store": f"qdrant(url={clean}, shard=3)"})
    with pytest.raises(InputError, match="store qdrant: no option 'shard'; did you mean 'shards'"):
        engine.index(corpus(3))
