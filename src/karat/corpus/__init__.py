"""Snapshots of documents, and the chunks that engines index."""

from karat.corpus.folder import from_folder
from karat.corpus.git import GitRepository, from_git
from karat.corpus.snapshot import Corpus, Document
from karat.corpus.texts import from_beir, from_texts
from karat.corpus.traits import FileClass, Trait, classify

__all__ = [
    "Corpus",
    "Document",
    "FileClass",
    "GitRepository",
    "Trait",
    "classify",
    "from_beir",
    "from_folder",
    "from_git",
    "from_texts",
]
