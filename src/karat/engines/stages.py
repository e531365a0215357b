"""Parts of a search that give every place a score; an engine fuses them."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding import Embedder
from karat.engines.fusion import Scores
from karat.engines.lexical.bm25 import BM25
from karat.engines.lexical.index import LexicalIndex
from karat.engines.places import Places

__all__ = ["DenseStage", "LexicalStage", "Stage"]


class Stage(Protocol):
    """Scores every place for a query; 0 means not found, and higher is better."""

    name: str

    def index(self, places: Places) -> None:
        """Prepare to score *places*, in place of what was indexed before."""
        ...

    def scores(self, query: str) -> Scores:
        """Return one score per place."""
        ...


class LexicalStage:
    """BM25 over the text of each place, its header counting *header* times."""

    name = "bm25"

    def __init__(self, *, k1: float = 1.2, b: float = 0.75, header: int = 2) -> None:
        """Keep the parameters; nothing is indexed yet."""
        self.bm25 = BM25(k1, b)
        self.header = header
        self._index = LexicalIndex(bm25=self.bm25)

    def index(self, places: Places) -> None:
        """Count the words of every place."""
        self._index = LexicalIndex(bm25=self.bm25)
        self._index.add([(place.header, self.header), (place.chunk.text, 1)] for place in places)

    def scores(self, query: str) -> Scores:
        """Return the BM25 score of every place."""
        return self._index.scores(query)


class DenseStage:
    """Cosine between the embedding of the query and that of each place with its header."""

    name = "dense"

    def __init__(self, embedder: Embedder) -> None:
        """Keep the *embedder*; nothing is embedded yet."""
        self.embedder = embedder
        self._vectors: NDArray[np.float32] = np.empty((0, embedder.dimension), np.float32)

    def index(self, places: Places) -> None:
        """Embed every place."""
        texts = [f"{place.header}\n{place.chunk.text}" for place in places]
        self._vectors = self.embedder.embed(texts, "document")

    def scores(self, query: str) -> Scores:
        """Return the cosine of every place; what points away from the query counts 0."""
        vector = self.embedder.embed([query], "query")[0]
        cosines: Scores = np.maximum(self._vectors @ vector, np.float32(0))
        return cosines
