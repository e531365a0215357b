"""Parts of a search that give every place a score; an engine fuses them."""

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Protocol, runtime_checkable

import numpy as np

from karat.engines.base import Progress
from karat.engines.caches import NO_CACHES, Caches
from karat.engines.current import Current
from karat.engines.embedding import Embedder
from karat.engines.embedding.cached import CachedEmbedder
from karat.engines.fusion import Scores
from karat.engines.lexical.bm25 import BM25
from karat.engines.lexical.index import LexicalIndex
from karat.engines.places import Place, Places
from karat.engines.rows import Numbers
from karat.engines.vector_table import VectorTable
from karat.engines.vectors.hnsw import APPROXIMATE_ABOVE
from karat.engines.windows import check_windows, texts_of
from karat.errors import InputError

__all__ = ["DenseStage", "LexicalStage", "Stage", "SupportsRows"]

# How often a header may count; words are counted in 16 bits.
MOST_HEADER = 1000
# Embedded together: as often is progress told, and no more is lost when it is interrupted.
TEXTS_A_STEP = 64


class Stage(Protocol):
    """Scores every place for a query; 0 means not found, and higher is better.

    *by_words* says whether the scores come from words, of which names in code are made.
    """

    name: str
    by_words: bool

    @property
    def identity(self) -> Hashable:
        """Return what the scores depend on; two stages of one identity could be one."""
        ...

    def index(self, places: Places) -> None:
        """Prepare to score *places*, in place of what was indexed before."""
        ...

    def scores(self, query: str) -> Scores:
        """Return one score per place."""
        ...


@runtime_checkable
class SupportsRows(Protocol):
    """A stage that moves between snapshots; the places that it indexed first are rows 0, 1, ...

    After ``show`` the scores are bit for bit those of a stage that indexed just those places.
    """

    def grow(self, places: Sequence[Place]) -> None:
        """Append *places* as further rows; none is ever removed."""
        ...

    def show(self, rows: Numbers) -> None:
        """Score *rows*, in this order, from now on."""
        ...


class LexicalStage:
    """BM25 over the text of each place, its header counting *header* times."""

    name = "bm25"
    by_words = True

    def __init__(self, *, k1: float = 1.2, b: float = 0.75, header: int = 2) -> None:
        """Keep the parameters; nothing is indexed yet."""
        if not 0 <= header <= MOST_HEADER:
            raise InputError(f"header={header}; expected a whole number from 0 to {MOST_HEADER}")
        self.bm25 = BM25(k1, b)
        self.header = header
        self._index = LexicalIndex(bm25=self.bm25)
        self._view = self._index.view()
        self._rows: Numbers | None = None

    @property
    def identity(self) -> Hashable:
        """Return the parameters."""
        return type(self), self.bm25, self.header

    def index(self, places: Places) -> None:
        """Count the words of every place."""
        self._index = LexicalIndex(bm25=self.bm25)
        self.grow(places.rows)
        self._view = self._index.view()
        self._rows = None

    def grow(self, places: Sequence[Place]) -> None:
        """Count the words of further places."""
        self._index.add([(place.header, self.header), (place.chunk.text, 1)] for place in places)

    def show(self, rows: Numbers) -> None:
        """Score *rows* by the statistics of just those."""
        live = np.zeros(len(self._index), np.bool_)
        live[rows] = True
        self._view = self._index.view(live)
        self._rows = rows

    def index_bytes(self) -> int:
        """Return the bytes of the postings."""
        return self._index.nbytes

    def scores(self, query: str) -> Scores:
        """Return the BM25 score of every place."""
        scores = self._index.scores(query, live=self._view)
        return scores if self._rows is None else scores[self._rows]


