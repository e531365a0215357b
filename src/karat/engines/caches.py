"""The on-disk caches of chunks, vectors, indexes, scores and contexts that engines use."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeVar

from karat.corpus import ChunkCache, Corpus, DiskCache, create_chunker
from karat.corpus.chunkers.chunking import chunking_code, code_digest
from karat.engines.columns import ColumnFolder, Columns
from karat.engines.embedding.texts import EmbeddingCache
from karat.errors import InputError
from karat.system.files import cache_folder
from karat.system.locks import in_turn
from karat.system.packs import check_remote
from karat.system.sqlite import KeyValueFile, cache_size, needed_since

# Number of documents, or of bytes, from which an index is stored in files. Below, building it takes
# seconds, and most corpora are followed by another snapshot that shares most of the documents.
LARGE_DOCUMENTS = 50_000
LARGE_BYTES = 256 * 1024**2


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
        opened = partial(
            KeyValueFile, name="score cache", version=SCORES_VERSION, max_bytes=SCORES_MAX_BYTES
        )
        with self._opened(opened, "scores.sqlite") as cache:
            yield cache

    @contextmanager
    def alone(self, key: str) -> Iterator[None]:
        """Hold the lock *key* among all processes that share the folder.

        Paid work that another process is doing is then found in a cache, not paid for twice.
        """
        if self.folder is None:
            yield
            return
        path = self.folder / "locks" / sha256(key.encode()).hexdigest()[:16]
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.problem = str(error)
            yield
            return
        with in_turn(path):
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


NO_CACHES = Caches(None)


def user_caches(enabled: bool) -> Caches:
    """Return the caches in the user's cache folder (or KARAT_CACHE), or none if not *enabled*."""
    return Caches(cache_folder()) if enabled else NO_CACHES


def is_large(corpus: Corpus) -> bool:
    """Return whether the index of *corpus* should be stored in files."""
    if len(corpus) >= LARGE_DOCUMENTS:
        return True
    return sum(document.size for document in corpus) >= LARGE_BYTES


class IndexFiles:
    """The files of one corpus that is cut in one way; *key* names both."""

    def __init__(self, folder: ColumnFolder, key: str, caches: Caches) -> None:
        """Store the *folder*; *caches* get the problem if it cannot be written."""
        self.key = key
        self._folder = folder
        self._caches = caches

    def read(self, name: str) -> Columns | None:
        """Return the columns *name*, mapped; None if no process has written them."""
        return self._folder.read(self._digest(name))

    def share(self, name: str, make: Callable[[], Columns]) -> Columns | None:
        """Return the columns *name*, mapped, after writing those of *make* if there are none.

        None if they cannot be written.
        """
        columns = self.read(name)
        if columns is not None:
            return columns
        try:
            self._folder.write(self._digest(name), make())
        except (InputError, OSError) as error:
            self._caches.problem = str(error)
            return None
        return self.read(name)

    def _digest(self, name: str) -> str:
        return sha256(f"{self.key}\0{name}".encode()).hexdigest()


def index_files(
    corpus: Corpus, chunker: str, options: Mapping[str, object], caches: Caches
) -> IndexFiles | None:
    """Return the files of *corpus*; None if it is small, or without *caches*."""
    folder = caches.indexes()
    if folder is None or not is_large(corpus):
        return None
    cut = create_chunker(chunker, **options).spec.digest
    digest = sha256(f"{_code()}\0{cut}\0".encode())
    for document in corpus:
        # The language and the traits do not follow from the path and the content alone.
        facts = (document.path, document.blob, document.language, str(document.traits.value), "")
        digest.update("\0".join(facts).encode("utf-8", "surrogatepass"))
    return IndexFiles(folder, digest.hexdigest(), caches)


@cache
def _code() -> str:
    """Return the hash of the code and the tables of characters that make chunks into columns."""
    code = code_digest("karat.engines", "karat.engines.lexical")
    return f"{chunking_code()} {code} {unicodedata.unidata_version}"
