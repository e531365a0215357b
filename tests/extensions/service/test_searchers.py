"""Collections that are kept ready; one of them keeps nobody of another waiting."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest

from karat.corpus import Corpus, from_texts
from karat.extensions.service import collections as searchers_module
from karat.extensions.service.collections import MOST_COLLECTIONS, AllowedFolders, SearcherCache
from karat.extensions.service.store import Collection
from tests.extensions.service.conftest import PATIENCE_S

PLACES = AllowedFolders((), Path())
NOW = datetime(2025, 1, 2, tzinfo=UTC)


def collection(name: str) -> Collection:
    index = {"dense": False, "sparse": True, "chunker": "auto", "model": "static"}
    return Collection(name, "ann", name, "", {}, index, "ready", "", "s1", {}, None, NOW, NOW)


def test_each_waits_for_its_own_only(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, gate = Event(), Event()
    read: list[str] = []

    def load(collection: Collection, _folders: AllowedFolders) -> Corpus:
        read.append(collection.name)
        if collection.name == "slow":
            begun.set()
            assert gate.wait(PATIENCE_S)
        return from_texts({"a.md": f"# {collection.name}\n"})

    monkeypatch.setattr(searchers_module, "collection_corpus", load)
    searchers = SearcherCache(PLACES)
    with ThreadPoolExecutor(3) as threads:
        slow = [threads.submit(searchers.corpus, collection("slow")) for _ in range(2)]
        assert begun.wait(PATIENCE_S)
        quick = threads.submit(searchers.corpus, collection("quick"))
        try:
            assert quick.result(PATIENCE_S).read("a.md") == "# quick\n"
            assert not any(each.done() for each in slow)
        finally:
            gate.set()
        assert slow[0].result() is slow[1].result()
    assert sorted(read) == ["quick", "slow"]


def test_the_last_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def load(collection: Collection, _folders: AllowedFolders) -> Corpus:
        read.append(collection.name)
        return from_texts({"a.md": "# Letters are sent\n"})

    monkeypatch.setattr(searchers_module, "collection_corpus", load)
    searchers = SearcherCache(PLACES)
    names = [str(number) for number in range(MOST_COLLECTIONS + 1)]
    for name in [*names, names[-1], names[0]]:
        result = searchers.search(
            collection(name), "letters", "sparse", use_reranker=False, top_k=3
        )
        assert [hit.path for hit in result.hits] == ["a.md"]
    assert read == [*names, names[0]]


def test_one_that_cannot_be_read_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def load(collection: Collection, _folders: AllowedFolders) -> Corpus:
        tried.append(collection.name)
        if len(tried) == 1:
            raise OSError("away")
        return from_texts({"a.md": "x"})

    monkeypatch.setattr(searchers_module, "collection_corpus", load)
    searchers = SearcherCache(PLACES)
    with pytest.raises(OSError, match="away"):
        searchers.corpus(collection("a"))
    assert len(searchers.corpus(collection("a"))) == 1
