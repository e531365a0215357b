"""Embed one part of the texts of many snapshots into the cache, before any search.

Several machines divide the texts among them, so that each text is embedded by one of them.
"""

from collections.abc import Hashable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial

from karat.corpus import Corpus
from karat.engines.chunk_index import ChunkIndex
from karat.engines.chunk_table import ChunkLocation, Grower, RowNumbers
from karat.engines.embed_part import EmbedPart
from karat.engines.embedding.base import SupportsManyTexts
from karat.engines.embedding.cache import CachedEmbedder, EmbeddingCache, vector_key
from karat.engines.stages import DenseStage, texts_of

__all__ = ["embed_ahead"]

# Texts that are looked up, embedded and stored together.
TEXTS_AT_ONCE = 2_048


class _PartEmbedder:
    """Embeds the texts of *stage* that belong to *part*, each once."""

    def __init__(self, stage: DenseStage, cache: EmbeddingCache, part: EmbedPart) -> None:
        self._windows = stage.windows
        self._digest = stage.embedder.digest
        self._cache = cache
        self._cached = CachedEmbedder(stage.embedder, cache)
        self._part = part
        self._seen: set[bytes] = set()
        self._waiting: dict[bytes, str] = {}

    @property
    def embedded(self) -> int:
        """Return how many texts were embedded; the others were in the cache."""
        return len(self._seen) - len(self._waiting) - self._cached.reused

    def add(self, chunks: Sequence[ChunkLocation]) -> None:
        """Embed the texts of *chunks*, as soon as there are enough of them."""
        for location in chunks:
            for text in texts_of(location, self._windows):
                key = vector_key(text, digest=self._digest, kind="document")
                if self._part.has(key) and key not in self._seen:
                    self._seen.add(key)
                    self._waiting[key] = text
        if len(self._waiting) >= TEXTS_AT_ONCE:
            self.embed()

    def embed(self) -> None:
        """Embed all texts that wait, and let other machines find them."""
        if self._waiting:
            self._cached.embed(list(self._waiting.values()), "document")
            self._cache.publish(list(self._waiting))
            self._waiting.clear()


def embed_ahead(
    indexes: Iterable[ChunkIndex], corpora: Iterable[Corpus], part: EmbedPart
) -> dict[Hashable, int]:
    """Embed the texts of *corpora* that belong to *part*, as the stages of *indexes* would.

    Nothing is indexed, and nothing is embedded by a remote model, for a store, or without a cache.
    The result is the number of texts that each stage has embedded, by its identity.
    """
    with ExitStack() as opened:
        found: dict[Hashable, _PartEmbedder] = {}
        cuts: list[tuple[ChunkIndex, RowNumbers, Grower]] = []
        for index in indexes:
            embedders = {
                stage.identity: _PartEmbedder(stage, cache, part)
                for stage in index.stages
                if isinstance(stage, DenseStage)
                and stage.store is None
                and not isinstance(stage.embedder, SupportsManyTexts)
                and (cache := opened.enter_context(stage.caches.vectors())) is not None
            }
            if embedders:
                found |= embedders
                cuts.append((index, RowNumbers(), partial(_add, tuple(embedders.values()))))
        for corpus in corpora:
            for index, rows, take in cuts:
                index.pass_new(corpus, rows, take)
        for embedder in found.values():
            embedder.embed()
        return {identity: embedder.embedded for identity, embedder in found.items()}


def _add(embedders: Iterable[_PartEmbedder], chunks: Sequence[ChunkLocation]) -> None:
    for embedder in embedders:
        embedder.add(chunks)
