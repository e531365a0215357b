"""The on-disk caches of chunks, vectors, indexes, scores and contexts that engines use."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeVar

from karat.corpus import ChunkCache, DiskCache
from karat.engines.column_files import ColumnFolder
from karat.engines.embedding.cache import EmbeddingCache
from karat.errors import InputError
from karat.system.cache_limits import cache_size, needed_since
from karat.system.files import cache_folder
from karat.system.packs import check_remote
from karat.system.sqlite import KeyValueFile, in_turn

__all__ = ["NO_CACHES", "Caches", "user_caches"]


class _Closes(Protocol):
    def close(self) -> None: ...


Cache = TypeVar("Cache", bound=_Closes)


# Raise it when the content of a key or the stored form changes.
SCORES_VERSION = 1
SCORES_MAX_BYTES = 256 * 1024**2
INDEXES = "indexes"


class Caches:
    """The caches in *folder*; None disables them.

    A cache is open only while it is used, so that an engine holds no file. If it cannot be opened,
    for example in a read-only home, indexing goes on without it; *problem* says why.
    """

    def __init__(self, folder: Path | None) -> None:
        """Store the *folder*; nothing is opened or created yet."""
        self.folder = folder
        self.problem = ""

    def size(self) -> int:
        """Return the bytes on disk."""
        total = 0
        for pattern in ("*.sqlite*", f"{INDEXES}/*"):
            for file in [] if self.folder is None else self.folder.glob(pattern):
                # Another process that closes a cache removes its WAL file.
                with suppress(FileNotFoundError):
                    total += file.stat().st_size
        return total

    @contextmanager
    def chunks(self) -> Iterator[ChunkCache | None]:
        """Open the cache of chunks."""
        with self._opened(DiskCache, "chunks.sqlite") as cache:
            yield cache

    @contextmanager
    def vectors(self) -> Iterator[EmbeddingCache | None]:
        """Open the cache of vectors."""
        # A wrong setting is an error, too.
        max_bytes = cache_size()
        opened = partial(EmbeddingCache, max_bytes=max_bytes, needed_since=needed_since())
        with self._opened(opened, "vectors.sqlite") as cache:
            yield cache

    def indexes(self) -> ColumnFolder | None:
        """Return the folder of indexes of large corpora, which may take as much as the vectors."""
        if self.folder is None:
            return None
        return ColumnFolder(
            self.folder / INDEXES, max_bytes=cache_size(), needed_since=needed_since()
        )

    @contextmanager
    def scores(self) -> Iterator[KeyValueFile | None]:
        """Open the cache of scores that remote rerankers gave."""
        with self._opened(_score_file, "scores.sqlite") as cache:
            yield cache

    @contextmanager
    def alone(self, key: str) -> Iterator[None]:
        """Hold the lock *key* among all processes that share the folder.

        Paid work that another process is doing is then found in a cache, not paid for twice.
        """
        if self.folder is None:
            yield
            return
        place = self.folder / "locks" / sha256(key.encode()).hexdigest()[:16]
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.problem = str(error)
            yield
            return
        with in_turn(place):
            yield

    @contextmanager
    def _opened(self, kind: Callable[[Path], Cache], name: str) -> Iterator[Cache | None]:
        cache = None
        if self.folder is not None:
            # Before opening: a cache that cannot be opened is skipped, but a wrong setting is an
            # error.
            check_remote()
            try:
                cache = kind(self.folder / name)
            except (InputError, OSError) as error:
                self.problem = str(error)
        try:
            yield cache
        finally:
            if cache is not None:
                cache.close()


def _score_file(path: Path) -> KeyValueFile:
    return KeyValueFile(
        path, name="score cache", version=SCORES_VERSION, max_bytes=SCORES_MAX_BYTES
    )


NO_CACHES = Caches(None)


def user_caches(wanted: bool) -> Caches:
    """Return the caches in the user's cache folder (or KARAT_CACHE), or none if not *wanted*."""
    return Caches(cache_folder()) if wanted else NO_CACHES
