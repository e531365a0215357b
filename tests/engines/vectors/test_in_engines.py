"""Engines whose vectors or words are on a service return the hits of those in this process."""

from collections.abc import Iterator, Sequence

import psycopg
import pytest

from karat.corpus import Corpus, from_texts
from karat.engines.engine_group import build_group
from karat.engines.spec import build, parse_spec
from karat.engines.stored_vectors import parse_store
from karat.engines.vectors.qdrant import QdrantStore
from karat.errors import InputError
from karat.model import Hit

MODEL = "tests.words:words"


def corpus(count: int, *, changed: int = -1) -> Corpus:
    words = ("login", "token", "cache", "index", "parse", "render", "queue", "retry", "merge")
    texts = {
        f"src/{words[number % 9]}_{number}.py": (
            f"def {words[number % 9]}_{words[number % 7]}(value):\n"
            f"    return {words[(number * 5) % 9]}(value, {number})\n"
            + ("    # changed\n" if number == changed else "")
        )
        for number in range(count)
    }
    return from_texts(texts)


QUERIES = ("login with a token", "parse the index", "retry the queue", "merge cache")


def shown(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(hit.path, round(hit.score or 0.0, 4)) for hit in hits]


@pytest.fixture
def clean(qdrant_url: str) -> Iterator[str]:
    yield qdrant_url
    for prefix in ("karat-", "karat-words-"):
        store = QdrantStore(url=qdrant_url, prefix=prefix)
        for namespace in store.namespaces():
            store.drop(namespace)
        store.close()


@pytest.fixture(params=["qdrant", "pgvector", "in_memory"])
def store(request: pytest.FixtureRequest) -> str:
    if request.param == "qdrant":
        return f"qdrant(url={request.getfixturevalue('clean')}, shards=2)"
    if request.param == "pgvector":
        return f"pgvector(dsn={request.getfixturevalue('database')})"
    return "in_memory"


@pytest.mark.parametrize("engine", ["dense", "hybrid"])
def test_the_hits_are_those_of_the_index_in_this_process(engine: str, store: str) -> None:
    local = build({"engine": engine, "model": MODEL, "cache": False})
    stored = build({"engine": engine, "model": MODEL, "cache": False, "store": store})
    for snapshot in (corpus(40), corpus(40, changed=7), corpus(30)):
        local.index(snapshot)
        stored.index(snapshot)
        for query in QUERIES:
            assert shown(stored.search(query, 10)) == shown(local.search(query, 10))
    stored.close()


def test_a_second_engine_uploads_and_embeds_nothing(clean: str) -> None:
    spec = {"engine": "dense", "model": MODEL, "cache": False, "store": f"qdrant(url={clean})"}
    first, second = (build_group([parse_spec(spec)]) for _ in range(2))
    first.show(corpus(30))
    second.show(corpus(30, changed=4))
    assert first.engines[0].work()["embedded"] == 30
    assert second.engines[0].work()["embedded"] == 1
    assert shown(first.engines[0].search("login", 5)) == shown(second.engines[0].search("login", 5))
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
            found = connection.execute("SELECT indexdef FROM pg_indexes").fetchall()
        assert any("USING hnsw" in row[0] for row in found) is not exact


def test_words_on_a_server_rank_like_those_in_this_process(clean: str) -> None:
    local = build({"engine": "bm25", "cache": False})
    stored = build({"engine": "bm25", "cache": False, "store": f"qdrant(url={clean})"})
    for snapshot in (corpus(60), corpus(45)):
        local.index(snapshot)
        stored.index(snapshot)
        for query in QUERIES:
            found, expected = stored.search(query, 8), local.search(query, 8)
            assert [hit.path for hit in found] == [hit.path for hit in expected]
            assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected])
    uploaded = stored.work()["uploaded"]
    assert uploaded == 105
    stored.index(corpus(60))
    assert stored.work()["uploaded"] == uploaded
    stored.close()


@pytest.mark.parametrize(
    ("store", "message"),
    [
        ("qdrnt", "no vector_store named 'qdrnt'; did you mean 'qdrant'"),
        ("qdrant(api_key=s3cret)", "write key_env=NAME"),
        ("qdrant(API_KEY=s3cret)", "write key_env=NAME"),
        ("qdrant(url=http://ann:s3cret@host:6333)", "write key_env=NAME"),
        ("qdrant(url=http://a:1 http://b:2/?api_key=s3cret)", "write key_env=NAME"),
        ("pgvector(dsn=postgresql://ann:s3cret@h/d)", "write dsn_env=NAME"),
        ({"type": "qdrant", "api_key": "s3cret"}, "write key_env=NAME"),
    ],
)
def test_stores_that_are_rejected(store: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        build({"engine": "dense", "model": MODEL, "store": store})
    assert "s3cret" not in str(caught.value)


def test_a_store_that_does_not_search_words() -> None:
    with pytest.raises(InputError, match="store 'pgvector' has no word search"):
        build({"engine": "bm25", "store": "pgvector(dsn=x)"})


def test_an_option_that_the_store_lacks(clean: str) -> None:
    engine = build({"engine": "dense", "model": MODEL, "store": f"qdrant(url={clean}, shard=3)"})
    with pytest.raises(InputError, match="store qdrant: no option 'shard'; did you mean 'shards'"):
        engine.index(corpus(3))


def test_an_empty_text_is_no_store() -> None:
    assert parse_store("", "dense") is None
