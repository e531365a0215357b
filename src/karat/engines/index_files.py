"""The index of a large corpus in files, built by one process and mapped by all of a machine."""

import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from typing import Protocol, runtime_checkable

from karat.corpus import Corpus, create_chunker
from karat.corpus.cache import chunking_code, code_digest
from karat.engines.caches import Caches
from karat.engines.column_files import ColumnFolder, Columns
from karat.errors import InputError

__all__ = ["IndexFiles", "SupportsFiles", "index_files", "is_large"]

# Number of documents, or of bytes, from which an index is stored in files. Below, building it takes
# seconds, and most corpora are followed by another snapshot that shares most of the documents.
LARGE_DOCUMENTS = 50_000
LARGE_BYTES = 256 * 1024**2


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
        found = self.read(name)
        if found is not None:
            return found
        try:
            self._folder.write(self._digest(name), make())
        except (InputError, OSError) as error:
            self._caches.problem = str(error)
            return None
        return self.read(name)

    def _digest(self, name: str) -> str:
        return sha256(f"{self.key}\0{name}".encode()).hexdigest()


@runtime_checkable
class SupportsFiles(Protocol):
    """A stage whose rows can be mapped from files instead of grown."""

    @property
    def file_key(self) -> str:
        """Return all that the files depend on, beside the chunks."""
        ...

    def load_files(self, files: IndexFiles) -> bool:
        """Use the files of another process instead of ``grow``; False if there are none."""
        ...

    def save_files(self, files: IndexFiles) -> None:
        """Write the rows that have grown, and use the files from now on; ahead of ``show``."""
        ...


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
