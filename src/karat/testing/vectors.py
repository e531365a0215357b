"""The contract of vector back ends, as tests that every back end inherits.

    class TestMyStore(VectorBackendSuite):
        @pytest.fixture
        def backend(self):
            with get_vector_backend({"type": "my_package:MyStore"}) as backend:
                yield backend

The fixture gives a back end without namespaces.
"""

# A suite of tests asserts, wherever it is kept.
# ruff: noqa: S101

import math
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from karat.engines.vectors.store import SnapshotStore
from karat.errors import InputError, UnknownName
from karat.ndcg import Neighbour, VectorBackend

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


class VectorBackendSuite:
    """The contract of vector back ends; a subclass provides the fixture ``backend``."""

    def test_nearest_first_by_hand(self, backend: VectorBackend) -> None:
        """Angles of 0, 45, 90 and 180 degrees have cosines of 1, 0.7071, 0 and -1."""
        rows = {"right": [0, 2], "same": [3, 0], "back": [-1, 0], "half": [1, 1]}
        assert backend.upsert("ns", rows) == 4
        found = backend.query("ns", [5.0, 0.0], k=4)
        assert [neighbour.key for neighbour in found] == ["same", "half", "right", "back"]
        expected = [1.0, math.sqrt(0.5), 0.0, -1.0]
        assert [neighbour.score for neighbour in found] == pytest.approx(expected, abs=1e-6)
        assert all(isinstance(neighbour, Neighbour) for neighbour in found)
        assert all(type(neighbour.score) is float for neighbour in found)

    def test_agrees_with_the_definition(self, backend: VectorBackend) -> None:
        """Over random vectors, each prefix is what sorting all cosines gives."""
        rng = Random(7)
        rows = {f"item-{n}": [rng.gauss(0, 1) for _ in range(24)] for n in range(300)}
        backend.upsert("ns", rows)
        query = [rng.gauss(0, 1) for _ in range(24)]
        scores = {key: cosine(row, query) for key, row in rows.items()}
        expected = sorted(scores, key=lambda key: -scores[key])
        for k in (1, 10, 299, 300):
            found = backend.query("ns", query, k)
            assert [neighbour.key for neighbour in found] == expected[:k]
            for neighbour in found:
                assert neighbour.score == pytest.approx(scores[neighbour.key], abs=1e-5)

    def test_equal_scores_by_key(self, backend: VectorBackend) -> None:
        """Ties are broken by key, inside the ranking and at its cut, whatever was written first."""
        keys = [f"t{number:02}" for number in range(41)]
        Random(3).shuffle(keys)
        row = [0.1, -0.7, 0.3, 0.55, 0.2]
        backend.upsert("ns", dict.fromkeys(keys, row) | {"best": [0.1, -0.7, 0.3, 0.55, 0.3]})
        query = [0.1, -0.7, 0.3, 0.55, 0.31]
        for k in (1, 2, 17, 41, 42):
            found = [neighbour.key for neighbour in backend.query("ns", query, k)]
            assert found == ["best", *sorted(keys)][:k]

    def test_only_the_direction_counts(self, backend: VectorBackend) -> None:
        """Lengths beyond single precision do no harm, in items and in queries."""
        backend.upsert("ns", {"huge": [1e300, 0.0], "tiny": [1e-300, 1e-300]})
        for query in ([1e-200, 0.0], [1e200, 0.0]):
            found = backend.query("ns", query, k=2)
            assert [neighbour.key for neighbour in found] == ["huge", "tiny"]
            assert found[0].score == pytest.approx(1.0, abs=1e-6)

    def test_more_than_there_are(self, backend: VectorBackend) -> None:
        """A k beyond the namespace returns all of it."""
        backend.upsert("ns", {"a": [1.0, 0.0], "b": [0.0, 1.0]})
        for k in (2, 3, 10**6, 10**20):
            assert [neighbour.key for neighbour in backend.query("ns", [1.0, 0.0], k)] == ["a", "b"]

    def test_upsert_replaces(self, backend: VectorBackend) -> None:
        """A key written again has its new embedding only."""
        backend.upsert("ns", {"a": [1.0, 0.0], "b": [0.0, 1.0]})
        backend.upsert("ns", [{"key": "a", "embedding": [0.0, -1.0]}])
        assert backend.count("ns") == 2
        assert [neighbour.key for neighbour in backend.query("ns", [0.0, -1.0], 1)] == ["a"]

    def test_records_with_key_or_id(self, backend: VectorBackend) -> None:
        """Numbers are keys too; other fields are ignored."""
        records: list[dict[str, object]] = [
            {"key": "a", "embedding": [1, 0], "text": "x"},
            {"id": 7, "embedding": [0, 1]},
        ]
        assert backend.upsert("ns", records) == 2
        assert [neighbour.key for neighbour in backend.query("ns", [0.0, 1.0], 1)] == ["7"]
        assert backend.upsert("ns", []) == 0

    def test_delete_count_drop(self, backend: VectorBackend) -> None:
        """Deleting counts what was there; an emptied namespace stays, a dropped one does not."""
        backend.upsert("ns", {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [1.0, 1.0]})
        assert backend.delete("ns", ["a", "a", "nowhere"]) == 1
        assert backend.delete("ns", []) == 0
        assert backend.count("ns") == 2
        assert [neighbour.key for neighbour in backend.query("ns", [1.0, 0.0], 9)] == ["c", "b"]
        assert backend.delete("ns", ["b", "c"]) == 2
        assert backend.count("ns") == 0
        with pytest.raises(InputError, match="'ns' is empty; upsert"):
            backend.query("ns", [1.0, 0.0], 1)
        with pytest.raises(InputError, match="3 dimensions; namespace 'ns' expects 2"):
            backend.upsert("ns", {"a": [1.0, 0.0, 0.0]})
        backend.drop("ns")
        assert backend.namespaces() == []
        backend.upsert("ns", {"a": [1.0, 0.0, 0.0]})
        assert backend.count("ns") == 1

    def test_namespaces_are_apart(self, backend: VectorBackend) -> None:
        """The same key in two namespaces is two items, of two dimensions."""
        backend.upsert("one", {"a": [1.0, 0.0]})
        backend.upsert("two.b-2_", {"a": [1.0, 0.0, 0.0], "b": [0.0, 1.0, 0.0]})
        assert backend.namespaces() == ["one", "two.b-2_"]
        assert (backend.count("one"), backend.count("two.b-2_")) == (1, 2)
        backend.drop("two.b-2_")
        assert [neighbour.key for neighbour in backend.query("one", [1.0, 0.0], 5)] == ["a"]

    def test_keys_are_only_keys(self, backend: VectorBackend) -> None:
        """Whatever a key looks like, it comes back as it went in, and deletes itself only."""
        rows = {key: [1.0, float(number)] for number, key in enumerate(AWKWARD_KEYS)}
        backend.upsert("ns", rows)
        found = [neighbour.key for neighbour in backend.query("ns", [1.0, 0.0], k=99)]
        assert found == AWKWARD_KEYS
        for left, key in enumerate(reversed(AWKWARD_KEYS)):
            assert backend.count("ns") == len(AWKWARD_KEYS) - left
            assert backend.delete("ns", [key]) == 1

    def test_unknown_namespace(self, backend: VectorBackend) -> None:
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

    @pytest.mark.parametrize("namespace", ["", "a b", "a/b", "ä", ".hidden", "x" * 65, "a;b", None])
    def test_names_that_are_no_namespace(self, backend: VectorBackend, namespace: str) -> None:
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
        self, backend: VectorBackend, embedding: Sequence[float], message: str
    ) -> None:
        """Refused in items and in queries, and nothing is written."""
        backend.upsert("ns", {"a": [1.0, 0.0]})
        with pytest.raises(InputError, match=message):
            backend.upsert("ns", {"b": embedding})
        with pytest.raises(InputError, match=message):
            backend.query("ns", embedding, 1)
        assert backend.count("ns") == 1

    def test_items_that_are_none(self, backend: VectorBackend) -> None:
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
    def test_k_is_a_whole_number_from_1(self, backend: VectorBackend, k: int) -> None:
        """Any other value is rejected."""
        backend.upsert("ns", {"a": [1.0, 0.0]})
        with pytest.raises(InputError, match="expected a whole number from 1 up"):
            backend.query("ns", [1.0, 0.0], k)


