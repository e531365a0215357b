"""Remote rerankers against a server of our own, in this process: no network, no waiting."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from karat.corpus import from_texts
from karat.engines.caches import NO_CACHES, Caches
from karat.engines.rerank import check_reranker, create_reranker
from karat.engines.spec import build
from karat.errors import EngineError, InputError
from karat.extensions.models.remote_reranker import RemoteReranker, RemoteRerankerFactory
from karat.model.timings import spent
from karat.testing.engines import DOCUMENTS, PASSAGES, RerankerSuite
from tests.embedding_endpoint import Endpoint, Reply, serving

pytest.importorskip("httpx")
pytest.importorskip("tenacity")

PROVIDERS = ["jina", "cohere", "voyage", "vllm", "tei"]
QUERY = "login password"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as served:
        yield served


@pytest.fixture
def waits() -> list[float]:
    return []


Connect = Callable[..., RemoteReranker]


@pytest.fixture
def connect(endpoint: Endpoint, waits: list[float]) -> Iterator[Connect]:
    opened: list[RemoteReranker] = []

    def connected(
        provider: str = "jina", options: str = "", caches: Caches = NO_CACHES, **given: Any
    ) -> RemoteReranker:
        endpoint.provider = provider
        model = "" if provider == "tei" else "some-model@"
        given = {"environment": {}, "sleep": waits.append, "caches": caches, **given}
        made = RemoteRerankerFactory(provider)(f"{model}{endpoint.url}{options}", **given)
        opened.append(made)
        return made

    yield connected
    for reranker in opened:
        reranker.close()


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestProviders(RerankerSuite):
    @pytest.fixture
    def reranker(self, provider: str, connect: Connect) -> RemoteReranker:
        return connect(provider)


SENT: dict[str, dict[str, Any]] = {
    "jina": {
        "model": "some-model",
        "documents": ["one", "two"],
        "top_n": 2,
        "return_documents": False,
    },
    "cohere": {"model": "some-model", "documents": ["one", "two"], "top_n": 2},
    "voyage": {
        "model": "some-model",
        "documents": ["one", "two"],
        "top_k": 2,
        "truncation": True,
    },
    "vllm": {
        "model": "some-model",
        "documents": ["one", "two"],
        "top_n": 2,
        "truncate_prompt_tokens": -1,
    },
    "tei": {"texts": ["one", "two"], "truncate": True},
}


def test_the_request_and_the_order_of_each_provider(
    provider: str, endpoint: Endpoint, connect: Connect
) -> None:
    scores = connect(provider).scores(QUERY, ["one", "two", "one", " "])
    assert endpoint.bodies == [{"path": "/v1/rerank", "query": QUERY, **SENT[provider]}]
    one, two = endpoint.score(QUERY, "one"), endpoint.score(QUERY, "two")
    assert scores.tolist() == [one, two, one, 0.0]


def test_batches(provider: str, endpoint: Endpoint, connect: Connect) -> None:
    texts = [f"text {number}" for number in range(70)]
    reranker = connect(provider, "?batch=32&max_characters=6")
    expected = [endpoint.score(QUERY, text[:6]) for text in texts]
    assert reranker.scores(QUERY, texts).tolist() == expected
    names = "texts" if provider == "tei" else "documents"
    assert sorted(len(body[names]) for body in endpoint.bodies) == [6, 32, 32]
    assert reranker.usage[:3] == (3, 0, 70)


def test_blank_queries_are_not_sent(endpoint: Endpoint, connect: Connect) -> None:
    reranker = connect()
    assert reranker.scores(" ", ["one"]).tolist() == [0.0]
    assert reranker.metadata() == {}
    assert not endpoint.bodies


def test_a_busy_endpoint_is_retried(
    provider: str, endpoint: Endpoint, connect: Connect, waits: list[float]
) -> None:
    endpoint.replies = [(429, {"Retry-After": "7"}, b"slow down"), (500, {}, b"oops")]
    reranker = connect(provider)
    assert reranker.scores(QUERY, ["one"]).tolist() == [endpoint.score(QUERY, "one")]
    assert waits == [7, 2]
    assert reranker.usage[:2] == (3, 2)


def test_attempts_are_bounded(endpoint: Endpoint, connect: Connect, waits: list[float]) -> None:
    endpoint.replies = [(503, {}, b"down for repair")] * 9
    with pytest.raises(EngineError, match="status 503: 'down for repair', after 2 attempts"):
        connect(options="?attempts=2").scores(QUERY, ["one"])
    endpoint.replies = [(429, {"Retry-After": "3600"}, b"")]
    with pytest.raises(EngineError, match="Retry-After 3600 s; Karat waits at most 5 s"):
        connect(options="?longest_wait_s=5").scores(QUERY, ["one"])
    assert waits == [1]


def test_the_rate_is_limited(endpoint: Endpoint, connect: Connect, waits: list[float]) -> None:
    reranker = connect(options="?requests_per_minute=2&batch=1&concurrency=1")
    reranker.scores(QUERY, ["one", "two", "three"])
    assert len(endpoint.bodies) == 3
    assert [round(wait) for wait in waits] == [60]


def answered(content: object) -> list[Reply]:
    return [(200, {}, json.dumps(content).encode())]


def results(*items: object) -> list[Reply]:
    return answered({"results": items})


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        ([(401, {}, b'{"detail": "bad key"}')], "status 401: .*bad key"),
        ([(200, {}, b"<!doctype html><title>Login</title>")], "is a web page, not JSON"),
        ([(200, {}, b"fine")], "is not JSON: 'fine'"),
        (answered([]), "has no list of scores"),
        (results(), "has 0 scores; expected 2"),
        (results({"index": 0, "relevance_score": 1}), "has 1 scores; expected 2"),
        (
            results({"index": 1, "relevance_score": 1}, {"index": 1, "relevance_score": 1}),
            r"scores\[1\].index is missing, repeated or not below 2",
        ),
        (
            results({"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 1}),
            r"scores\[1\].index is missing, repeated or not below 2",
        ),
        (
            results({"index": 0, "relevance_score": 1}, {"index": 1}),
            "the score of document 1 is None; expected a finite number",
        ),
        (
            [(200, {}, b'{"results": [{"index": 1, "relevance_score": NaN}, {"index": 0}]}')],
            "the score of document 0 is None",
        ),
        (
            [
                (
                    200,
                    {},
                    b'{"results": [{"index": 1, "relevance_score": NaN}, '
                    b'{"index": 0, "relevance_score": 0.5}]}',
                )
            ],
            "the score of document 1 is nan; expected a finite number",
        ),
    ],
)
def test_wrong_answers(
    endpoint: Endpoint, connect: Connect, replies: list[Reply], message: str
) -> None:
    endpoint.replies = replies
    with pytest.raises(EngineError, match=message):
        connect("vllm").scores(QUERY, ["one", "two"])
    assert len(endpoint.bodies) == 1


def test_cost_by_tokens(endpoint: Endpoint, connect: Connect) -> None:
    for provider in ("jina", "voyage", "vllm"):
        reranker = connect(provider, "?price_per_million_tokens=20")
        reranker.scores(QUERY, ["one two three", "four"])
        # The query has two words and is read with each text.
        assert spent(reranker.metadata()) == (8, 8 * 20 / 1e6, 0), provider
        assert reranker.usage == (1, 0, 2, 8, 8 * 20 / 1e6)


def test_cost_by_searches(connect: Connect) -> None:
    reranker = connect("cohere", "?price_per_1000_searches=2")
    reranker.scores(QUERY, [f"text {number}" for number in range(150)])
    # 100 documents and 50 documents: two search units.
    assert reranker.metadata()["cost"] == pytest.approx(2 * 2 / 1000)
    assert reranker.usage.cost == pytest.approx(2 * 2 / 1000)
    assert connect("cohere").usage.cost is None


def test_nothing_is_posted_twice(
    provider: str, endpoint: Endpoint, connect: Connect, tmp_path: Path
) -> None:
    caches = Caches(tmp_path)
    options = "?price_per_million_tokens=20&price_per_1000_searches=2"
    first = connect(provider, options, caches)
    scores = first.scores(QUERY, PASSAGES)
    posted = len(endpoint.bodies)
    again = connect(provider, options, caches)
    assert np.array_equal(again.scores(QUERY, PASSAGES), scores)
    assert len(endpoint.bodies) == posted
    assert again.usage == (0, 0, 0, 0, 0.0)
    # The cost of a query does not depend on the cache.
    assert spent(again.metadata()).tokens == spent(first.metadata()).tokens
    assert spent(again.metadata()).cost == pytest.approx(spent(first.metadata()).cost)
    again.scores(QUERY, [*PASSAGES, "another text"])
    new = endpoint.bodies[posted]
    assert new["texts" if provider == "tei" else "documents"] == ["another text"]
    # Another query and another model are other scores.
    again.scores("zebra", PASSAGES[:1])
    assert len(endpoint.bodies) == posted + 2


def test_a_failed_batch_does_not_lose_the_others(
    endpoint: Endpoint, connect: Connect, tmp_path: Path
) -> None:
    endpoint.replies = [(400, {}, b"not this text")]
    reranker = connect(options="?batch=1&concurrency=1", caches=Caches(tmp_path))
    with pytest.raises(EngineError, match="not this text"):
        reranker.scores(QUERY, ["one", "two", "three"])
    assert len(endpoint.bodies) == 3
    reranker.scores(QUERY, ["one", "two", "three"])
    assert [body["documents"] for body in endpoint.bodies[3:]] == [["one"]]


def test_cache_can_be_switched_off(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path))
    spec = f"vllm:m@{endpoint.url}"
    for text, posted in [(f"{spec}?cache=false", 2), (spec, 3)]:
        for _ in range(2):
            reranker: Any = create_reranker(text)
            reranker.scores(QUERY, ["one"])
            reranker.close()
        assert len(endpoint.bodies) == posted


def test_keys_go_to_their_host_only(endpoint: Endpoint, connect: Connect) -> None:
    environment = {"JINA_API_KEY": "for Jina only", "KARAT_RERANKER_API_KEY": "mine", "K": "k"}
    connect("jina", environment=environment).scores(QUERY, ["one"])
    connect("jina", "?key_env=K", environment=environment).scores(QUERY, ["one"])
    assert endpoint.keys == ["Bearer mine", "Bearer k"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("jina:jina-reranker-v2-base-multilingual", "set JINA_API_KEY"),
        ("cohere:rerank-v3.5", r"api\.cohere\.com needs an API key; set COHERE_API_KEY"),
        ("voyage:rerank-2.5", "set VOYAGE_API_KEY"),
        ("vllm:some-model", "expected vllm:<model>@<url>"),
        ("vllm:@http://localhost", "expected vllm:<model>@<url>"),
        ("tei:localhost", "expected tei:<url>"),
        ("tei:http://localhost?price=3", "no option 'price'"),
        ("tei:http://localhost?key_env=NO_SUCH_KEY", "set NO_SUCH_KEY"),
    ],
)
def test_configuration_errors_come_first(
    spec: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("JINA_API_KEY", "COHERE_API_KEY", "VOYAGE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(InputError, match=message):
        check_reranker(spec)
    with pytest.raises(InputError, match=message):
        build({"engine": "rerank", "model": spec})


def test_an_engine_reports_the_cost_of_its_reranker(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path))
    endpoint.provider = "cohere"
    model = {
        "provider": "cohere",
        "model": "some-model",
        "url": endpoint.url,
        "price_per_1000_searches": 2.0,
    }
    engine: Any = build({"engine": "rerank", "over": "bm25", "model": model, "depth": 3})
    engine.index(from_texts(DOCUMENTS))
    hits = engine.search(QUERY, 3)
    (body,) = endpoint.bodies
    assert len(body["documents"]) == len(hits)
    best = max(body["documents"], key=lambda text: endpoint.score(QUERY, text))
    assert best.startswith(hits[0].path)
    assert spent(engine.metadata()).cost == pytest.approx(0.002)
    assert list(engine.phases_ns()) == ["retrieve", "rerank"]
    # The latency of a cached score is not that of the endpoint.
    assert engine.search(QUERY, 3) == hits
    assert list(engine.phases_ns()) == ["retrieve", "rerank from cache"]
    assert len(endpoint.bodies) == 1
    engine.close()
    with pytest.raises(InputError, match="provider is 'nobody'; expected one of openai, jina"):
        build({"engine": "rerank", "model": {"provider": "nobody"}})
