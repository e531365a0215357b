"""Collections that were searched a moment ago stay ready to be searched."""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter_ns
from typing import NamedTuple

from karat.app.search import engine_of
from karat.corpus import Corpus
from karat.engines.base import Engine
from karat.model import Hit
from karat.service.collections import AllowedFolders, collection_corpus, collection_spec
from karat.service.store import Collection

__all__ = ["Searchers"]

MOST_COLLECTIONS = 4


class ModeResult(NamedTuple):
    """What one mode found, and how long that took without indexing."""

    hits: list[Hit]
    search_ns: int


@dataclass
class _Ready:
    """The documents of one collection, once they were read, and the engines that were asked.

    Who only reads does not wait for a search.
    """

    corpus: Corpus | None = None
    engines: dict[str, Engine] = field(default_factory=dict)
    reading: Lock = field(default_factory=Lock)
    searching: Lock = field(default_factory=Lock)


class Searchers:
    """Keeps the collections that were asked for last; threads may share it.

    One at a time reads or indexes a collection; the others of the same wait and find it ready.
    """

    def __init__(self, places: AllowedFolders) -> None:
        """Start with none."""
        self._places = places
        self._ready: OrderedDict[tuple[str, str], _Ready] = OrderedDict()
        self._lock = Lock()

    def corpus(self, collection: Collection) -> Corpus:
        """Return the documents of *collection*, as they were indexed."""
        ready = self._of(collection)
        with ready.reading:
            if ready.corpus is None:
                ready.corpus = collection_corpus(collection, self._places)
            return ready.corpus

    def search(
        self, collection: Collection, query: str, mode: str, *, use_reranker: bool, top_k: int
    ) -> ModeResult:
        """Return what *mode* finds."""
        spec = collection_spec(collection, mode, use_reranker=use_reranker, top_k=top_k)
        corpus = self.corpus(collection)
        ready = self._of(collection)
        with ready.searching:
            engine = ready.engines.get(spec.digest)
            if engine is None:
                engine = engine_of(spec)
                engine.index(corpus)
                ready.engines[spec.digest] = engine
            begun = perf_counter_ns()
            hits = list(engine.search(query, top_k))
            return ModeResult(hits, perf_counter_ns() - begun)

    def _of(self, collection: Collection) -> _Ready:
        key = (collection.id, collection.snapshot)
        with self._lock:
            found = self._ready.pop(key, None) or _Ready()
            self._ready[key] = found
            if len(self._ready) > MOST_COLLECTIONS:
                self._ready.popitem(last=False)
            return found