class SnapshotStoreSuite:
    """The contract of a store that engines search; a subclass provides the fixture ``store``."""

    def test_only_items_of_the_snapshot(self, store: SnapshotStore) -> None:
        """An item may be in several snapshots; an unknown snapshot has none."""
        rows = np.eye(3, dtype=np.float32)
        store.add("ns", ["a", "b", "c"], rows)
        store.mark("ns", "old", ["a", "b"])
        store.mark("ns", "new", ["b", "c"])
        store.mark("ns", "new", ["b"])
        assert [store.marked("ns", name) for name in ("old", "new", "none")] == [2, 2, 0]

        def found(snapshot: str, k: int) -> list[str]:
            return [each.key for each in store.nearest_in("ns", snapshot, rows[1], k)]

        assert found("old", 9) == ["b", "a"]
        assert found("new", 1) == ["b"]
        assert found("none", 9) == []

    def test_adding_again_keeps_items_and_snapshots(self, store: SnapshotStore) -> None:
        """Two processes that upload the same items do not undo the work of each other."""
        rows = np.eye(2, dtype=np.float32)
        store.add("ns", ["a", "b"], rows)
        store.mark("ns", "one", ["a", "b"])
        store.add("ns", ["b", "a"], rows)
        assert store.marked("ns", "one") == 2
        assert np.array_equal(store.vectors("ns", ["b", "a"]), rows[::-1])

    def test_held_items(self, store: SnapshotStore) -> None:
        """What is stored need not be sent again; a namespace that does not exist holds nothing."""
        assert store.held("ns", ["a"]) == set()
        store.add("ns", [f"{number}" for number in range(600)], np.ones((600, 1), np.float32))
        wanted = [f"{number}" for number in range(590, 610)]
        assert store.held("ns", wanted) == {f"{number}" for number in range(590, 600)}

    def test_equal_scores_by_key_within_a_snapshot(self, store: SnapshotStore) -> None:
        """Ties at the cut are broken by key, as without a snapshot."""
        keys = [f"t{number:02}" for number in range(30)]
        store.add("ns", keys, np.tile(np.array([[0.6, 0.8]], np.float32), (30, 1)))
        store.mark("ns", "even", keys[::2])
        query = np.array([1.0, 0.0], np.float32)
        for exact in (None, True):
            found = store.nearest_in("ns", "even", query, 4, exact=exact)
            assert [each.key for each in found] == ["t00", "t02", "t04", "t06"]
            assert found[0].score == pytest.approx(0.6, abs=1e-6)
