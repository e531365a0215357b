from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from karat.engines.vectors.in_memory import InMemoryStore
from karat.errors import InputError
from karat.testing import VectorStoreSuite


class TestInMemory(VectorStoreSuite):
    @pytest.fixture
    def store(self) -> InMemoryStore:
        return InMemoryStore()


def test_writers_and_readers_at_once_lose_nothing() -> None:
    store = InMemoryStore()
    query = np.array([1.0, 0.0], np.float32)
    store.upsert("ns", ["first"], query[None])

    def write_and_read(writer: int) -> int:
        count = 0
        for number in range(50):
            store.upsert("ns", [f"{writer}-{number}"], np.array([[1.0, number / 50]], np.float32))
            count = len(store.nearest("ns", query, 1000))
        return count

    with ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(write_and_read, range(4)))
    assert max(seen) == store.count("ns") == 201


def test_a_dimension_that_another_thread_chose_meanwhile() -> None:
    store = InMemoryStore()
    store.upsert("ns", ["a"], np.array([[1.0, 0.0]], dtype=np.float32))
    with pytest.raises(InputError, match="3 dimensions; namespace 'ns' expects 2"):
        store.upsert("ns", ["b"], np.array([[1.0, 0.0, 0.0]], dtype=np.float32))
    assert store.count("ns") == 1
