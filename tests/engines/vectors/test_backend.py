"""The back end itself: what it reports, and how a configuration becomes one."""

import sys
from itertools import count

import pytest

from karat.engines.vectors.in_memory import InMemoryStore
from karat.errors import InputError, MissingExtra, UnknownName
from karat.ndcg import (
    VECTOR_STORES,
    Operation,
    VectorBackend,
    get_vector_backend,
)


def test_each_operation_is_reported_with_its_time() -> None:
    seen: list[Operation] = []
    clock = count(step=5).__next__
    backend = VectorBackend(InMemoryStore(), metrics_callback=seen.append, clock=clock)
    backend.upsert("ns", {"a": [1.0, 0.0], "b": [0.0, 1.0]})
    backend.query("ns", [1.0, 0.0], k=1)
    backend.delete("ns", ["a"])
    backend.count("ns")
    with pytest.raises(UnknownName):
        backend.count("other")
    backend.drop("ns")
    assert seen == [
        Operation("upsert", "ns", 2, 5, None),
        Operation("query", "ns", 1, 5, None),
        Operation("delete", "ns", 1, 5, None),
        Operation("count", "ns", 1, 5, None),
        Operation("count", "other", 0, 5, "UnknownName"),
        Operation("drop", "ns", 0, 5, None),
    ]


def test_the_callback_of_a_configuration_is_called() -> None:
    seen: list[Operation] = []
    backend = get_vector_backend({"type": "in_memory", "metrics_callback": seen.append})
    backend.upsert("ns", {"a": [1.0]})
    assert [(operation.name, operation.error) for operation in seen] == [("upsert", None)]
    assert seen[0].duration_ns > 0


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "type is None; expected one of: in_memory, pgvector, qdrant"),
        ({"type": 3}, "type is 3"),
        ({"type": "faiss"}, "no vector_store named 'faiss'"),
        ({"type": "in_memory", "metrics_callback": "f"}, "expected a function or None"),
        ({"type": "in_memory", "dsn": "x"}, "unexpected keyword argument 'dsn'; .* no options"),
        ({"type": "pgvector"}, "expected either dsn, a connection string, or dsn_env"),
        ({"type": "qdrant", "host": "x"}, "unexpected .*'host'; expected url, path, api_key"),
    ],
)
def test_configurations_that_are_none(config: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        get_vector_backend(config)


def test_a_store_of_ones_own_by_its_address() -> None:
    backend = get_vector_backend({"type": "karat.engines.vectors.in_memory:InMemoryStore"})
    assert backend.upsert("ns", {"a": [1.0]}) == 1


@pytest.mark.parametrize(
    ("kind", "module", "package"),
    [
        ("qdrant", "karat.engines.vectors.qdrant", "qdrant_client"),
        ("pgvector", "karat.engines.vectors.postgres", "psycopg"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, kind: str, module: str, package: str
) -> None:
    monkeypatch.setattr(VECTOR_STORES, "_loaded", {})
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    message = rf"the vector back end '{kind}' needs .*: pip install .*\[{kind}\]'"
    with pytest.raises(MissingExtra, match=message):
        get_vector_backend({"type": kind})
    assert get_vector_backend({"type": "in_memory"}).namespaces() == []
