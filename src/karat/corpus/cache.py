"""Caches of chunks by content, so that no content is cut twice."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from karat.corpus.chunkers.base import Chunk

__all__ = ["CachedChunks", "ChunkCache", "ChunkKey", "MemoryCache"]


class ChunkKey(NamedTuple):
    """All that the chunks of a document depend on; *digest* is that of the chunker's spec."""

    blob: str
    language: str
    digest: str


class CachedChunks(NamedTuple):
    """The chunks of one content, and the reason of a fallback ("" if there was none)."""

    chunks: tuple[Chunk, ...]
    fallback: str = ""


class ChunkCache(Protocol):
    """Stores chunks by content.

    The contract: a value equals what was stored under its key. Evicting entries is allowed.
    """

    def get(self, keys: Iterable[ChunkKey]) -> Mapping[ChunkKey, CachedChunks]:
        """Return those of *keys* that are known."""
        ...

    def put(self, cuts: Mapping[ChunkKey, CachedChunks]) -> None:
        """Store *cuts*."""
        ...


class MemoryCache:
    """A cache that lives as long as the object does."""

    def __init__(self) -> None:
        """Start empty."""
        self._cuts: dict[ChunkKey, CachedChunks] = {}

    def __len__(self) -> int:
        return len(self._cuts)

    def get(self, keys: Iterable[ChunkKey]) -> dict[ChunkKey, CachedChunks]:
        """Return those of *keys* that are known."""
        return {key: self._cuts[key] for key in keys if key in self._cuts}

    def put(self, cuts: Mapping[ChunkKey, CachedChunks]) -> None:
        """Store *cuts*."""
        self._cuts.update(cuts)