class DenseStage:
    """Cosine between the embedding of the query and that of each place with its header.

    *windows* says which places are embedded in parts; the nearest part then speaks for the place.
    Each distinct text is embedded once, and not at all where *caches* hold its vector. A query
    never comes from a cache, so that its time is its own, unless it was expected.
    """

    name = "dense"
    by_words = False

    def __init__(
        self,
        embedder: Embedder,
        *,
        windows: str = "none",
        caches: Caches = NO_CACHES,
        approximate_above: int = APPROXIMATE_ABOVE,
    ) -> None:
        """Keep the *embedder*; nothing is embedded yet."""
        self.embedder = embedder
        self.windows = check_windows(windows)
        self.caches = caches
        self.current = Current(keeps=False)
        self._above = approximate_above
        self._progress: Progress | None = None
        self._clear()

    def _clear(self) -> None:
        self._table = VectorTable(self.embedder.dimension, approximate_above=self._above)
        self._vectors = 0
        self._known: dict[tuple[str, str], range] = {}
        self._of_row: list[range] = []
        self._shown: Numbers = np.empty(0, np.intp)
        self._firsts: Numbers = self._shown
        self._live = np.empty(0, np.bool_)
        self._embedded = self._reused = 0

    @property
    def identity(self) -> Hashable:
        """Return the model, and what of a place it reads."""
        return type(self), self.embedder.digest, self.windows, self._above

    @property
    def recall(self) -> float | None:
        """Return the share of the nearest places that are found; None where all are compared."""
        return self._table.recall

    def watch(self, progress: Progress | None) -> None:
        """Tell *progress* how many texts of how many are embedded, while indexing."""
        self._progress = progress

    def work(self) -> Mapping[str, int]:
        """Return how many texts were embedded since ``index``, and how many came from a cache."""
        return {"embedded": self._embedded, "reused": self._reused}

    def index(self, places: Places) -> None:
        """Embed every place."""
        self._clear()
        self.grow(places.rows)
        self.show(np.arange(len(places)))

    def grow(self, places: Sequence[Place]) -> None:
        """Embed the texts of *places* that no earlier place had."""
        new: list[str] = []
        for place in places:
            key = place.header, place.chunk.id
            if key not in self._known:
                texts = texts_of(place, self.windows)
                self._known[key] = range(self._vectors, self._vectors + len(texts))
                self._vectors += len(texts)
                new += texts
            self._of_row.append(self._known[key])
        if new:
            self._embed(new)

    def show(self, rows: Numbers) -> None:
        """Score *rows*."""
        self._table.prepare()
        ranges = [self._of_row[row] for row in rows]
        self._shown = np.fromiter(chain.from_iterable(ranges), np.intp)
        self._firsts = np.cumsum([0, *map(len, ranges)])[:-1]
        self._live = np.zeros(len(self._table), np.bool_)
        self._live[self._shown] = True

    def index_bytes(self) -> int:
        """Return the bytes of the vectors."""
        return self._table.rows.nbytes

    def expect(self, queries: Sequence[str]) -> None:
        """Embed *queries* in one call."""
        make = partial(self.embedder.embed, queries, "query")
        self.current.expect(queries, self.embedder.digest, make)

    def scores(self, query: str) -> Scores:
        """Return the cosine of every place; what points away from the query counts 0."""
        vector = self.current.once(query, self.embedder.digest, lambda: self._vector(query))
        products = self._table.products(vector, self._live)[self._shown]
        scores: Scores = np.maximum.reduceat(products, self._firsts) if len(products) else products
        return scores

    def _vector(self, query: str) -> Scores:
        vector: Scores = self.embedder.embed([query], "query")[0]
        return vector

    def _embed(self, texts: Sequence[str]) -> None:
        with self.caches.vectors() as cache:
            cached = None if cache is None else CachedEmbedder(self.embedder, cache)
            for start in range(0, len(texts), TEXTS_A_STEP):
                some = texts[start : start + TEXTS_A_STEP]
                self._table.extend((cached or self.embedder).embed(some, "document"))
                if self._progress:
                    self._progress(start + len(some), len(texts))
            reused = cached.reused if cached else 0
        self._reused += reused
        self._embedded += len(texts) - reused
