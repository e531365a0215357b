"""Rerankers behind an HTTP endpoint: Jina, Cohere, Voyage, vLLM and TEI."""

import math
import os
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import islice
from threading import local
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from karat.engines.caches import Caches, user_caches
from karat.engines.embedding.base import Usage
from karat.engines.embedding.texts import embeddable
from karat.engines.rerank.base import Reranker
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
from karat.extensions.models.remote_embedder import used_tokens
from karat.model.timings import QueryCost

if TYPE_CHECKING:
    import httpx


OTHER_KEY = "KARAT_RERANKER_API_KEY"
# About 250,000 tokens; Voyage accepts 600,000 in one request.
CHARACTERS_A_REQUEST = 1_000_000


class RerankerOptions(EndpointOptions):
    """The options of a remote reranker.

    *price_per_1000_searches* is for providers that bill search units, such as Cohere. With *cache*
    False every score is requested again, so that the latency is that of the endpoint.
    """

    price_per_1000_searches: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_characters: int = Field(default=8_000, ge=1)
    cache: bool = True


class RerankRequest(NamedTuple):
    """A query with the texts of one request."""

    model: str
    query: str
    texts: list[str]


class RerankShape(NamedTuple):
    """The API of a provider: body, fields of results and scores, and texts per request.

    An empty *results* means that the answer is itself the list.
    """

    body: Callable[[RerankRequest], dict[str, object]]
    results: str = "results"
    score: str = "relevance_score"
    most_texts: int = 100


def _common_body(request: RerankRequest) -> dict[str, object]:
    return {
        "model": request.model,
        "query": request.query,
        "documents": request.texts,
        "top_n": len(request.texts),
    }


def _jina_body(request: RerankRequest) -> dict[str, object]:
    return {**_common_body(request), "return_documents": False}


def _vllm_body(request: RerankRequest) -> dict[str, object]:
    # -1 cuts a pair at the limit of the model; without it a long text is an error.
    return {**_common_body(request), "truncate_prompt_tokens": -1}


def _voyage_body(request: RerankRequest) -> dict[str, object]:
    return {
        "model": request.model,
        "query": request.query,
        "documents": request.texts,
        "top_k": len(request.texts),
        "truncation": True,
    }


def _tei_body(request: RerankRequest) -> dict[str, object]:
    return {"query": request.query, "texts": request.texts, "truncate": True}


SHAPES: Mapping[str, RerankShape] = {
    "jina": RerankShape(_jina_body),
    # A search unit of Cohere is a query with up to 100 documents.
    "cohere": RerankShape(_common_body),
    "voyage": RerankShape(_voyage_body, results="data"),
    "vllm": RerankShape(_vllm_body),
    # 32 is the default limit of a TEI server.
    "tei": RerankShape(_tei_body, results="", score="score", most_texts=32),
}


class ScoreCost(NamedTuple):
    """The score of a text, and its share of the tokens and search units of its request."""

    score: float
    tokens: float
    units: float


STORED = struct.Struct("<3d")


def score_key(digest: str, query: str, text: str) -> bytes:
    """Return the key of a score: equal endpoint, model, settings, query and text have equal keys.

    The length of the query keeps two pairs apart that only split one text at different places.
    """
    pair = f"{digest}\0{len(query)}\0{query}{text}"
    return sha256(pair.encode("utf-8", "surrogatepass")).digest()


