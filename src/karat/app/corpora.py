"""Corpora by folder or Git revision, for commands and the service."""

from karat.corpus import Corpus, FileSelection, skipped_by_reason, skipped_text
from karat.experiments.workers.sources import load_corpus

__all__ = ["Corpus", "FileSelection", "load_corpus", "skipped_by_reason", "skipped_text"]
