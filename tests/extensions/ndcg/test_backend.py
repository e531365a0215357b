"""The back end itself: what it reports, and how a configuration becomes one."""

import math
from collections.abc import Sequence
from itertools import count

import pytest

from karat.engines.vectors.in_memory import InMemoryStore
from karat.errors import InputError, UnknownName
from karat.ndcg import Operation, VectorBackend, get_vector_backend


@pytest.fixture
def backend() -> VectorBackend:
    return get_vector_backend({"type": "in_memory"})


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
        ({}, "type is None; expected one of: .*in_memory"),
        ({"type": 3}, "type is 3"),
        ({"type": "faiss"}, "no vector store named 'faiss'"),
        ({"type": "in_memory", "metrics_callback": "f"}, "expected a function or None"),
        ({"type": "in_memory", "dsn": "x"}, "unexpected keyword argument 'dsn'; .* no options"),
        ({"type": f"{__name__}:Remote", "host": "x"}, "unexpected .*'host'; expected url, path$"),
    ],
)
def test_configurations_that_are_none(config: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        get_vector_backend(config)


class Remote:
    def __init__(self, *, url: str = "", path: str = "") -> None: ...


class Reading:
    def nearest(self) -> None: ...


def test_a_store_that_lacks_methods() -> None:
    with pytest.raises(InputError, match=r"Reading lacks dimension, .*, mark, count, .* and close"):
        get_vector_backend({"type": f"{__name__}:Reading"})


def test_a_store_of_ones_own_by_its_address() -> None:
    backend = get_vector_backend({"type": "karat.engines.vectors.in_memory:InMemoryStore"})
    assert backend.upsert("ns", {"a": [1.0]}) == 1


def test_only_the_direction_counts(backend: VectorBackend) -> None:
    """Lengths beyond single precision do no harm, in items and in queries."""
    backend.upsert("ns", {"huge": [1e300, 0.0], "tiny": [1e-300, 1e-300]})
    for query in ([1e-200, 0.0], [1e200, 0.0]):
        neighbours = backend.query("ns", query, k=2)
        assert [neighbour.key for neighbour in neighbours] == ["huge", "tiny"]
        assert neighbours[0].score == pytest.approx(1.0, abs=1e-6)


def test_records_with_key_or_id(backend: VectorBackend) -> None:
    """Numbers are keys too; other fields are ignored."""
    records: list[dict[str, object]] = [
        {"key": "a", "embedding": [1, 0], "text": "x"},
        {"id": 7, "embedding": [0, 1]},
    ]
    assert backend.upsert("ns", records) == 2
    assert [neighbour.key for neighbour in backend.query("ns", [0.0, 1.0], 1)] == ["7"]
    assert backend.upsert("ns", []) == 0


def test_unknown_namespace(backend: VectorBackend) -> None:
    """Only upsert creates a namespace."""
    backend.upsert("docs", {"a": [1.0, 0.0]})
    message = "no namespace named 'dosc'; known: docs"
    with pytest.raises(UnknownName, match=message):
        backend.query("dosc", [1.0, 0.0], 1)
    with pytest.raises(UnknownName, match=message):
        backend.count("dosc")
    with pytest.raises(UnknownName, match=message):
        backend.delete("dosc", ["a"])
    with pytest.raises(UnknownName, match=message):
        backend.drop("dosc")
    assert backend.namespaces() == ["docs"]


def test_deleting_counts_what_was_there(backend: VectorBackend) -> None:
    """A key may be given twice; an emptied namespace keeps its dimension and has no neighbours."""
    backend.upsert("ns", {"a": [1.0, 0.0], "b": [0.0, 1.0]})
    assert backend.delete("ns", ["a", "a", "nowhere"]) == 1
    assert backend.delete("ns", []) == 0
    assert backend.delete("ns", ["b"]) == 1
    assert backend.count("ns") == 0
    with pytest.raises(InputError, match="'ns' is empty; upsert"):
        backend.query("ns", [1.0, 0.0], 1)
    with pytest.raises(InputError, match="3 dimensions; namespace 'ns' expects 2"):
        backend.upsert("ns", {"a": [1.0, 0.0, 0.0]})
    backend.drop("ns")
    assert backend.namespaces() == []


@pytest.mark.parametrize("namespace", ["", "a b", "a/b", "ä", ".hidden", "x" * 65, "a;b", None])
def test_names_that_are_no_namespace(backend: VectorBackend, namespace: str) -> None:
    """A name that one store could not use is rejected by all."""
    with pytest.raises(InputError, match="is not allowed; expected 1 to 64"):
        backend.upsert(namespace, {"a": [1.0]})


@pytest.mark.parametrize(
    ("embedding", "message"),
    [
        ([1.0, math.nan], "component 1 of the embedding is nan"),
        ([math.inf, 1.0], "component 0 of the embedding is inf"),
        ([0.0, 0.0], "all zeros"),
        ([], r"shape \(0,\)"),
        ([[1.0, 2.0]], r"shape \(1, 2\)"),
        (["a", "b"], "not a list of numbers"),
        ([1.0, [2.0]], "not a list of numbers"),
        ("ab", "not a list of numbers"),
        ([1.0, 2.0, 3.0], "3 dimensions; namespace 'ns' expects 2"),
    ],
)
def test_embeddings_that_are_none(
    backend: VectorBackend, embedding: Sequence[float], message: str
) -> None:
    """Refused in items and in queries, and nothing is written."""
    backend.upsert("ns", {"a": [1.0, 0.0]})
    with pytest.raises(InputError, match=message):
        backend.upsert("ns", {"b": embedding})
    with pytest.raises(InputError, match=message):
        backend.query("ns", embedding, 1)
    assert backend.count("ns") == 1


def test_items_that_are_none(backend: VectorBackend) -> None:
    """Each problem is named with its item; a namespace is not created by a mistake."""
    two_keys = [{"key": "7", "embedding": [1.0]}, {"key": 7, "embedding": [2.0]}]
    wrong: list[tuple[object, str]] = [
        ([{"embedding": [1.0]}], r"item 1 has no key \(or id\)"),
        ([{"key": "a"}], "item 1 has no embedding"),
        (["a"], "item 1 is 'a'; expected a record"),
        (two_keys, "item 2: key '7' is given twice"),
        ({"": [1.0]}, "item 1: key '' is empty"),
        ({"a\0b": [1.0]}, "contains NUL or half a surrogate pair, which cannot be stored"),
        ({"\ud800": [1.0]}, "contains NUL or half a surrogate pair, which cannot be stored"),
        ({1.5: [1.0]}, "key 1.5 cannot name an item"),
        ({True: [1.0]}, "key True cannot name an item"),
        ({"a": [1.0, 0.0], "b": [1.0]}, "item 'b': the embedding has 1 dimensions; expected 2"),
    ]
    for items, message in wrong:
        with pytest.raises(InputError, match=message):
            backend.upsert("ns", items)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'abc' is a string"):
        backend.delete("ns", "abc")
    assert backend.namespaces() == []


@pytest.mark.parametrize("k", [0, -1, 1.0, True, None, "3"])
def test_k_is_a_whole_number_from_1(backend: VectorBackend, k: int) -> None:
    """Any other value is rejected."""
    backend.upsert("ns", {"a": [1.0, 0.0]})
    with pytest.raises(InputError, match="expected a whole number from 1 up"):
        backend.query("ns", [1.0, 0.0], k)
