"""Embeddings behind an HTTP endpoint: OpenAI, Jina, Cohere, Voyage, vLLM, TEI, Ollama."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from karat.engines.embedding.base import Embedder, Kind, PartlyEmbedded, Usage
from karat.engines.embedding.texts import Vectors, embed_distinct, unit
from karat.errors import EngineError
from karat.extensions.llm.http import Poster, read_json
from karat.extensions.models.endpoint import (
    Endpoint,
    EndpointOptions,
    Spending,
    batches,
    by_index,
    estimated_tokens,
    open_poster,
    parse_endpoint,
)
from karat.model.timings import QueryCost

if TYPE_CHECKING:
    import httpx


OTHER_KEY = "KARAT_EMBEDDING_API_KEY"
# Hosts that OpenAI's shape reaches too, and that embed queries and documents differently if the
# request names the kind.
TOLD_THE_KIND = "https://api.voyageai.com/"
# A request may hold 300,000 tokens at OpenAI, 120,000 at Voyage.
CHARACTERS_A_REQUEST = 200_000


class EmbedderOptions(EndpointOptions):
    """The options of a remote embedder.

    *dimension* is the length of a vector, which one request finds otherwise; *send_dimension* asks
    the endpoint for vectors of that length. *task* is the first part of Jina's task, such as
    ``retrieval`` or ``nl2code``. *prefixes* go before each text of a kind, in Python only.
    """

    dimension: int | None = Field(default=None, ge=1, le=100_000)
    send_dimension: bool = False
    task: str = Field(default="retrieval", pattern=r"^[A-Za-z0-9._-]+$")
    max_characters: int = Field(default=32_000, ge=1)
    prefixes: Mapping[Kind, str] = Field(default_factory=dict)


class EmbeddingRequest(NamedTuple):
    """The texts of one request, of one kind."""

    endpoint: Endpoint[EmbedderOptions]
    texts: list[str]
    kind: Kind

    @property
    def dimension(self) -> int | None:
        """Return the length to ask for, None for that of the model."""
        options = self.endpoint.options
        return options.dimension if options.send_dimension else None


class EmbeddingShape(NamedTuple):
    """The API of a provider: path, body, rows of an answer, and texts per request."""

    path: str
    body: Callable[[EmbeddingRequest], dict[str, object]]
    rows: Callable[[Any, int, str], list[Any]]
    most_texts: int = 128


def _openai_body(request: EmbeddingRequest) -> dict[str, object]:
    body: dict[str, object] = {"model": request.endpoint.model, "input": request.texts}
    if request.dimension:
        body["dimensions"] = request.dimension
    if request.endpoint.url.startswith(TOLD_THE_KIND):
        body["input_type"] = request.kind
    return body


def _vllm_body(request: EmbeddingRequest) -> dict[str, object]:
    # -1 cuts a text at the limit of the model; without it a long text is an error.
    return {**_openai_body(request), "truncate_prompt_tokens": -1}


def _jina_body(request: EmbeddingRequest) -> dict[str, object]:
    side = "query" if request.kind == "query" else "passage"
    task = f"{request.endpoint.options.task}.{side}"
    return {**_openai_body(request), "task": task, "truncate": True}


def _voyage_body(request: EmbeddingRequest) -> dict[str, object]:
    body: dict[str, object] = {
        "model": request.endpoint.model,
        "input": request.texts,
        "input_type": request.kind,
        "truncation": True,
    }
    return {**body, "output_dimension": request.dimension} if request.dimension else body


def _cohere_body(request: EmbeddingRequest) -> dict[str, object]:
    body: dict[str, object] = {
        "model": request.endpoint.model,
        "texts": request.texts,
        "input_type": f"search_{request.kind}",
        "embedding_types": ["float"],
        "truncate": "END",
    }
    return {**body, "output_dimension": request.dimension} if request.dimension else body


def _tei_body(request: EmbeddingRequest) -> dict[str, object]:
    body: dict[str, object] = {"inputs": request.texts, "truncate": True}
    return {**body, "dimensions": request.dimension} if request.dimension else body


def _data_rows(body: Any, count: int, where: str) -> list[Any]:
    items = body.get("data") if isinstance(body, dict) else None
    if not isinstance(items, list):
        raise EngineError(f"{where}: the response has no list 'data'")
    return by_index(items, "embedding", count=count, noun="embeddings", where=where)


def _cohere_rows(body: Any, count: int, where: str) -> list[Any]:
    by_type = body.get("embeddings") if isinstance(body, dict) else None
    return _plain_rows(by_type.get("float") if isinstance(by_type, dict) else None, count, where)


def _plain_rows(rows: Any, count: int, where: str) -> list[Any]:
    if not isinstance(rows, list):
        raise EngineError(f"{where}: the response has no list of embeddings")
    if len(rows) != count:
        raise EngineError(f"{where}: the response has {len(rows)} embeddings; expected {count}")
    return rows


SHAPES: Mapping[str, EmbeddingShape] = {
    "openai": EmbeddingShape("/embeddings", _openai_body, _data_rows),
    "jina": EmbeddingShape("/embeddings", _jina_body, _data_rows),
    "voyage": EmbeddingShape("/embeddings", _voyage_body, _data_rows),
    # Cohere accepts 96 texts; 32 is the default limit of a TEI server.
    "cohere": EmbeddingShape("/embed", _cohere_body, _cohere_rows, most_texts=96),
    "vllm": EmbeddingShape("/embeddings", _vllm_body, _data_rows),
    "tei": EmbeddingShape("/embed", _tei_body, _plain_rows, most_texts=32),
}


def _matrix(rows: list[Any], dimension: int | None, where: str) -> NDArray[np.float32]:
    try:
        matrix = np.array(rows, dtype=np.float32)
    except (TypeError, ValueError):
        matrix = np.empty(0, np.float32)
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise EngineError(f"{where}: the embeddings are not lists of numbers of one length")
    if dimension is not None and matrix.shape[1] != dimension:
        raise EngineError(
            f"{where}: the embeddings have {matrix.shape[1]} dimensions; expected {dimension}"
        )
    if not np.isfinite(matrix).all():
        raise EngineError(f"{where}: an embedding has a number that is not finite")
    return matrix


def used_tokens(body: Any) -> int:
    """Return the tokens that an answer reports; 0 if it reports none.

    >>> used_tokens({"usage": {"prompt_tokens": 7}}), used_tokens([[0.5]])
    (7, 0)
    >>> used_tokens({"meta": {"billed_units": {"input_tokens": 9}}})
    9
    """
    if not isinstance(body, dict):
        return 0
    usage, meta = body.get("usage"), body.get("meta")
    billed = meta.get("billed_units") if isinstance(meta, dict) else None
    names = ("total_tokens", "prompt_tokens", "input_tokens")
    counts = [
        each.get(name) for each in (usage, billed) if isinstance(each, dict) for name in names
    ]
    known = (int(count) for count in counts if isinstance(count, int | float) and count > 0)
    return next(known, 0)


class RemoteEmbedder(Embedder):
    """Posts batches of texts to an endpoint.

    The endpoint may change its weights unseen; the digest holds the address, the model and the
    settings only. It does not say how many tokens of a text count.
    """

    is_remote = True

    def __init__(
        self, endpoint: Endpoint[EmbedderOptions], shape: EmbeddingShape, poster: Poster
    ) -> None:
        """Embed with the model of *endpoint* through *poster*."""
        self.name = endpoint.spec
        self.digest = _digest(endpoint, poster.url)
        self._endpoint = endpoint
        self._options = endpoint.options
        self._shape = shape
        self._poster = poster
        self._dimension = endpoint.options.dimension
        self._spending = Spending()
        self._most_texts = endpoint.options.batch or shape.most_texts
        self.texts_at_once = self._most_texts * endpoint.options.concurrency

    @property
    def dimension(self) -> int:
        """Return the length of a row; one request finds it if it was not configured."""
        if self._dimension is None:
            self._dimension = self._post(["dimension"], "document").rows.shape[1]
        return self._dimension

    @property
    def usage(self) -> Usage:
        """Return the usage so far."""
        spent = self._spending
        cost = None if self._options.price_per_million_tokens is None else spent.cost
        return Usage(self._poster.requests, self._poster.retries, spent.texts, spent.tokens, cost)

    def metadata(self) -> Mapping[str, object]:
        """Return the tokens and the cost of the last ``embed`` of this thread."""
        return self._spending.metadata()

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Return one row of length 1 per text."""
        filled = any(text.strip() for text in texts)
        dimension = self.dimension if filled else self._dimension or 0
        posted: list[EmbeddedBatch] = []

        def request(some: list[str]) -> Vectors:
            posted.extend(self._post_all(some, kind))
            return np.concatenate([each.rows for each in posted])

        rows = embed_distinct(texts, dimension, request)
        tokens = sum(each.tokens for each in posted)
        self._spending.finish(QueryCost(tokens or None, self._cost(tokens)))
        return rows

    def close(self) -> None:
        """Close the connections."""
        self._poster.close()

    def _post_all(self, texts: list[str], kind: Kind) -> "list[EmbeddedBatch]":
        split = list(
            batches(
                texts,
                most_texts=self._most_texts,
                most_characters=CHARACTERS_A_REQUEST,
                cut=self._options.max_characters,
            )
        )
        if len(split) == 1:
            return [self._post(split[0], kind)]
        done: list[EmbeddedBatch] = []
        rows: dict[str, Vectors] = {}
        failures: list[EngineError] = []
        remaining = iter(texts)
        with ThreadPoolExecutor(min(self._options.concurrency, len(split))) as threads:
            for batch, job in [(each, threads.submit(self._post, each, kind)) for each in split]:
                whole = list(islice(remaining, len(batch)))
                try:
                    done.append(job.result())
                except EngineError as error:
                    failures.append(error)
                else:
                    rows.update(zip(whole, done[-1].rows, strict=True))
        if failures:
            # The others are paid for: a cache can store them.
            raise PartlyEmbedded(str(failures[0]), rows) from failures[0]
        return done

    def _cost(self, tokens: int) -> float | None:
        price = self._options.price_per_million_tokens
        return None if price is None else price * tokens / 1e6

    def _post(self, texts: list[str], kind: Kind) -> "EmbeddedBatch":
        where, prefix = self._poster.url, self._options.prefixes.get(kind, "")
        request = EmbeddingRequest(self._endpoint, [prefix + text for text in texts], kind)
        tokens = estimated_tokens(request.texts)
        body = read_json(self._poster.post(self._shape.body(request), tokens=tokens), where)
        rows = _matrix(self._shape.rows(body, len(texts), where), self._dimension, where)
        used = used_tokens(body)
        self._spending.add(texts=len(texts), tokens=used, cost=self._cost(used) or 0.0)
        return EmbeddedBatch(unit(rows), used)


