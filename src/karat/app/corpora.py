"""Corpora by folder or Git revision, for commands and the service."""

from karat.corpus import Corpus, FileSelection, page_of, skipped_by_reason, skipped_text
from karat.experiments.target_check import locate_pages
from karat.experiments.workers.sources import load_corpus
from karat.model import Hit

__all__ = [
    "Corpus",
    "FileSelection",
    "load_corpus",
    "locate_pages",
    "page_of_hit",
    "skipped_as_json",
    "skipped_by_reason",
    "skipped_text",
]


def skipped_as_json(corpus: Corpus) -> dict[str, object]:
    """Return the fields of skipped files for the JSON of a command that reads *corpus*.

    ``skipped`` counts all of them by reason; ``skipped_files`` names those that cannot be read.
    """
    return {
        "skipped": dict(corpus.skipped),
        "skipped_files": skipped_by_reason(corpus.skipped_files),
    }


def page_of_hit(corpus: Corpus, hit: Hit) -> int:
    """Return the page of a document that *hit* begins on, 0 for a text without pages."""
    document = corpus.by_path.get(hit.path)
    if document is None or not document.source or not hit.start_line:
        return 0
    return page_of(corpus.read(hit.path), hit.start_line)
