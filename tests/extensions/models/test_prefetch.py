"""Queries are sent ahead to an endpoint, and each text that it refuses costs one query."""

from dataclasses import replace

import pytest

from karat.engines.spec import parse_spec
from karat.experiments.measure import measure_quality
from karat.experiments.workers import (
    QUALITY,
    Configuration,
    SnapshotQueries,
    Source,
    supervised_worker,
)
from karat.formats.karat_run import run_digest
from karat.model import Outcome
from tests.embedding_endpoint import Endpoint, serving
from tests.experiments.workers.conftest import TEXTS, gold

# Two of them have the model in common.
SPECS = ("hybrid(model={model})", "dense(model={model}, windows=all)", "bm25")
QUERIES = tuple(f"login {number}" for number in range(24))


def asked(endpoint: Endpoint) -> list[int]:
    """Return how many queries each request has embedded."""
    sent = [body["input"] for body in endpoint.bodies]
    return [len(texts) for texts in sent if set(texts) <= set(QUERIES)]


def group(url: str) -> tuple[Configuration, ...]:
    specs = [spec.format(model=f"openai:m@{url}") for spec in SPECS]
    return tuple(Configuration(spec, parse_spec(spec)) for spec in specs)


def test_an_endpoint_embeds_many_queries_in_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("httpx")
    monkeypatch.setattr(supervised_worker, "MAX_PREFETCH", 4)
    dataset = gold(*QUERIES)
    # Whatever tree a query is asked on, its embedding is the same.
    rows = range(len(QUERIES))
    plan = [
        SnapshotQueries(
            Source.of_texts({"a.py": f"def login_{start}(): ...\n"}), tuple(rows[start:][:5])
        )
        for start in rows[::5]
    ]
    with serving() as endpoint:
        together = measure_quality([group(endpoint.url)], dataset, plan)
        # The first one tells how long a query takes.
        assert asked(endpoint) == [1, 4, 4, 4, 4, 4, 3]
        endpoint.bodies.clear()
        twice = replace(QUALITY, repetitions=2)
        alone = measure_quality([group(endpoint.url)], dataset, plan, settings=twice)
        assert asked(endpoint) == [1] * 2 * len(QUERIES)
    assert [run_digest(one.run) for one in together] == [run_digest(one.run) for one in alone]
    assert set(together[0].run.outcomes) == {Outcome.ANSWERED}


def test_a_text_that_is_refused_costs_its_own_query() -> None:
    pytest.importorskip("httpx")
    dataset = gold(*QUERIES[:6])
    with serving() as endpoint:
        endpoint.refused = QUERIES[3]
        plan = [SnapshotQueries(Source.of_texts(TEXTS), tuple(range(6)))]
        first, _, words = measure_quality([group(endpoint.url)], dataset, plan)
    failed = [each.query_id for each in first.run.answers() if each.outcome != Outcome.ANSWERED]
    assert failed == [QUERIES[3]]
    assert set(words.run.outcomes) == {Outcome.ANSWERED}
