"""Texts on their way to a model: none is empty, and none is embedded twice."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from math import inf
from typing import Self

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding.base import Embedder, Kind, PartlyEmbedded
from karat.errors import InputError
from karat.system.packs import TieredCache, with_remote
from karat.system.sqlite import DEFAULT_CACHE_BYTES, EVICTED_ROWS, KeyValueFile

Vectors = NDArray[np.float32]
# Raise it when the content of a key or the stored form changes.
VECTORS_VERSION = 2


def embeddable(text: str) -> str:
    r"""Return *text* as UTF-8 can hold it; half of a surrogate pair becomes a question mark.

    >>> embeddable("naïve 🙂"), embeddable("half \ud83d")
    ('naïve 🙂', 'half ?')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def unit(rows: NDArray[np.floating]) -> Vectors:
    """Return *rows* at length 1; a row of zeros has no direction and stays.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def embed_distinct(
    texts: Sequence[str], dimension: int, embed: Callable[[list[str]], Vectors]
) -> Vectors:
    """Return a row for each of *texts*; *embed* sees each distinct text that is not blank, once."""
    if isinstance(texts, str):
        raise InputError(f"texts is a string, {texts[:40]!r}; expected a list of texts")
    cleaned = [embeddable(text) for text in texts]
    distinct = list(dict.fromkeys(text for text in cleaned if text.strip()))
    rows = np.zeros((len(cleaned), dimension), dtype=np.float32)
    if distinct:
        vectors = embed(distinct)
        number_of = {text: number for number, text in enumerate(distinct)}
        filled = [number for number, text in enumerate(cleaned) if text in number_of]
        rows[filled] = vectors[[number_of[cleaned[number]] for number in filled]]
    return rows


def vector_key(text: str, *, digest: str, kind: str) -> bytes:
    """Return the key of *text*: equal content, weights, settings and kind have equal keys."""
    start = f"{VECTORS_VERSION}\0{digest}\0{kind}\0"
    return sha256(start.encode() + text.encode("utf-8", "surrogatepass")).digest()


class EmbeddingCache:
    """Rows of float32 by key, in the file *path*; several processes may use it at once.

    Nothing is pickled: a value is the bytes of its numbers. A row of another length is a miss.
    Rows that other machines have stored are fetched from the remote tier, if there is one.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_bytes: int = DEFAULT_CACHE_BYTES,
        evicted_rows: int = EVICTED_ROWS,
        needed_since: float = inf,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open or create the file; above *max_bytes*, *evicted_rows* rows at a time are deleted.

        Rows that were used since the time *needed_since* are never deleted.
        """
        local = KeyValueFile(
            path,
            name="embedding cache",
            version=VECTORS_VERSION,
            max_bytes=max_bytes,
            evicted_rows=evicted_rows,
            needed_since=needed_since,
            clock=clock,
        )
        self._file = with_remote(local, f"vectors-{VECTORS_VERSION}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __len__(self) -> int:
        return len(self._file)

    def get(self, keys: Sequence[bytes], dimension: int) -> dict[bytes, NDArray[np.float32]]:
        """Return the rows of those *keys* that are in the cache."""
        return {
            key: np.frombuffer(value, "<f4")
            for key, value in self._file.get(keys).items()
            if len(value) == 4 * dimension
        }

    def put(self, rows: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Store *rows* in one transaction."""
        self._file.put(
            {key: np.ascontiguousarray(row, "<f4").tobytes() for key, row in rows.items()}
        )

    def publish(self, keys: Sequence[bytes]) -> None:
        """Store the rows of *keys* in the remote tier, if there is one and it lacks them."""
        if isinstance(self._file, TieredCache):
            self._file.publish(keys)


# Rows per write: an interruption loses at most these.
TEXTS_A_STEP = 256


class CachedEmbedder(Embedder):
    """Embeds cache misses with *embedder*; the rows are the same either way.

    *reused* counts the rows that it knew. Token vectors are hundreds of times as large and are
    not cached: call ``embedder`` for them.
    """

    def __init__(self, embedder: Embedder, cache: EmbeddingCache) -> None:
        """Wrap *embedder*."""
        self.name = embedder.name
        self.digest = embedder.digest
        self.max_tokens = embedder.max_tokens
        self.embedder = embedder
        self._cache = cache
        self.reused = 0

    @property
    def dimension(self) -> int:
        """Return the length of a row."""
        return self.embedder.dimension

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Return one row of length 1 per text."""
        return embed_distinct(texts, self.dimension, lambda some: self._cached_or_new(some, kind))

    def _cached_or_new(self, texts: list[str], kind: Kind) -> Vectors:
        digest = self.digest
        keys = [vector_key(text, digest=digest, kind=kind) for text in texts]
        known = self._cache.get(keys, self.dimension)
        missing = [number for number, key in enumerate(keys) if key not in known]
        self.reused += len(texts) - len(missing)
        size = max(TEXTS_A_STEP, self.embedder.texts_at_once)
        for start in range(0, len(missing), size):
            step = missing[start : start + size]
            try:
                rows = self.embedder.embed([texts[number] for number in step], kind)
            except PartlyEmbedded as error:
                done = [number for number in step if texts[number] in error.rows]
                self._cache.put({keys[number]: error.rows[texts[number]] for number in done})
                raise
            new = {keys[number]: row for number, row in zip(step, rows, strict=True)}
            self._cache.put(new)
            known |= new
        return np.stack([known[key] for key in keys])
