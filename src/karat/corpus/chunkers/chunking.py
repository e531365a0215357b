"""All chunks of a corpus, each content cut once."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from karat.corpus.cache import CachedChunks, ChunkCache, ChunkKey, MemoryCache
from karat.corpus.chunkers.base import Chunk, Chunker, chunks_of
from karat.corpus.snapshot import Corpus, Document
from karat.errors import InputError
from karat.model.spec import Spec, parse_call
from karat.registry import Registry

__all__ = [
    "CHUNKERS",
    "ChunkedCorpus",
    "chunk_corpus",
    "create_chunker",
    "header",
    "iter_chunks",
]

# Documents per write to the cache; an interruption loses at most these.
AT_ONCE = 500


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
