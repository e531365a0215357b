"""Snapshots of documents, and the chunks that engines index."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.corpus.chunkers.base import Chunk, Chunker, Piece, SplitResult
    from karat.corpus.chunkers.chunking import (
        CHUNKERS,
        ChunkCache,
        ChunkedCorpus,
        DiskCache,
        MemoryCache,
        chunk_corpus,
        create_chunker,
        header,
        iter_chunks,
    )
    from karat.corpus.chunkers.grammars import Symbol, symbols
    from karat.corpus.files.beir import from_beir
    from karat.corpus.files.content import page_lines, page_of, split_page
    from karat.corpus.files.folder import UPLOADS_MARK, WorkFolder, from_folder, from_texts
    from karat.corpus.files.selection import (
        FILE_KINDS,
        FileSelection,
        common_kind,
        main_docs_folder,
        skipped_by_reason,
        skipped_text,
    )
    from karat.corpus.files.traits import FileClass, Trait, classify
    from karat.corpus.git import GitRepository, from_git
    from karat.corpus.snapshot import Corpus, Delta, Document, delta

__all__ = [
    "CHUNKERS",
    "FILE_KINDS",
    "UPLOADS_MARK",
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
        "chunkers.base": "Chunk Chunker Piece SplitResult",
        "chunkers.chunking": (
            "CHUNKERS ChunkCache ChunkedCorpus DiskCache MemoryCache chunk_corpus create_chunker "
            "header iter_chunks"
        ),
        "chunkers.grammars": "Symbol symbols",
        "files.content": "page_lines page_of split_page",
        "files.folder": "UPLOADS_MARK WorkFolder from_folder from_texts",
        "files.selection": (
            "FILE_KINDS FileSelection common_kind main_docs_folder skipped_by_reason skipped_text"
        ),
        "files.beir": "from_beir",
        "files.traits": "FileClass Trait classify",
        "git": "GitRepository from_git",
        "snapshot": "Corpus Delta Document delta",
    },
)
