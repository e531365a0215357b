"""What changes from one snapshot to another."""

from typing import NamedTuple

from karat.corpus.snapshot import Corpus, Document

__all__ = ["Delta", "delta"]


class Delta(NamedTuple):
    """Documents of the later snapshot that are new or have another content, and those gone."""

    added: tuple[Document, ...]
    changed: tuple[Document, ...]
    removed: tuple[Document, ...]


def delta(before: Corpus, after: Corpus) -> Delta:
    """Return what makes *before* into *after*, by path; a renamed document is gone and new.

    >>> from karat.corpus import from_texts
    >>> step = delta(from_texts({"a": "1", "b": "2"}), from_texts({"b": "3", "c": "4"}))
    >>> [[document.path for document in documents] for documents in step]
    [['c'], ['b'], ['a']]
    """
    old, new = before.by_path, after.by_path
    there = [document for document in after if document.path in old]
    return Delta(
        added=tuple(document for document in after if document.path not in old),
        changed=tuple(d for d in there if d.blob != old[d.path].blob),
        removed=tuple(document for document in before if document.path not in new),
    )