class RemoteReranker(Reranker):
    """Posts a query with batches of texts to an endpoint, several batches at once.

    Scores are cached on disk by endpoint, model, query and text. A score from the cache counts with
    the tokens that it cost when it was requested, so that the cost of a query does not depend on
    the cache; ``usage`` counts only what this process posted. A blank query or text scores 0 and is
    not sent.
    """

    # It has read the text, which the first search has not.
    weight = 1.0

    def __init__(
        self,
        endpoint: Endpoint[RerankerOptions],
        shape: RerankShape,
        poster: Poster,
        *,
        caches: Caches,
    ) -> None:
        """Score with the model of *endpoint* through *poster*."""
        self.name = endpoint.spec
        self._endpoint = endpoint
        self._options = endpoint.options
        self._shape = shape
        self._poster = poster
        self._caches = caches
        self._spending = Spending()
        self._last = local()
        settings = (endpoint.provider.name, poster.url, endpoint.model)
        limits = (self._options.max_characters,)
        self._digest = sha256(repr((*settings, *limits)).encode()).hexdigest()

    @property
    def usage(self) -> Usage:
        """Return what this process has posted so far."""
        spent = self._spending
        cost = spent.cost if self._has_price else None
        return Usage(self._poster.requests, self._poster.retries, spent.texts, spent.tokens, cost)

    def metadata(self) -> Mapping[str, object]:
        """Return the tokens and the cost of the last ``scores`` of this thread."""
        return self._spending.metadata()

    def from_cache(self) -> bool:
        """Return whether the last ``scores`` of this thread posted nothing."""
        return bool(getattr(self._last, "is_cached", False))

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of the endpoint for each text."""
        asked = embeddable(query)
        cleaned = [embeddable(text) for text in texts]
        distinct = list(dict.fromkeys(text for text in cleaned if text.strip()))
        known = self._known(asked, distinct) if asked.strip() else {}
        tokens = round(sum(each.tokens for each in known.values()))
        units = sum(each.units for each in known.values())
        self._spending.finish(QueryCost(tokens or None, self._cost(tokens, units)))
        nothing = ScoreCost(0.0, 0.0, 0.0)
        return np.array([known.get(text, nothing).score for text in cleaned], np.float64)

    def close(self) -> None:
        """Close the connections."""
        self._poster.close()

    def _known(self, query: str, texts: list[str]) -> dict[str, ScoreCost]:
        """Return the scores of *texts*; those that the cache lacks are requested and stored."""
        keys = {text: score_key(self._digest, query, text) for text in texts}
        with self._caches.scores() as cache:
            stored = {} if cache is None else cache.get(list(keys.values()))
            known = {
                text: ScoreCost(*STORED.unpack(stored[key]))
                for text, key in keys.items()
                if len(stored.get(key, b"")) == STORED.size
            }
            self._last.is_cached = len(known) == len(texts)
            for new in self._requested(query, [text for text in texts if text not in known]):
                # Each batch at once: one that fails does not make the others be paid twice.
                if cache is not None:
                    cache.put({keys[text]: STORED.pack(*scored) for text, scored in new.items()})
                known |= new
        return known

    def _requested(self, query: str, texts: list[str]) -> Iterator[dict[str, ScoreCost]]:
        """Yield the scores of *texts*, batch by batch; the first failure is raised at the end."""
        split = batches(
            texts,
            most_texts=self._options.batch or self._shape.most_texts,
            most_characters=CHARACTERS_A_REQUEST,
            cut=self._options.max_characters,
        )
        remaining = iter(texts)
        failures: list[EngineError] = []
        with ThreadPoolExecutor(self._options.concurrency) as threads:
            jobs = [
                (list(islice(remaining, len(batch))), threads.submit(self._post, batch, query))
                for batch in split
            ]
            for whole, job in jobs:
                try:
                    yield dict(zip(whole, job.result(), strict=True))
                except EngineError as error:
                    failures.append(error)
        if failures:
            raise failures[0]

    def _post(self, texts: list[str], query: str) -> list[ScoreCost]:
        where, shape = self._poster.url, self._shape
        request = RerankRequest(self._endpoint.model, query, texts)
        # The model reads the query once with each text.
        estimate = estimated_tokens([*texts, query * len(texts)])
        body = read_json(self._poster.post(shape.body(request), tokens=estimate), where)
        results = body
        if shape.results:
            results = body.get(shape.results) if isinstance(body, dict) else None
        scores = by_index(results, shape.score, count=len(texts), noun="scores", where=where)
        for index, score in enumerate(scores):
            if not _is_number(score) or not math.isfinite(score):
                raise EngineError(
                    f"{where}: the score of document {index} is {score!r}; expected a finite number"
                )
        tokens, units = used_tokens(body), _search_units(body)
        cost = self._cost(tokens, units) or 0.0
        self._spending.add(texts=len(texts), tokens=tokens, cost=cost)
        lengths = [len(query) + len(text) for text in texts]
        return [
            ScoreCost(float(score), tokens * length / sum(lengths), units / len(texts))
            for score, length in zip(scores, lengths, strict=True)
        ]

    @property
    def _has_price(self) -> bool:
        prices = self._options.price_per_million_tokens, self._options.price_per_1000_searches
        return prices != (None, None)

    def _cost(self, tokens: float, units: float) -> float | None:
        if not self._has_price:
            return None
        by_tokens = (self._options.price_per_million_tokens or 0.0) * tokens / 1e6
        return by_tokens + (self._options.price_per_1000_searches or 0.0) * units / 1e3


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _search_units(body: Any) -> float:
    """Return the search units that an answer reports; without a report a request is one.

    >>> _search_units({"meta": {"billed_units": {"search_units": 2}}}), _search_units([])
    (2.0, 1.0)
    """
    meta = body.get("meta") if isinstance(body, dict) else None
    billed = meta.get("billed_units") if isinstance(meta, dict) else None
    units = billed.get("search_units") if isinstance(billed, dict) else None
    return float(units) if isinstance(units, int | float) and units >= 0 else 1.0


class RemoteRerankerFactory:
    """Creates rerankers of one provider from ``<model>@<url>?<options>``.

    The key comes from the variable of the provider, such as COHERE_API_KEY, where the host is the
    provider's own, and from KARAT_RERANKER_API_KEY, where set, for any other host.
    """

    def __init__(self, provider: str) -> None:
        """Store the name of the *provider*."""
        self.provider = provider

    def check(self, argument: str, environment: Mapping[str, str] = os.environ) -> None:
        """Raise InputError for a wrong specification or a missing key; nothing is connected."""
        parse_endpoint(self.provider, argument, RerankerOptions).key(OTHER_KEY, environment)

    def __call__(
        self,
        argument: str,
        *,
        environment: Mapping[str, str] = os.environ,
        sleep: Callable[[float], None] = time.sleep,
        transport: "httpx.BaseTransport | None" = None,
        caches: Caches | None = None,
    ) -> RemoteReranker:
        """Return the reranker; *caches* are the user's, unless given."""
        endpoint = parse_endpoint(self.provider, argument, RerankerOptions)
        poster = open_poster(
            endpoint,
            "/rerank",
            purpose="reranking over HTTP",
            other_env=OTHER_KEY,
            environment=environment,
            sleep=sleep,
            transport=transport,
        )
        used = caches if caches is not None else user_caches(endpoint.options.cache)
        return RemoteReranker(endpoint, SHAPES[self.provider], poster, caches=used)


jina = RemoteRerankerFactory("jina")
cohere = RemoteRerankerFactory("cohere")
voyage = RemoteRerankerFactory("voyage")
vllm = RemoteRerankerFactory("vllm")
tei = RemoteRerankerFactory("tei")
