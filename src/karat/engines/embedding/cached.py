"""An embedder that remembers: what was embedded once is read from the cache."""

from collections.abc import Sequence

from karat.engines.embedding.base import Embedder, Kind
from karat.engines.embedding.cache import EmbeddingCache, vector_key
from karat.engines.embedding.texts import Vectors, embed_distinct

__all__ = ["CachedEmbedder"]

# What is written together: an interrupted run loses no more than this.
TEXTS_A_STEP = 256


class CachedEmbedder:
    """Embeds by *embedder* what *cache* does not know; the rows are the same either way.

    *reused* counts the rows that it knew. Token vectors are hundreds of times as large and are
    not kept: ask ``embedder`` for them.
    """

    def __init__(self, embedder: Embedder, cache: EmbeddingCache) -> None:
        """Stand before *embedder*."""
        self.embedder = embedder
        self._cache = cache
        self.reused = 0

    @property
    def name(self) -> str:
        """Return the embedder's name."""
        return self.embedder.name

    @property
    def dimension(self) -> int:
        """Return the length of a row."""
        return self.embedder.dimension

    @property
    def max_tokens(self) -> int | None:
        """Return how many tokens of a text count."""
        return self.embedder.max_tokens

    @property
    def digest(self) -> str:
        """Return the embedder's identity."""
        return self.embedder.digest

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Return one row of length 1 a text."""
        return embed_distinct(texts, self.dimension, lambda some: self._rows(some, kind))

    def _rows(self, texts: list[str], kind: Kind) -> Vectors:
        import numpy as np

        digest = self.digest
        keys = [vector_key(text, digest=digest, kind=kind) for text in texts]
        known = self._cache.get(keys, self.dimension)
        missing = [number for number, key in enumerate(keys) if key not in known]
        self.reused += len(texts) - len(missing)
        for start in range(0, len(missing), TEXTS_A_STEP):
            step = missing[start : start + TEXTS_A_STEP]
            rows = self.embedder.embed([texts[number] for number in step], kind)
            new = {keys[number]: row for number, row in zip(step, rows, strict=True)}
            self._cache.put(new)
            known |= new
        return np.stack([known[key] for key in keys])
