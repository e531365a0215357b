"""Snapshots of documents, and the chunks that engines index."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.corpus.cache import ChunkCache, MemoryCache
    from karat.corpus.chunk import Chunk, Chunker, Piece, Split
    from karat.corpus.chunkers import CHUNKERS, create_chunker
    from karat.corpus.chunking import ChunkedCorpus, chunk_corpus
    from karat.corpus.definitions import Symbol, symbols
    from karat.corpus.deltas import Delta, delta
    from karat.corpus.disk_cache import DiskCache
    from karat.corpus.folder import from_folder
    from karat.corpus.git import GitRepository, from_git
    from karat.corpus.headers import header
    from karat.corpus.snapshot import Corpus, Document
    from karat.corpus.texts import from_beir, from_texts
    from karat.corpus.traits import FileClass, Trait, classify
    from karat.corpus.work_folder import WorkFolder

__all__ = [
    "CHUNKERS",
    "Chunk",
    "ChunkCache",
    "ChunkedCorpus",
    "Chunker",
    "Corpus",
    "Delta",
    "DiskCache",
    "Document",
    "FileClass",
    "GitRepository",
    "MemoryCache",
    "Piece",
    "Split",
    "Symbol",
    "Trait",
    "WorkFolder",
    "chunk_corpus",
    "classify",
    "create_chunker",
    "delta",
    "from_beir",
    "from_folder",
    "from_git",
    "from_texts",
    "header",
    "symbols",
]

__getattr__ = exports(
    __name__,
    {
        "cache": "ChunkCache MemoryCache",
        "chunk": "Chunk Chunker Piece Split",
        "chunkers": "CHUNKERS create_chunker",
        "chunking": "ChunkedCorpus chunk_corpus",
        "definitions": "Symbol symbols",
        "deltas": "Delta delta",
        "disk_cache": "DiskCache",
        "folder": "from_folder",
        "git": "GitRepository from_git",
        "headers": "header",
        "snapshot": "Corpus Document",
        "texts": "from_beir from_texts",
        "traits": "FileClass Trait classify",
        "work_folder": "WorkFolder",
    },
)
