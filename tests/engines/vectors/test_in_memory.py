from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from karat.engines.vectors.in_memory import InMemoryStore
from karat.errors import InputError
from karat.ndcg import VectorBackend, get_vector_backend
from karat.testing.vectors import SnapshotStoreSuite, VectorBackendSuite


class TestInMemory(VectorBackendSuite):
    @pytest.fixture
    def backend(self) -> VectorBackend:
        return get_vector_backend({"type": "in_memory"})


class TestSnapshots(SnapshotStoreSuite):
    @pytest.fixture
    def store(self) -> InMemoryStore:
        return InMemoryStore()


def test_writers_and_readers_at_once_lose_nothing() -> None:
    backend = get_vector_backend({"type": "in_memory"})
    backend.upsert("ns", {"first": [1.0, 0.0]})

    def write_and_read(writer: int) -> int:
        found = 0
        for number in range(50):
            backend.upsert("ns", {f"{writer}-{number}": [1.0, number / 50]})
            found = len(backend.query("ns", [1.0, 0.0], k=1000))
        return found

    with ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(write_and_read, range(4)))
    assert max(seen) == backend.count("ns") == 201


def test_a_dimension_that_another_thread_chose_meanwhile() -> None:
    store = InMemoryStore()
    store.upsert("ns", ["a"], np.array([[1.0, 0.0]], dtype=np.float32))
    with pytest.raises(InputError, match="3 dimensions; namespace 'ns' expects 2"):
        store.upsert("ns", ["b"], np.array([[1.0, 0.0, 0.0]], dtype=np.float32))
    assert store.count("ns") == 1
