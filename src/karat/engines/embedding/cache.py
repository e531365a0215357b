"""A cache of vectors in one SQLite file, so that no text is embedded twice."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Self

import numpy as np
from numpy.typing import NDArray

from karat.corpus.shared_file import WAIT_S, share, writing
from karat.engines.embedding.base import Embedder, Kind
from karat.engines.embedding.texts import Vectors, embed_distinct
from karat.errors import InputError

__all__ = ["CachedEmbedder", "EmbeddingCache", "cache_folder", "vector_key"]

# Raise it when the stored form changes.
VERSION = 1

MOST_BYTES = 2 * 1024**3
KEYS_A_QUERY = 500
ROWS_A_SWEEP = 5_000
# Writing down every use would make each lookup a write; a day is close enough for the oldest.
DAY_S = 86_400

SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vector "
    "(key BLOB PRIMARY KEY, used INTEGER NOT NULL, value BLOB NOT NULL)",
    "CREATE INDEX IF NOT EXISTS vector_used ON vector (used)",
)


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return where this user's caches lie: KARAT_CACHE, else by the XDG rules.

    >>> cache_folder({"KARAT_CACHE": "/data/karat"}).as_posix()
    '/data/karat'
    >>> cache_folder({"XDG_CACHE_HOME": "/data/cache"}).as_posix()
    '/data/cache/karat'
    """
    if environment.get("KARAT_CACHE"):
        return Path(environment["KARAT_CACHE"])
    home = environment.get("XDG_CACHE_HOME", "")
    # The rules say that a relative path is to be ignored.
    base = Path(home) if home and Path(home).is_absolute() else Path.home() / ".cache"
    return base / "karat"


def vector_key(text: str, *, digest: str, kind: str) -> bytes:
    """Return the key of *text*: equal content, weights, settings and kind have equal keys."""
    start = f"{VERSION}\0{digest}\0{kind}\0"
    return sha256(start.encode() + text.encode("utf-8", "surrogatepass")).digest()


class EmbeddingCache:
    """Rows of float32 by key, in the file *path*; several processes may use it at once.

    Above *max_bytes* the rows that were used least recently go. Nothing is pickled: a value is the
    bytes of its numbers, and one of the wrong length counts as unknown.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_bytes: int = MOST_BYTES,
        sweep: int = ROWS_A_SWEEP,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open or create the file; *sweep* rows go at a time, *clock* counts seconds."""
        self._path = Path(path)
        self._max_bytes = max_bytes
        self._sweep = sweep
        self._clock = clock
        self._lock = Lock()
        with self._explained():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                self._path, timeout=WAIT_S, isolation_level=None, check_same_thread=False
            )
            try:
                share(self._database)
                for statement in SCHEMA:
                    self._database.execute(statement)
            except sqlite3.Error:
                self._database.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def get(self, keys: Sequence[bytes], dimension: int) -> dict[bytes, NDArray[np.float32]]:
        """Return the rows of those *keys* that are known."""
        vectors: dict[bytes, NDArray[np.float32]] = {}
        stale: list[bytes] = []
        now = int(self._clock())
        with self._lock, self._explained():
            for start in range(0, len(keys), KEYS_A_QUERY):
                some = keys[start : start + KEYS_A_QUERY]
                marks = ",".join("?" * len(some))
                rows = self._database.execute(
                    f"SELECT key, used, value FROM vector WHERE key IN ({marks})",  # noqa: S608
                    some,
                )
                for key, used, value in rows:
                    if len(value) == 4 * dimension:
                        vectors[key] = np.frombuffer(value, "<f4")
                        if now - used > DAY_S:
                            stale.append(key)
            if stale:
                self._write(
                    "UPDATE vector SET used = ? WHERE key = ?", ((now, key) for key in stale)
                )
        return vectors

    def put(self, rows: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Store *rows* in one transaction."""
        now = int(self._clock())
        values = (
            (key, now, np.ascontiguousarray(row, "<f4").tobytes()) for key, row in rows.items()
        )
        with self._lock, self._explained():
            self._write("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", values)
            self._shrink()

    def __len__(self) -> int:
        with self._lock, self._explained():
            (count,) = self._database.execute("SELECT count(*) FROM vector").fetchone()
        return int(count)

    def _write(self, statement: str, values: Iterable[tuple[object, ...]]) -> None:
        with writing(self._database):
            self._database.executemany(statement, values)

    def _shrink(self) -> None:
        while self._bytes() > self._max_bytes:
            gone = self._database.execute(
                "DELETE FROM vector WHERE key IN (SELECT key FROM vector ORDER BY used LIMIT ?)",
                (self._sweep,),
            )
            if not gone.rowcount:
                break

    def _bytes(self) -> int:
        """Return the bytes in use; those of deleted rows are used again."""
        size, pages, free = (
            self._database.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_size", "page_count", "freelist_count")
        )
        return int(size * (pages - free))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"{self._path}: no usable embedding cache: {error}") from error


# What is written together: an interrupted run loses no more than this.
TEXTS_A_STEP = 256


class CachedEmbedder:
    """Embeds cache misses with *embedder*; the rows are the same either way.

    *reused* counts the rows that it knew. Token vectors are hundreds of times as large and are
    not cached: call ``embedder`` for them.
    """

    def __init__(self, embedder: Embedder, cache: EmbeddingCache) -> None:
        """Wrap *embedder*."""
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
