"""A chunk cache in one SQLite file that several processes may share."""

import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path

from karat.corpus.cache import CachedChunks, ChunkKey, MemoryCache
from karat.corpus.chunkers.base import TIMED_OUT, Piece, SplitResult, chunks_of
from karat.corpus.shared_file import WAIT_S, share, writing
from karat.errors import InputError

__all__ = ["DiskCache"]

_FASTEST = 1
_SCHEMA = "CREATE TABLE IF NOT EXISTS cut (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"


class DiskCache:
    """Stores chunks in the file *path*, and those of this process in memory as well.

    Values are compressed JSON, never pickled. Two processes may write at once: both write the
    same value for a key. A value that cannot be read counts as unknown. When the code that cuts
    has changed, entries of the earlier code are removed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open or create the file."""
        self._path = Path(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._memory = MemoryCache()
        self._lock = threading.Lock()
        with self._explained():
            self._database = sqlite3.connect(
                self._path, timeout=WAIT_S, isolation_level=None, check_same_thread=False
            )
            try:
                share(self._database)
                self._database.execute(_SCHEMA)
                self._drop_other_code()
            except sqlite3.Error:
                self._database.close()
                raise

    def __enter__(self) -> "DiskCache":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def get(self, keys: Iterable[ChunkKey]) -> dict[ChunkKey, CachedChunks]:
        """Return those of *keys* that are known."""
        wanted = list(keys)
        cached = self._memory.get(wanted)
        read: dict[ChunkKey, CachedChunks] = {}
        with self._lock, self._explained():
            for key in wanted:
                if key not in cached and key not in read:
                    row = self._database.execute(
                        "SELECT value FROM cut WHERE key = ?", (_name(key),)
                    ).fetchone()
                    cut = _unpacked(row[0], key) if row else None
                    if cut is not None:
                        read[key] = cut
        self._memory.put(read)
        return cached | read

    def put(self, cuts: Mapping[ChunkKey, CachedChunks]) -> None:
        """Store *cuts*, all in one transaction; on disk none whose parse ran out of time."""
        self._memory.put(cuts)
        rows = [
            (_name(key), _packed(cut)) for key, cut in cuts.items() if cut.fallback != TIMED_OUT
        ]
        with self._lock, self._explained(), writing(self._database):
            self._database.executemany("INSERT OR REPLACE INTO cut VALUES (?, ?)", rows)

    def _drop_other_code(self) -> None:
        mark = int(_code()[:7], 16)
        if self._mark() == mark:
            return
        with writing(self._database):
            # Another process may have done so meanwhile, and have kept something since.
            if self._mark() != mark:
                self._database.execute("DELETE FROM cut")
                self._database.execute(f"PRAGMA user_version = {mark}")

    def _mark(self) -> int:
        return int(self._database.execute("PRAGMA user_version").fetchone()[0])

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(f"{self._path}: no usable chunk cache: {error}") from error


@cache
def _code() -> str:
    """Return the hash of this package: equal specs may give other chunks when its code changes."""
    from importlib.resources import files

    digest = sha256()
    for file in sorted(files(__package__).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py"):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _name(key: ChunkKey) -> bytes:
    return sha256("\0".join((_code(), *key)).encode()).digest()


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
