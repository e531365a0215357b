"""Against a server of our own, in this process: no network, no waiting."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from karat.corpus import from_texts
from karat.engines.chunked import ChunkEngine
from karat.engines.embedding import create_embedder
from karat.engines.embedding.texts import CachedEmbedder, EmbeddingCache
from karat.engines.spec import build
from karat.errors import EngineError, InputError
from karat.extensions.models.remote_embedder import RemoteEmbedder
from karat.model.timings import spent
from karat.testing.engines import DOCUMENTS, EmbedderSuite
from tests.embedding_endpoint import Endpoint, Reply, serving

pytest.importorskip("httpx")
pytest.importorskip("tenacity")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as served:
        yield served


Connect = Callable[..., RemoteEmbedder]


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def connect(endpoint: Endpoint, waits: list[float]) -> Iterator[Connect]:
    opened: list[RemoteEmbedder] = []

    def connected(**options: Any) -> RemoteEmbedder:
        options = {"environment": {}, "sleep": waits.append, "timeout_s": 10.0, **options}
        embedder = create_embedder(f"openai:some-model@{endpoint.url}", **options)
        assert isinstance(embedder, RemoteEmbedder)
        opened.append(embedder)
        return embedder

    yield connected
    for embedder in opened:
        embedder.close()


class TestRemote(EmbedderSuite):
    @pytest.fixture
    def embedder(self, connect: Connect) -> RemoteEmbedder:
        return connect()


def test_what_is_sent(endpoint: Endpoint, connect: Connect) -> None:
    key = {"KARAT_EMBEDDING_API_KEY": "secret", "OPENAI_API_KEY": "for OpenAI only"}
    embedder = connect(
        environment=key, dimension=6, send_dimension=True, prefixes={"query": "query: "}
    )
    embedder.embed(["find it"], kind="query")
    assert endpoint.bodies == [
        {
            "path": "/v1/embeddings",
            "model": "some-model",
            "input": ["query: find it"],
            "dimensions": 6,
        }
    ]
    assert endpoint.keys == ["Bearer secret"]


def test_batches_and_usage(endpoint: Endpoint, connect: Connect) -> None:
    embedder = connect(dimension=6, price_per_million_tokens=2.0)
    texts = [f"text {number}" for number in range(300)]
    rows = embedder.embed([*texts, "", texts[0]])
    assert sorted(len(body["input"]) for body in endpoint.bodies) == [44, 128, 128]
    expected = np.array([endpoint.row(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(rows[:300], expected, atol=1e-6)
    assert embedder.usage[:4] == (3, 0, 300, 600)
    assert embedder.usage.cost == pytest.approx(600 * 2.0 / 1e6)
    assert connect(dimension=6).usage.cost is None


def test_long_texts_are_cut_and_split(endpoint: Endpoint, connect: Connect) -> None:
    connect(dimension=6, max_characters=50_000).embed([c * 70_000 for c in "abcde"])
    sizes = sorted([len(text) for text in body["input"]] for body in endpoint.bodies)
    assert sizes == [[50_000], [50_000] * 4]


def test_a_busy_endpoint_is_asked_again(
    endpoint: Endpoint, connect: Connect, waits: list[float]
) -> None:
    endpoint.replies = [
        (429, {"Retry-After": "7"}, b"slow down"),
        (503, {}, b""),
        (500, {}, b"oops"),
    ]
    embedder = connect(dimension=6)
    assert embedder.embed(["a"]).any()
    assert waits == [7, 2, 4]
    assert embedder.usage[:3] == (4, 3, 1)


def test_patience_is_bounded(endpoint: Endpoint, connect: Connect, waits: list[float]) -> None:
    endpoint.replies = [(503, {}, b"down for repair")] * 9
    with pytest.raises(EngineError, match="status 503: 'down for repair', after 3 attempts"):
        connect(attempts=3).embed(["a"])
    assert waits == [1, 2]
    endpoint.replies = [(429, {"Retry-After": "3600"}, b"")]
    with pytest.raises(EngineError, match="Retry-After 3600 s; Karat waits at most 60 s"):
        connect().embed(["a"])
    assert waits == [1, 2]


def test_nobody_there(connect: Connect, waits: list[float]) -> None:
    embedder = create_embedder(
        "openai:m@http://127.0.0.1:9", environment={}, sleep=waits.append, attempts=2
    )
    with pytest.raises(EngineError, match=r"no answer \(ConnectError.*after 2 attempts"):
        embedder.embed(["a"])
    assert isinstance(embedder, RemoteEmbedder)
    embedder.close()


def answered(content: object) -> list[Reply]:
    return [(200, {}, json.dumps(content).encode())]


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        ([(401, {}, b'{"error": "bad key"}')], "status 401: .*bad key"),
        ([(200, {}, b"<!doctype html><title>Login</title>")], "is a web page, not JSON"),
        ([(200, {}, b"fine")], "is not JSON: 'fine'"),
        (answered([]), "has no list 'data'"),
        (answered({"data": []}), "has 0 embeddings; expected 1"),
        (
            answered({"data": [{"index": 4, "embedding": [1]}]}),
            ".index is missing, repeated or not below",
        ),
        (answered({"data": ["x"]}), ".index is missing, repeated or not below"),
        (answered({"data": [{"embedding": "AAAA"}]}), "not lists of numbers"),
        (answered({"data": [{"embedding": [1, 2, 3]}]}), "have 3 dimensions; expected 6"),
        ([(200, {}, b'{"data": [{"embedding": [1,2,3,4,5,1e999]}]}')], "not finite"),
    ],
)
def test_answers_that_are_none(
    endpoint: Endpoint, connect: Connect, replies: list[Reply], message: str
) -> None:
    endpoint.replies = replies
    with pytest.raises(EngineError, match=message):
        connect(dimension=6).embed(["a"])
    assert len(endpoint.bodies) == 1


def test_a_dimension_that_changes_is_refused(endpoint: Endpoint, connect: Connect) -> None:
    embedder = connect()
    assert embedder.dimension == 6
    endpoint.dimension = 5
    with pytest.raises(EngineError, match="have 5 dimensions; expected 6"):
        embedder.embed(["a"])


def test_specifications(endpoint: Endpoint, connect: Connect) -> None:
    for spec in ("openai", "openai:@http://host", "openai:m@httpx", "openai:m@http://"):
        with pytest.raises(InputError, match="expected openai:<model>@<url>"):
            create_embedder(spec, environment={"OPENAI_API_KEY": "k"})
    with pytest.raises(InputError, match=r"api\.openai\.com needs an API key; set OPENAI_API_KEY"):
        create_embedder("openai:text-embedding-3-small", environment={})
    with pytest.raises(InputError, match="set VOYAGE_API_KEY"):
        create_embedder("openai:voyage-4@https://api.voyageai.com/v1", environment={})
    assert connect().digest == connect().digest
    assert connect().digest != connect(prefixes={"query": "q: "}).digest


def test_voyage_is_told_the_kind() -> None:
    import httpx

    seen: list[dict[str, Any]] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(json.loads(request.content))
        return httpx.Response(200, json={"data": [{"embedding": [0.0, 2.0]}]})

    embedder = create_embedder(
        "openai:voyage-4@https://api.voyageai.com/v1",
        environment={"VOYAGE_API_KEY": "k"},
        dimension=2,
        transport=httpx.MockTransport(handle),
    )
    assert embedder.embed(["a"], kind="query").tolist() == [[0, 1]]
    assert seen == [{"model": "voyage-4", "input": ["a"], "input_type": "query"}]


PROVIDERS = ["jina", "cohere", "voyage", "vllm", "tei"]


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def connected(endpoint: Endpoint) -> Iterator[Connect]:
    opened: list[RemoteEmbedder] = []

    def made(provider: str, **options: Any) -> RemoteEmbedder:
        model = "" if provider == "tei" else "some-model@"
        options = {"environment": {}, "sleep": lambda _: None, **options}
        embedder = create_embedder(f"{provider}:{model}{endpoint.url}", **options)
        assert isinstance(embedder, RemoteEmbedder)
        opened.append(embedder)
        return embedder

    yield made
    for embedder in opened:
        embedder.close()


class TestProviders(EmbedderSuite):
    @pytest.fixture
    def embedder(self, provider: str, connected: Connect) -> RemoteEmbedder:
        return connected(provider)

    def test_rows_are_those_of_the_endpoint(
        self, embedder: RemoteEmbedder, endpoint: Endpoint
    ) -> None:
        texts = [f"text {number}" for number in range(200)]
        expected = np.array([endpoint.row(text) for text in texts])
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        assert np.allclose(embedder.embed(texts), expected, atol=1e-6)


SENT: dict[str, dict[str, Any]] = {
    "jina": {
        "path": "/v1/embeddings",
        "model": "some-model",
        "input": ["a"],
        "task": "retrieval.query",
        "truncate": True,
        "dimensions": 6,
    },
    "cohere": {
        "path": "/v1/embed",
        "model": "some-model",
        "texts": ["a"],
        "input_type": "search_query",
        "embedding_types": ["float"],
        "truncate": "END",
        "output_dimension": 6,
    },
    "voyage": {
        "path": "/v1/embeddings",
        "model": "some-model",
        "input": ["a"],
        "input_type": "query",
        "truncation": True,
        "output_dimension": 6,
    },
    "vllm": {
        "path": "/v1/embeddings",
        "model": "some-model",
        "input": ["a"],
        "dimensions": 6,
        "truncate_prompt_tokens": -1,
    },
    "tei": {"path": "/v1/embed", "inputs": ["a"], "truncate": True, "dimensions": 6},
}


def test_the_request_of_each_provider(
    provider: str, endpoint: Endpoint, connected: Connect
) -> None:
    connected(provider, dimension=6, send_dimension=True).embed(["a"], "query")
    assert endpoint.bodies == [SENT[provider]]


def test_documents_and_tasks_are_named(endpoint: Endpoint, connected: Connect) -> None:
    connected("jina", dimension=6, task="nl2code").embed(["a"])
    connected("cohere", dimension=6).embed(["a"])
    connected("voyage", dimension=6).embed(["a"])
    jina, cohere, voyage = endpoint.bodies
    assert jina["task"] == "nl2code.passage"
    assert cohere["input_type"] == "search_document"
    assert voyage["input_type"] == "document"


def test_tokens_and_cost_of_a_call(provider: str, connected: Connect) -> None:
    embedder = connected(provider, dimension=6, price_per_million_tokens=0.5)
    embedder.embed(["one two three", "four", "four"])
    # TEI reports no tokens.
    tokens = 0 if provider == "tei" else 4
    assert embedder.usage == (1, 0, 2, tokens, tokens * 0.5 / 1e6)
    assert embedder.metadata().get("tokens", 0) == tokens
    assert embedder.metadata()["cost"] == tokens * 0.5 / 1e6


def test_options_in_the_specification(endpoint: Endpoint) -> None:
    spec = f"vllm:m@{endpoint.url}?batch=2&dimension=6&key_env=MY_KEY&concurrency=1"
    embedder = create_embedder(spec, environment={"MY_KEY": "secret"})
    assert isinstance(embedder, RemoteEmbedder)
    embedder.embed(["a", "b", "c"])
    embedder.close()
    assert [len(body["input"]) for body in endpoint.bodies] == [2, 1]
    assert endpoint.keys == ["Bearer secret"] * 2
    with pytest.raises(InputError, match="set MY_KEY"):
        create_embedder(spec, environment={})
    with pytest.raises(InputError, match="no option 'bach'; did you mean 'batch'"):
        create_embedder(f"vllm:m@{endpoint.url}?bach=2")
    with pytest.raises(InputError, match="batch: Input should be greater than or equal to 1"):
        create_embedder(f"vllm:m@{endpoint.url}?batch=0")
    with pytest.raises(InputError, match="an option is given twice"):
        create_embedder(f"vllm:m@{endpoint.url}?batch=2&batch=3")


@pytest.mark.parametrize(
    ("spec", "variable"),
    [
        ("jina:jina-embeddings-v3", "JINA_API_KEY"),
        ("cohere:embed-v4.0", "COHERE_API_KEY"),
        ("voyage:voyage-code-3", "VOYAGE_API_KEY"),
    ],
)
def test_a_missing_key_is_named_before_anything_is_sent(spec: str, variable: str) -> None:
    with pytest.raises(InputError, match=f"needs an API key; set {variable}"):
        create_embedder(spec, environment={})


@pytest.mark.parametrize(
    ("provider", "content", "message"),
    [
        ("cohere", {"embeddings": [[1.0]]}, "has no list of embeddings"),
        ("cohere", {"embeddings": {"float": []}}, "has 0 embeddings; expected 1"),
        ("tei", {"error": "no"}, "has no list of embeddings"),
        ("tei", [[1.0], [2.0]], "has 2 embeddings; expected 1"),
        ("tei", [["x"]], "not lists of numbers"),
    ],
)
def test_wrong_answers_of_other_shapes(
    endpoint: Endpoint, connected: Connect, provider: str, content: object, message: str
) -> None:
    endpoint.replies = answered(content)
    with pytest.raises(EngineError, match=message):
        connected(provider, dimension=1).embed(["a"])


def test_an_engine_reports_the_cost_of_its_queries(endpoint: Endpoint) -> None:
    spec = f"vllm:m@{endpoint.url}?price_per_million_tokens=10"
    engine = build({"engine": "dense", "model": spec, "cache": False})
    assert isinstance(engine, ChunkEngine)
    assert not endpoint.bodies
    engine.index(from_texts(DOCUMENTS))
    sent = [text for body in endpoint.bodies for text in body["input"]]
    tokens = sum(len(text.split()) for text in sent)
    work = engine.work()
    # One request more has found the dimension.
    assert (work["embedded"], work["embedding_tokens"]) == (len(sent) - 1, tokens)
    assert work["embedding_cost"] == pytest.approx(tokens * 10 / 1e6)
    engine.search("login password", 5)
    assert spent(engine.metadata()) == (2, 2 * 10 / 1e6, 0)
    # Queries that are embedded together share the cost.
    engine.expect(["one", "two three four"])
    engine.search("one", 5)
    assert spent(engine.metadata()) == (2, 2 * 10 / 1e6, 0)
    engine.close()


def test_processes_that_index_at_once_embed_once(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Threads stand for processes here: each engine has an embedder and connections of its own.
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path))
    spec = f"vllm:m@{endpoint.url}?dimension=6&batch=1&concurrency=1"
    engines = [build({"engine": "dense", "model": spec}) for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda engine: engine.index(from_texts(DOCUMENTS)), engines))
    texts = [text for body in endpoint.bodies for text in body["input"]]
    assert len(texts) == len(set(texts))
    for engine in engines:
        assert isinstance(engine, ChunkEngine)
        engine.close()


@pytest.mark.parametrize("origin", ["http://api.openai.com", "https://api.openai.com:8443"])
def test_the_key_of_a_provider_is_never_sent_in_clear_text(origin: str) -> None:
    environment = {"OPENAI_API_KEY": "sk-secret", "KARAT_EMBEDDING_API_KEY": "ours"}
    with pytest.raises(InputError, match=r"only by https to port 443; use https://api\.openai"):
        create_embedder(f"openai:m@{origin}/v1", environment=environment)
    create_embedder("openai:m@https://api.openai.com:443/v1", environment=environment)
    # An explicit variable is sent anywhere.
    proxied = f"openai:m@{origin}/v1?key_env=OPENAI_API_KEY"
    create_embedder(proxied, environment=environment)


@pytest.mark.parametrize(
    "spec",
    [
        "tei:http://me:passw0rd@gpu:8080",
        "vllm:m@http://me:passw0rd@gpu/v1?batch=8",
        "vllm:m@http://passw0rd@gpu/v1?bach=8",
        "openai:m@https://me:passw0rd?@gpu/v1",
    ],
)
def test_a_password_in_a_url_is_refused_and_not_shown(spec: str) -> None:
    with pytest.raises(InputError, match="put the key into KARAT_EMBEDDING_API_KEY") as caught:
        create_embedder(spec, environment={})
    assert "passw0rd" not in str(caught.value)


@pytest.mark.parametrize("host", ["gpu:port", "gpu:99999", "[::1"])
def test_an_invalid_host_or_port_is_named(host: str) -> None:
    with pytest.raises(InputError, match="expected tei:<url>, such as"):
        create_embedder(f"tei:http://{host}", environment={})


def test_batches_beside_one_that_fails_are_not_paid_for_twice(
    endpoint: Endpoint, connect: Connect, tmp_path: Path
) -> None:
    texts = ["one two three", "two", "bad", "four", "five"]
    endpoint.refused = "bad"
    options = {"dimension": 6, "batch": 2, "concurrency": 2, "max_characters": 5}
    with EmbeddingCache(tmp_path / "vectors.sqlite") as cache:
        with pytest.raises(EngineError, match="status 400: 'not this text'"):
            CachedEmbedder(connect(**options), cache).embed(texts)
        endpoint.refused = ""
        endpoint.bodies.clear()
        rows = CachedEmbedder(connect(**options), cache).embed(texts)
    assert [body["input"] for body in endpoint.bodies] == [["bad", "four"]]
    assert np.array_equal(rows, connect(**options).embed(texts))
