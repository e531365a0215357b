"""Collections that were searched a moment ago stay ready to be searched."""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter_ns
from typing import NamedTuple

from karat.app.collections import Places, collection_corpus, collection_spec
from karat.app.search import engine_of
from karat.corpus import Corpus
from karat.engines.base import Engine
from karat.model import Hit
from karat.store.service import Collection

__all__ = ["Searchers"]

MOST_COLLECTIONS = 4


class Found(NamedTuple):
    """What one mode found, and how long that took without indexing."""

    hits: list[Hit]
    search_ns: int


@dataclass
class _Ready:
    """The documents of one collection, and the engines that were asked about them."""

    corpus: Corpus
    engines: dict[str, Engine] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


class Searchers:
    """Keeps the collections that were asked for last; threads may share it.

    One search at a time indexes a collection; the others wait and find it ready.
    """

    def __init__(self, places: Places) -> None:
        """Start with none."""
        self._places = places
        self._ready: OrderedDict[tuple[str, str], _Ready] = OrderedDict()
        self._lock = Lock()

    def corpus(self, collection: Collection) -> Corpus:
        """Return the documents of *collection*, as they were indexed."""
        return self._of(collection).corpus

    def search(
        self, collection: Collection, query: str, mode: str, *, use_reranker: bool, top_k: int
    ) -> Found:
        """Return what *mode* finds."""
        spec = collection_spec(collection, mode, use_reranker=use_reranker, top_k=top_k)
        ready = self._of(collection)
        with ready.lock:
            engine = ready.engines.get(spec.digest)
            if engine is None:
                engine = engine_of(spec)
                engine.index(ready.corpus)
                ready.engines[spec.digest] = engine
            begun = perf_counter_ns()
            hits = list(engine.search(query, top_k))
            return Found(hits, perf_counter_ns() - begun)

    def _of(self, collection: Collection) -> _Ready:
        key = (collection.id, collection.snapshot)
        with self._lock:
            found = self._ready.pop(key, None)
            if found is None:
                found = _Ready(collection_corpus(collection, self._places))
            self._ready[key] = found
            if len(self._ready) > MOST_COLLECTIONS:
                self._ready.popitem(last=False)
            return found