def _digest(endpoint: Endpoint[EmbedderOptions], url: str) -> str:
    """Return the identity of address, model and settings."""
    options, provider = endpoint.options, endpoint.provider.name
    sent = options.send_dimension and options.dimension
    asked = {"dimensions": options.dimension} if sent else {}
    prefixes = sorted(options.prefixes.items())
    told = endpoint.url.startswith(TOLD_THE_KIND)
    settings: tuple[object, ...] = (url, endpoint.model, asked, prefixes)
    settings += (told, options.max_characters)
    if provider != "openai":
        settings += (provider, options.task)
    return sha256(repr(settings).encode()).hexdigest()


class EmbeddedBatch(NamedTuple):
    """The rows of one request, and the tokens that the endpoint counted."""

    rows: Vectors
    tokens: int


class RemoteEmbedderFactory:
    """Creates embedders of one provider from ``<model>@<url>?<options>``.

    The key comes from the variable of the provider, such as OPENAI_API_KEY, where the host is the
    provider's own, and from KARAT_EMBEDDING_API_KEY, where set, for any other host.
    """

    is_remote = True

    def __init__(self, provider: str) -> None:
        """Store the name of the *provider*."""
        self.provider = provider

    def check(self, argument: str, environment: Mapping[str, str] = os.environ) -> None:
        """Raise InputError for a wrong specification or a missing key; nothing is connected."""
        parse_endpoint(self.provider, argument, EmbedderOptions).key(OTHER_KEY, environment)

    def __call__(
        self,
        argument: str,
        *,
        environment: Mapping[str, str] = os.environ,
        sleep: Callable[[float], None] = time.sleep,
        transport: "httpx.BaseTransport | None" = None,
        **options: object,
    ) -> RemoteEmbedder:
        """Return the embedder; *options* are those of :class:`EmbedderOptions`."""
        endpoint = parse_endpoint(self.provider, argument, EmbedderOptions, options)
        shape = SHAPES[self.provider]
        poster = open_poster(
            endpoint,
            shape.path,
            purpose="embedding over HTTP",
            other_env=OTHER_KEY,
            environment=environment,
            sleep=sleep,
            transport=transport,
        )
        return RemoteEmbedder(endpoint, shape, poster)


openai = RemoteEmbedderFactory("openai")
jina = RemoteEmbedderFactory("jina")
cohere = RemoteEmbedderFactory("cohere")
voyage = RemoteEmbedderFactory("voyage")
vllm = RemoteEmbedderFactory("vllm")
tei = RemoteEmbedderFactory("tei")
