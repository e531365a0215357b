"""All chunks of a corpus; each content is cut once and cached."""

import json
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import repeat
from typing import NamedTuple, Protocol, Self

from karat.corpus.chunkers.base import TIMED_OUT, Chunk, Chunker, Piece, SplitResult, chunks_of
from karat.corpus.snapshot import Corpus, Document
from karat.errors import InputError
from karat.model.spec import Spec, parse_call
from karat.registry import Registry
from karat.system.packs import with_remote
from karat.system.sqlite import KeyValueFile

# Documents per write to the cache; an interruption loses at most these.
AT_ONCE = 500


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
        requested = list(keys)
        hits = self._memory.get(requested)
        missing = {_name(key): key for key in requested if key not in hits}
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
    """Return the hash of the code that cuts documents: other code may cut them otherwise."""
    return code_digest("karat.corpus.chunkers")


def code_digest(*packages: str) -> str:
    """Return the hash of all modules directly in *packages*, and of their data files."""
    from karat.system.package_data import code_files

    digest = sha256()
    for package in packages:
        for file in code_files(package):
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


@dataclass(frozen=True, eq=False)
class ChunkedCorpus:
    """The chunks of each document, in the order of ``corpus.documents``.

    *fallbacks* counts by reason the documents that were cut by a fallback.
    """

    corpus: Corpus
    spec: Spec
    by_document: tuple[tuple[Chunk, ...], ...] = field(repr=False)
    fallbacks: Mapping[str, int]

    def __len__(self) -> int:
        return sum(map(len, self.by_document))

    def __iter__(self) -> Iterator[tuple[str, Chunk]]:
        """Yield each chunk with the path of its document."""
        for document, chunks in self.items():
            yield from zip(repeat(document.path), chunks, strict=False)

    def items(self) -> Iterator[tuple[Document, tuple[Chunk, ...]]]:
        """Yield each document with its chunks."""
        return zip(self.corpus.documents, self.by_document, strict=True)


def chunk_corpus(
    corpus: Corpus, chunker: Chunker, *, cache: ChunkCache | None = None
) -> ChunkedCorpus:
    r"""Return every chunk of *corpus*.

    A content that *cache* already knows is neither read nor cut again; give the same cache for
    several snapshots of one tree.

    >>> from karat.corpus import create_chunker, from_texts
    >>> chunked = chunk_corpus(from_texts({"a.txt": "one\ntwo"}), create_chunker("lines", size=1))
    >>> [(path, chunk.start_line, chunk.text) for path, chunk in chunked]
    [('a.txt', 1, 'one\n'), ('a.txt', 2, 'two')]
    """
    cuts = list(iter_chunks(corpus, chunker, cache=MemoryCache() if cache is None else cache))
    fallbacks = Counter(cut.fallback for cut in cuts)
    del fallbacks[""]
    by_document = tuple(cut.chunks for cut in cuts)
    return ChunkedCorpus(corpus, chunker.spec, by_document, dict(sorted(fallbacks.items())))


def iter_chunks(
    corpus: Corpus,
    chunker: Chunker,
    *,
    cache: ChunkCache | None = None,
    documents: Sequence[Document] | None = None,
) -> Iterator[CachedChunks]:
    """Yield the chunks of each of *documents*, or of all documents of *corpus*, in order.

    Only some hundred documents are in memory at a time.
    """
    documents = corpus.documents if documents is None else documents
    digest = chunker.spec.digest
    for start in range(0, len(documents), AT_ONCE):
        some = documents[start : start + AT_ONCE]
        keys = [ChunkKey(document.blob, document.language, digest) for document in some]
        cuts = {} if cache is None else dict(cache.get(keys))
        unknown = {key: one for key, one in zip(keys, some, strict=True) if key not in cuts}
        new: dict[ChunkKey, CachedChunks] = {}
        for key, text in zip(unknown, corpus.reader(tuple(unknown.values())), strict=True):
            split = chunker.split(text, key.language)
            new[key] = CachedChunks(chunks_of(split, blob=key.blob, digest=digest), split.fallback)
        if new and cache is not None:
            cache.put(new)
        cuts |= new
        yield from (cuts[key] for key in keys)


def header(chunk: Chunk, path: str) -> str:
    """Return up to three lines: the path, the names or headings around the chunk, its symbols.

    Engines index it before the text of the chunk. It is not part of the chunk's id, so that a
    renamed file needs no new vectors in engines that do not use it.

    >>> chunk = Chunk("", "", 3, 9, "...", symbols=("login", "logout"), scope=("Session",))
    >>> print(header(chunk, "src/auth.py"))
    src/auth.py
    Session
    login logout
    """
    return "\n".join(
        part for part in (path, " > ".join(chunk.scope), " ".join(chunk.symbols)) if part
    )


CHUNKERS: "Registry[Callable[..., Chunker]]" = Registry(
    "chunker",
    {
        "auto": "karat.corpus.chunkers.syntax:Auto",
        "syntax": "karat.corpus.chunkers.syntax:Syntax",
        "definitions": "karat.corpus.chunkers.syntax:definitions",
        "markdown": "karat.corpus.chunkers.sections:Sections",
        "lines": "karat.corpus.chunkers.window:Lines",
        "window": "karat.corpus.chunkers.window:Window",
    },
    aliases={"sections": "markdown", "cast": "syntax"},
)


def create_chunker(name: str = "auto", **parameters: object) -> Chunker:
    """Return the chunker called *name* with *parameters*; the rest have their defaults.

    A number after a colon is the size of its chunks, and parameters may follow in brackets.

    >>> create_chunker("lines", size=20).spec.params
    {'size': 20, 'overlap': 0}
    >>> create_chunker("lines:20").spec == create_chunker("lines", size=20).spec
    True
    >>> create_chunker("lines(size=20, overlap=5)").spec.params
    {'size': 20, 'overlap': 5}
    >>> create_chunker("lines", sise=20)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: chunker 'lines': got an unexpected keyword argument 'sise'
    """
    called, options = parse_call(name)
    make, size = CHUNKERS.split(called)
    parameters = {option: _value(text) for option, text in options.items()} | parameters
    if size:
        if not (size.isascii() and size.isdigit()):
            raise InputError(f"chunker {name!r}: size {size!r} is not a whole number")
        parameters["size"] = int(size)
    try:
        return make(**parameters)
    except TypeError as error:
        problem = str(error).rpartition("__init__() ")[2]
        raise InputError(f"chunker {name!r}: {problem}") from error


def _value(text: str) -> object:
    """Return *text* as a number or a boolean if it is one, else *text*."""
    if text.isascii() and text.isdigit():
        return int(text)
    return {"true": True, "false": False}.get(text.lower(), text)
