import gc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from karat.errors import InputError, KaratError
from karat.extensions.stores.qdrant import QdrantStore
from karat.testing import VectorStoreSuite
from karat.testing.vectors import keys_near, write


class TestInProcess(VectorStoreSuite):
    @pytest.fixture
    def store(self) -> Iterator[QdrantStore]:
        store = QdrantStore()
        yield store
        store.close()


@pytest.mark.parametrize("exact", [True, False])
class TestOnServer(VectorStoreSuite):
    @pytest.fixture
    def store(self, qdrant_url: str, exact: bool) -> Iterator[QdrantStore]:
        store = QdrantStore(url=qdrant_url, prefix="suite-", exact=exact)
        yield store
        for namespace in store.namespaces():
            store.drop(namespace)
        store.close()


def test_a_collection_that_another_process_makes_meanwhile(
    qdrant_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = QdrantStore(url=qdrant_url, prefix="race-")
    store.upsert("ns", ["a"], np.array([[1.0, 0.0]], dtype=np.float32))
    monkeypatch.setattr(store, "_exists", lambda collection: False)
    store.upsert("ns", ["b"], np.array([[0.0, 1.0]], dtype=np.float32))
    assert store.count("ns") == 2
    with pytest.raises(KaratError, match=r"Qdrant at .* failed"):
        store.upsert("ns", ["c"], np.array([[1.0, 0.0, 0.0]], dtype=np.float32))
    with pytest.raises(KaratError, match=r"Qdrant at .* failed"):
        store.upsert("new", ["c"], np.empty((1, 0), dtype=np.float32))
    store.drop("ns")
    store.close()


def test_the_approximate_index_of_a_server(qdrant_url: str) -> None:
    store = QdrantStore(url=qdrant_url, prefix="near-", exact=False)
    write(store, "ns", {"a": [1.0, 0.0], "b": [0.0, 1.0]})
    assert keys_near(store, "ns", [0.0, 1.0], 1) == ["b"]
    store.drop("ns")
    store.close()


def test_a_folder_keeps_what_was_written(tmp_path: Path) -> None:
    with closing(QdrantStore(path=str(tmp_path))) as store:
        write(store, "ns", {"a": [1.0, 0.0], "b": [0.0, 1.0]})
    with closing(QdrantStore(path=str(tmp_path))) as store:
        assert keys_near(store, "ns", [0.0, 1.0], 10) == ["b", "a"]


# The client drops the lock file that it could not lock without closing it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_folder_is_open_once(tmp_path: Path) -> None:
    with closing(QdrantStore(path=str(tmp_path))):
        with pytest.raises(KaratError, match="cannot be opened"):
            QdrantStore(path=str(tmp_path))
        gc.collect()


def test_collections_of_others_are_left_alone(tmp_path: Path) -> None:
    client = QdrantClient(path=str(tmp_path))
    client.create_collection("karat-odd", vectors_config={})
    size = models.VectorParams(size=2, distance=models.Distance.DOT)
    client.create_collection("theirs", vectors_config=size)
    client.close()
    with closing(QdrantStore(path=str(tmp_path))) as store:
        assert store.namespaces() == ["odd"]
        with pytest.raises(
            InputError, match="'karat-odd' was not created by Karat; choose another prefix"
        ):
            store.dimension("odd")


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(KaratError, match=r"Qdrant at http://127\.0\.0\.1:1 failed"):
        QdrantStore(url="http://127.0.0.1:1")


def test_the_next_address_of_a_cluster_is_used(qdrant_url: str) -> None:
    store = QdrantStore(url=f"http://127.0.0.1:1 {qdrant_url}", prefix="second-")
    assert store.namespaces() == []
    store.close()


def test_shards_and_replicas_are_those_of_the_collection(qdrant_url: str) -> None:
    store = QdrantStore(url=qdrant_url, prefix="parts-", shards=3, replicas=1)
    store.add("ns", ["a"], np.ones((1, 1), np.float32))
    client = QdrantClient(url=qdrant_url, check_compatibility=False)
    parameters = client.get_collection("parts-ns").config.params
    assert (parameters.shard_number, parameters.replication_factor) == (3, 1)
    client.close()
    store.drop("ns")
    store.close()
    with pytest.raises(InputError, match="replicas is 0; expected a whole number from 1 up"):
        QdrantStore(replicas=0)


def test_an_older_server_is_rejected(qdrant_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.extensions.stores.qdrant.OLDEST", (99, 0))
    with pytest.raises(InputError, match=r"is version 1\.\d+\.\d+; expected 99\.0 or newer"):
        QdrantStore(url=qdrant_url)


def test_an_address_is_shown_without_its_password() -> None:
    with pytest.raises(KaratError, match=r"Qdrant at http://127\.0\.0\.1:1 failed") as caught:
        QdrantStore(url="http://ann:s3cret@127.0.0.1:1")
    assert "s3cret" not in str(caught.value)


def test_options_that_contradict(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="both url and path"):
        QdrantStore(url="http://x", path=str(tmp_path))
    with pytest.raises(InputError, match="'a/x' is not allowed"):
        QdrantStore(prefix="a/")
