"""The contract of vector stores, as tests that every store inherits.

    class TestMyStore(VectorStoreSuite):
        @pytest.fixture
        def store(self):
            store = MyStore()
            yield store
            store.close()

The fixture gives a store without namespaces.
"""

# A suite of tests asserts, wherever it is kept.
# ruff: noqa: S101

import math
from collections.abc import Mapping, Sequence
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.engines.vectors.store import Neighbour, VectorStore

# Names that mean something to SQL, to a format string, to JSON or to a file system.
AWKWARD_KEYS = [
    "'); DROP TABLE karat_vectors; --",
    "%s",
    "%(key)s",
    "{key}",
    '"',
    "a\\b",
    "../../etc/passwd",
    " leading and trailing ",
    "Größe/日本語/🔍",
    "line\nbreak\ttab",
    "x" * 1000,
]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the cosine similarity in double precision, by its definition."""
    dot = math.fsum(x * y for x, y in zip(a, b, strict=True))
    return dot / (math.hypot(*a) * math.hypot(*b))


def unit(*embeddings: Sequence[float]) -> NDArray[np.float32]:
    """Return *embeddings* as unit vectors."""
    rows = np.array(embeddings, np.float64)
    unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("f4")
    return unit


def write(store: VectorStore, namespace: str, rows: Mapping[str, Sequence[float]]) -> None:
    """Insert or replace *rows*."""
    store.upsert(namespace, list(rows), unit(*rows.values()))


def keys_near(
    store: VectorStore, namespace: str, embedding: Sequence[float], k: int, snapshot: str = ""
) -> list[str]:
    """Return the keys of the nearest items."""
    (vector,) = unit(embedding)
    return [each.key for each in store.nearest(namespace, vector, k, snapshot=snapshot)]


class VectorStoreSuite:
    """The contract of a vector store; a subclass provides the fixture ``store``."""

    def test_has_every_method(self, store: VectorStore) -> None:
        """Engines and ``karat.ndcg`` use the same stores."""
        assert isinstance(store, VectorStore)

    def test_nearest_first_by_hand(self, store: VectorStore) -> None:
        """Angles of 0, 45, 90 and 180 degrees have cosines of 1, 0.7071, 0 and -1."""
        write(store, "ns", {"right": [0, 2], "same": [3, 0], "back": [-1, 0], "half": [1, 1]})
        neighbours = store.nearest("ns", unit([5.0, 0.0])[0], 4)
        assert [neighbour.key for neighbour in neighbours] == ["same", "half", "right", "back"]
        expected = [1.0, math.sqrt(0.5), 0.0, -1.0]
        assert [neighbour.score for neighbour in neighbours] == pytest.approx(expected, abs=1e-6)
        assert all(isinstance(neighbour, Neighbour) for neighbour in neighbours)
        assert all(type(neighbour.score) is float for neighbour in neighbours)

    def test_agrees_with_the_definition(self, store: VectorStore) -> None:
        """Over random vectors, each prefix is what sorting all cosines gives."""
        rng = Random(7)
        rows = {f"item-{n}": [rng.gauss(0, 1) for _ in range(24)] for n in range(300)}
        write(store, "ns", rows)
        query = [rng.gauss(0, 1) for _ in range(24)]
        scores = {key: cosine(row, query) for key, row in rows.items()}
        expected = sorted(scores, key=lambda key: -scores[key])
        for k in (1, 10, 299, 300):
            neighbours = store.nearest("ns", unit(query)[0], k, exact=True)
            assert [neighbour.key for neighbour in neighbours] == expected[:k]
            for neighbour in neighbours:
                assert neighbour.score == pytest.approx(scores[neighbour.key], abs=1e-5)

    def test_equal_scores_by_key(self, store: VectorStore) -> None:
        """Ties are broken by key, inside the ranking and at its cut, whatever was written first."""
        keys = [f"t{number:02}" for number in range(41)]
        Random(3).shuffle(keys)
        row = [0.1, -0.7, 0.3, 0.55, 0.2]
        write(store, "ns", dict.fromkeys(keys, row) | {"best": [0.1, -0.7, 0.3, 0.55, 0.3]})
        query = [0.1, -0.7, 0.3, 0.55, 0.31]
        for k in (1, 2, 17, 41, 42):
            assert keys_near(store, "ns", query, k) == ["best", *sorted(keys)][:k]

    def test_more_than_there_are(self, store: VectorStore) -> None:
        """A k beyond the namespace returns all of it."""
        write(store, "ns", {"a": [1.0, 0.0], "b": [0.0, 1.0]})
        for k in (2, 3, 10**6, 10**20):
            assert keys_near(store, "ns", [1.0, 0.0], k) == ["a", "b"]

    def test_upsert_replaces(self, store: VectorStore) -> None:
        """A key written again has its new embedding only, and is in no snapshot."""
        write(store, "ns", {"a": [1.0, 0.0], "b": [0.0, 1.0]})
        store.mark("ns", "one", ["a", "b"])
        write(store, "ns", {"a": [0.0, -1.0]})
        assert store.count("ns") == 2
        assert keys_near(store, "ns", [0.0, -1.0], 1) == ["a"]
        assert keys_near(store, "ns", [0.0, -1.0], 9, "one") == ["b"]

    def test_delete_count_drop(self, store: VectorStore) -> None:
        """Deleting counts what was there; an emptied namespace stays, a dropped one does not."""
        write(store, "ns", {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [1.0, 1.0]})
        store.mark("ns", "one", ["a", "b"])
        assert store.delete("ns", ["a", "nowhere"]) == 1
        assert (store.count("ns"), store.count("ns", "one")) == (2, 1)
        assert keys_near(store, "ns", [1.0, 0.0], 9) == ["c", "b"]
        assert store.delete("ns", ["b", "c"]) == 2
        assert store.count("ns") == 0
        assert keys_near(store, "ns", [1.0, 0.0], 1) == []
        assert (list(store.namespaces()), store.dimension("ns")) == (["ns"], 2)
        store.drop("ns")
        assert (list(store.namespaces()), store.dimension("ns")) == ([], None)
        write(store, "ns", {"a": [1.0, 0.0, 0.0]})
        assert (store.count("ns"), store.dimension("ns")) == (1, 3)

    def test_namespaces_are_apart(self, store: VectorStore) -> None:
        """The same key in two namespaces is two items, of two dimensions."""
        write(store, "one", {"a": [1.0, 0.0]})
        write(store, "two.b-2_", {"a": [1.0, 0.0, 0.0], "b": [0.0, 1.0, 0.0]})
        assert sorted(store.namespaces()) == ["one", "two.b-2_"]
        assert (store.count("one"), store.count("two.b-2_")) == (1, 2)
        store.drop("two.b-2_")
        assert keys_near(store, "one", [1.0, 0.0], 5) == ["a"]

    def test_keys_are_only_keys(self, store: VectorStore) -> None:
        """Whatever a key looks like, it comes back as it went in, and deletes itself only."""
        write(store, "ns", {key: [1.0, float(number)] for number, key in enumerate(AWKWARD_KEYS)})
        assert keys_near(store, "ns", [1.0, 0.0], 99) == AWKWARD_KEYS
        for left, key in enumerate(reversed(AWKWARD_KEYS)):
            assert store.count("ns") == len(AWKWARD_KEYS) - left
            assert store.delete("ns", [key]) == 1

    def test_only_items_of_the_snapshot(self, store: VectorStore) -> None:
        """An item may be in several snapshots; an unknown snapshot has none."""
        rows = np.eye(3, dtype=np.float32)
        store.add("ns", ["a", "b", "c"], rows)
        store.mark("ns", "old", ["a", "b"])
        store.mark("ns", "new", ["b", "c"])
        store.mark("ns", "new", ["b"])
        assert [store.count("ns", name) for name in ("old", "new", "none", "")] == [2, 2, 0, 3]
        assert keys_near(store, "ns", [0, 1, 0], 9, "old") == ["b", "a"]
        assert keys_near(store, "ns", [0, 1, 0], 1, "new") == ["b"]
        assert keys_near(store, "ns", [0, 1, 0], 9, "none") == []

    def test_adding_again_keeps_items_and_snapshots(self, store: VectorStore) -> None:
        """Two processes that upload the same items do not undo the work of each other."""
        rows = np.eye(2, dtype=np.float32)
        store.add("ns", ["a", "b"], rows)
        store.mark("ns", "one", ["a", "b"])
        store.add("ns", ["b", "a"], rows)
        assert store.count("ns", "one") == 2
        assert np.array_equal(store.vectors("ns", ["b", "a"]), rows[::-1])

    def test_held_items(self, store: VectorStore) -> None:
        """What is stored need not be sent again; a namespace that does not exist holds nothing."""
        assert store.held("ns", ["a"]) == set()
        store.add("ns", [f"{number}" for number in range(600)], np.ones((600, 1), np.float32))
        keys = [f"{number}" for number in range(590, 610)]
        assert store.held("ns", keys) == {f"{number}" for number in range(590, 600)}

    def test_equal_scores_by_key_within_a_snapshot(self, store: VectorStore) -> None:
        """Ties at the cut are broken by key, as without a snapshot."""
        keys = [f"t{number:02}" for number in range(30)]
        store.add("ns", keys, np.tile(np.array([[0.6, 0.8]], np.float32), (30, 1)))
        store.mark("ns", "even", keys[::2])
        query = np.array([1.0, 0.0], np.float32)
        for exact in (None, True):
            neighbours = store.nearest("ns", query, 4, snapshot="even", exact=exact)
            assert [each.key for each in neighbours] == ["t00", "t02", "t04", "t06"]
            assert neighbours[0].score == pytest.approx(0.6, abs=1e-6)
