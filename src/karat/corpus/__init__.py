"""Snapshots of documents, and the chunks that engines index."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.corpus.cache import ChunkCache, DiskCache, MemoryCache
    from karat.corpus.chunkers.base import Chunk, Chunker, Piece, SplitResult
    from karat.corpus.chunkers.chunking import (
        CHUNKERS,
        ChunkedCorpus,
        chunk_corpus,
        create_chunker,
        header,
        iter_chunks,
    )
    from karat.corpus.chunkers.definitions import Symbol, symbols
    from karat.corpus.files.beir import from_beir
    from karat.corpus.files.docs_folder import main_docs_folder
    from karat.corpus.files.documents import page_lines, page_of, split_page
    from karat.corpus.files.folder import from_folder
    from karat.corpus.files.selection import (
        FILE_KINDS,
        FileSelection,
        common_kind,
        skipped_by_reason,
        skipped_text,
    )
    from karat.corpus.files.texts import from_texts
    from karat.corpus.files.traits import FileClass, Trait, classify
    from karat.corpus.files.work_folder import WorkFolder
    from karat.corpus.git.repository import GitRepository, from_git
    from karat.corpus.snapshot import Corpus, Delta, Document, delta

__all__ = [
    "CHUNKERS",
    "FILE_KINDS",
    "Chunk",
    "ChunkCache",
    "ChunkedCorpus",
    "Chunker",
    "Corpus",
    "Delta",
    "DiskCache",
    "Document",
    "FileClass",
    "FileSelection",
    "GitRepository",
    "MemoryCache",
    "Piece",
    "SplitResult",
    "Symbol",
    "Trait",
    "WorkFolder",
    "chunk_corpus",
    "classify",
    "common_kind",
    "create_chunker",
    "delta",
    "from_beir",
    "from_folder",
    "from_git",
    "from_texts",
    "header",
    "iter_chunks",
    "main_docs_folder",
    "page_lines",
    "page_of",
    "skipped_by_reason",
    "skipped_text",
    "split_page",
    "symbols",
]

__getattr__ = exports(
    __name__,
    {
        "cache": "ChunkCache DiskCache MemoryCache",
        "chunkers.base": "Chunk Chunker Piece SplitResult",
        "chunkers.chunking": (
            "ChunkedCorpus chunk_corpus header CHUNKERS create_chunker iter_chunks"
        ),
        "chunkers.definitions": "Symbol symbols",
        "files.docs_folder": "main_docs_folder",
        "files.documents": "page_lines page_of split_page",
        "files.folder": "from_folder",
        "files.selection": ("FILE_KINDS FileSelection common_kind skipped_by_reason skipped_text"),
        "files.beir": "from_beir",
        "files.texts": "from_texts",
        "files.traits": "FileClass Trait classify",
        "files.work_folder": "WorkFolder",
        "git.repository": "GitRepository from_git",
        "snapshot": "Corpus Delta Document delta",
    },
)
