"""Every recipe sends the request that its system documents, and reads the documented response."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from karat.corpus import from_texts
from karat.engines.spec import build, parse_spec
from tests.docs.pages import page
from tests.engines.adapters.test_http import Service, reply

PAGE = page("recipes").read_text(encoding="utf-8")
RECIPES = {
    re.search(r"^name: (\S+)$", text, re.MULTILINE)[1]: text  # type: ignore[index]
    for text in re.findall(r"^```yaml\n(engine: http\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
}
CORPUS = from_texts({"login.md": "# Login\n\nReset a password.\n", "mail/send.md": "# Mail\n"})
QUERY = 'reset a "password" & 100%'
SECRETS = {
    "ELASTIC_API_KEY": "elastic-key",
    "OPENSEARCH_USER": "ada",
    "OPENSEARCH_PASSWORD": "p:w{d}",
    "TYPESENSE_API_KEY": "typesense-key",
    "MEILI_API_KEY": "meili-key",
    "QDRANT_API_KEY": "qdrant-key",
}


class Exchange(NamedTuple):
    """A request as it has to be, and the response to it; hits are always login, then mail."""

    address: str
    headers: dict[str, str]
    body: object
    response: object
    scores: tuple[float, float]


def elastic_hits(*hits: dict[str, object]) -> dict[str, object]:
    """Return a response of Elasticsearch and OpenSearch."""
    return {
        "took": 5,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": 2, "relation": "eq"}, "max_score": 2.87, "hits": list(hits)},
    }


ELASTIC = elastic_hits(
    {"_index": "docs", "_id": "vE3", "_score": 2.87, "_source": {"path": "login.md"}},
    {"_index": "docs", "_id": "vE4", "_score": 0.41, "_source": {"path": "mail/send.md"}},
)
EXCHANGES = {
    "elasticsearch": Exchange(
        "/docs/_search",
        {"Authorization": "ApiKey elastic-key"},
        {
            "size": 7,
            "_source": ["path"],
            "query": {"multi_match": {"query": QUERY, "fields": ["title^2", "content", "path"]}},
        },
        ELASTIC,
        (2.87, 0.41),
    ),
    "elasticsearch-hybrid": Exchange(
        "/docs/_search",
        {"Authorization": "ApiKey elastic-key"},
        {
            "size": 7,
            "_source": ["path"],
            "retriever": {
                "rrf": {
                    "rank_window_size": 100,
                    "retrievers": [
                        {"standard": {"query": {"match": {"content": QUERY}}}},
                        {
                            "standard": {
                                "query": {"semantic": {"field": "embedding", "query": QUERY}}
                            }
                        },
                    ],
                }
            },
        },
        ELASTIC,
        (2.87, 0.41),
    ),
    "opensearch": Exchange(
        "/docs/_search",
        {"Authorization": f"Basic {b64encode(b'ada:p:w{d}').decode()}"},
        {
            "size": 7,
            "_source": False,
            "query": {"multi_match": {"query": QUERY, "fields": ["title^2", "content"]}},
        },
        elastic_hits(
            {"_index": "docs", "_id": "docs/login.md", "_score": 1.5},
            {"_index": "docs", "_id": "docs/mail/send.md", "_score": 0.7},
        ),
        (1.5, 0.7),
    ),
    "solr": Exchange(
        "/solr/docs/select?q=QUERY&defType=edismax&qf=title^2 content&fl=path,score&rows=7&wt=json",
        {},
        None,
        {
            "responseHeader": {"status": 0, "QTime": 3, "params": {"q": QUERY, "rows": "7"}},
            "response": {
                "numFound": 2,
                "start": 0,
                "maxScore": 3.2,
                "numFoundExact": True,
                "docs": [
                    {"path": ["login.md"], "score": 3.2},
                    {"path": ["mail/send.md"], "score": 0.9},
                ],
            },
        },
        (3.2, 0.9),
    ),
    "typesense": Exchange(
        "/collections/docs/documents/search?q=QUERY&query_by=title,content&include_fields=path"
        "&per_page=7",
        {"X-TYPESENSE-API-KEY": "typesense-key"},
        None,
        {
            "facet_counts": [],
            "found": 2,
            "out_of": 2,
            "page": 1,
            "request_params": {"collection_name": "docs", "per_page": 7, "q": QUERY},
            "search_cutoff": False,
            "search_time_ms": 1,
            "hits": [
                {
                    "document": {"path": "login.md"},
                    "highlight": {"content": {"snippet": "Reset a <mark>password</mark>."}},
                    "highlights": [],
                    "text_match": 1157451471441100921,
                    "text_match_info": {"best_field_score": "2211897868288", "tokens_matched": 2},
                },
                {
                    "document": {"path": "mail/send.md"},
                    "highlights": [],
                    "text_match": 578730123365711993,
                },
            ],
        },
        (float(1157451471441100921), float(578730123365711993)),
    ),
    "meilisearch": Exchange(
        "/indexes/docs/search",
        {"Authorization": "Bearer meili-key"},
        {
            "q": QUERY,
            "limit": 7,
            "attributesToRetrieve": ["path"],
            "matchingStrategy": "frequency",
            "showRankingScore": True,
        },
        {
            "hits": [
                {"path": "login.md", "_rankingScore": 0.98},
                {"path": "mail/send.md", "_rankingScore": 0.31},
            ],
            "query": QUERY,
            "processingTimeMs": 1,
            "limit": 7,
            "offset": 0,
            "estimatedTotalHits": 2,
        },
        (0.98, 0.31),
    ),
    "qdrant": Exchange(
        "/collections/docs/points/query",
        {"api-key": "qdrant-key"},
        {
            "query": {"text": QUERY, "model": "qdrant/bm25"},
            "using": "bm25",
            "limit": 7,
            "with_payload": ["path", "start_line", "end_line"],
        },
        {
            "usage": {"hardware": None, "inference": None},
            "result": {
                "points": [
                    {
                        "id": 1,
                        "version": 0,
                        "score": 1.67,
                        "payload": {"path": "login.md", "start_line": 1, "end_line": 3},
                    },
                    {"id": 2, "version": 0, "score": 0.2, "payload": {"path": "mail/send.md"}},
                ]
            },
            "status": "ok",
            "time": 0.0006,
        },
        (1.67, 0.2),
    ),
}


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    yield service
    service.close()


def test_every_system_has_a_recipe() -> None:
    assert RECIPES.keys() == EXCHANGES.keys()


def parts(address: str) -> tuple[str, dict[str, list[str]]]:
    split = urlsplit(address)
    return split.path, parse_qs(split.query)


@pytest.mark.parametrize("name", EXCHANGES)
def test_a_recipe(
    name: str, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in SECRETS.items():
        monkeypatch.setenv(variable, value)
    exchange = EXCHANGES[name]
    service.answer = lambda handler: reply(handler, json.dumps(exchange.response))
    (tmp_path / f"{name}.yaml").write_text(
        re.sub(
            r"^url: https?://localhost:\d+",
            f"url: {service.url}",
            RECIPES[name],
            flags=re.MULTILINE,
        )
    )
    engine = build(parse_spec(str(tmp_path / f"{name}.yaml")))
    engine.index(CORPUS)
    hits = engine.search(QUERY, 7)
    engine.close()
    [(address, headers, body)] = service.asked
    path, parameters = parts(exchange.address)
    expected = {
        key: [QUERY] if values == ["QUERY"] else values for key, values in parameters.items()
    }
    assert parts(address) == (path, expected)
    sent = {key.lower(): value for key, value in headers.items()}
    assert {key: sent.get(key.lower()) for key in exchange.headers} == exchange.headers
    assert (json.loads(body) if body else None) == exchange.body
    assert [hit.path for hit in hits] == ["login.md", "mail/send.md"]
    assert tuple(hit.score for hit in hits) == exchange.scores
    assert (hits[0].start_line, hits[0].end_line) == ((1, 3) if name == "qdrant" else (0, 0))


def test_a_missing_secret_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENSEARCH_USER", raising=False)
    (tmp_path / "opensearch.yaml").write_text(RECIPES["opensearch"])
    engine = build(parse_spec(str(tmp_path / "opensearch.yaml")))
    with pytest.raises(ValueError, match="the environment variable OPENSEARCH_USER is not set"):
        engine.index(CORPUS)
