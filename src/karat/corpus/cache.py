"""Caches of chunks by content, so that no content is cut twice."""

import json
import os
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from typing import NamedTuple, Protocol, Self

from karat.corpus.chunkers.base import TIMED_OUT, Chunk, Piece, SplitResult, chunks_of
from karat.system.packs import with_remote
from karat.system.sqlite import KeyValueFile

__all__ = [
    "CachedChunks",
    "ChunkCache",
    "ChunkKey",
    "DiskCache",
    "MemoryCache",
    "chunking_code",
    "code_digest",
]


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
    """A cache that lives as long as the object does.

    Beyond *max_characters* of text, the entries that were stored first are evicted.
    """

    def __init__(self, max_characters: int | None = None) -> None:
        """Start empty."""
        self._cuts: dict[ChunkKey, CachedChunks] = {}
        self._max_characters = max_characters
        self._characters = 0

    def __len__(self) -> int:
        return len(self._cuts)

    def get(self, keys: Iterable[ChunkKey]) -> dict[ChunkKey, CachedChunks]:
        """Return those of *keys* that are known."""
        return {key: self._cuts[key] for key in keys if key in self._cuts}

    def put(self, cuts: Mapping[ChunkKey, CachedChunks]) -> None:
        """Store *cuts*."""
        if self._max_characters is None:
            self._cuts.update(cuts)
            return
        new = {key: cut for key, cut in cuts.items() if key not in self._cuts}
        self._characters += sum(map(_characters, new.values()))
        self._cuts.update(new)
        while self._characters > self._max_characters and self._cuts:
            self._characters -= _characters(self._cuts.pop(next(iter(self._cuts))))


def _characters(cut: CachedChunks) -> int:
    return sum(len(chunk.text) for chunk in cut.chunks)


_FASTEST = 1
# Maximum size of the cache in memory, beside the file.
MEMORY_CHARACTERS = 16 * 1024**2


class DiskCache:
    """Stores chunks in the file *path*, and those of this process in memory as well.

    Values are compressed JSON, never pickled. A value that cannot be read is a cache miss. The file
    is emptied when the code that cuts documents has changed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open or create the file."""
        self._memory = MemoryCache(MEMORY_CHARACTERS)
        local = KeyValueFile(path, name="chunk cache", version=int(chunking_code()[:7], 16))
        self._file = with_remote(local, f"chunks-{chunking_code()[:16]}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def get(self, keys: Iterable[ChunkKey]) -> dict[ChunkKey, CachedChunks]:
        """Return the chunks of those *keys* that are in the cache."""
        wanted = list(keys)
        hits = self._memory.get(wanted)
        missing = {_name(key): key for key in wanted if key not in hits}
        read: dict[ChunkKey, CachedChunks] = {}
        for name, value in self._file.get(list(missing)).items():
            chunks = _unpacked(value, missing[name])
            if chunks is not None:
                read[missing[name]] = chunks
        self._memory.put(read)
        return hits | read

    def put(self, cuts: Mapping[ChunkKey, CachedChunks]) -> None:
        """Store *cuts*; those whose parse timed out are stored in memory only."""
        self._memory.put(cuts)
        self._file.put(
            {_name(key): _packed(cut) for key, cut in cuts.items() if cut.fallback != TIMED_OUT}
        )


@cache
def chunking_code() -> str:
    """Return the hash of this package: equal specs may give other chunks when its code changes."""
    return code_digest("karat.corpus", "karat.corpus.chunkers")


def code_digest(*packages: str) -> str:
    """Return the hash of all modules directly in *packages*."""
    from importlib.resources import files

    digest = sha256()
    for package in packages:
        for file in sorted(files(package).iterdir(), key=lambda file: file.name):
            if file.name.endswith(".py"):
                digest.update(file.read_bytes())
    return digest.hexdigest()


def _name(key: ChunkKey) -> bytes:
    return sha256("\0".join((chunking_code(), *key)).encode()).digest()


def _packed(cut: CachedChunks) -> bytes:
    pieces = [(c.start_line, c.end_line, c.text, c.symbols, c.scope, c.kind) for c in cut.chunks]
    return zlib.compress(json.dumps([cut.fallback, pieces], ensure_ascii=False).encode(), _FASTEST)


def _unpacked(value: bytes, key: ChunkKey) -> CachedChunks | None:
    try:
        fallback, rows = json.loads(zlib.decompress(value))
        pieces = [
            Piece(start, end, text, tuple(symbols), tuple(scope), kind)
            for start, end, text, symbols, scope, kind in rows
        ]
    except (zlib.error, ValueError, TypeError):
        return None
    return CachedChunks(chunks_of(SplitResult(pieces), blob=key.blob, digest=key.digest), fallback)
