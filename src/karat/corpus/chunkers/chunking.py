"""All chunks of a corpus, each content cut once."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat

from karat.corpus.cache import CachedChunks, ChunkCache, ChunkKey, MemoryCache
from karat.corpus.chunkers.base import Chunk, Chunker, chunks_of
from karat.corpus.snapshot import Corpus, Document
from karat.model.spec import Spec

__all__ = ["ChunkedCorpus", "chunk_corpus", "header"]

# Kept together; an interrupted run loses no more than these.
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
    cache = MemoryCache() if cache is None else cache
    spec = chunker.spec
    digest = spec.digest
    keys = [ChunkKey(d.blob, d.language, digest) for d in corpus.documents]
    cuts = dict(cache.get(keys))
    unknown = {key: d for key, d in zip(keys, corpus.documents, strict=True) if key not in cuts}
    total = len(cuts) + len(unknown)
    new: dict[ChunkKey, CachedChunks] = {}
    for key, text in zip(unknown, corpus.reader(tuple(unknown.values())), strict=True):
        split = chunker.split(text, key.language)
        new[key] = CachedChunks(chunks_of(split, blob=key.blob, digest=digest), split.fallback)
        if len(new) == AT_ONCE or len(cuts) + len(new) == total:
            cache.put(new)
            cuts |= new
            new = {}
    fallbacks = Counter(cuts[key].fallback for key in keys)
    del fallbacks[""]
    by_document = tuple(cuts[key].chunks for key in keys)
    return ChunkedCorpus(corpus, spec, by_document, dict(sorted(fallbacks.items())))


def header(chunk: Chunk, path: str) -> str:
    """Return up to three lines: the path, the names or headings around the chunk, its symbols.

    It is put before a chunk's text when that is indexed. It is no part of the chunk's id, so that
    a renamed file needs no new vectors for engines that do without it.

    >>> chunk = Chunk("", "", 3, 9, "...", symbols=("login", "logout"), scope=("Session",))
    >>> print(header(chunk, "src/auth.py"))
    src/auth.py
    Session
    login logout
    """
    return "\n".join(
        part for part in (path, " > ".join(chunk.scope), " ".join(chunk.symbols)) if part
    )
