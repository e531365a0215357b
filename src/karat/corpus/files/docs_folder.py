"""The folder that holds most of the documentation of a repository."""

from collections import Counter

from karat.corpus.files.selection import document_kind
from karat.corpus.files.traits import Trait, docs_folder
from karat.corpus.snapshot import Corpus

__all__ = ["main_docs_folder"]

# A folder with less of the text is one of several, and nothing says that it is the main one.
MOST = 0.5


def main_docs_folder(corpus: Corpus) -> str:
    r"""Return the folder with most of the text of *corpus*; "" without one.

    The folder is called ``docs``, ``doc`` or ``documentation`` and holds more than half of all
    bytes, vendored documents aside. A corpus with a file that is not documentation has none.

    >>> from karat.corpus import from_texts
    >>> texts = {"docs/use.md": "# Use\n\nFirst, log in.", "README.md": "# Shop"}
    >>> main_docs_folder(from_texts(texts)), main_docs_folder(from_texts({**texts, "a.py": ""}))
    ('docs', '')
    """
    bytes_of: Counter[str] = Counter()
    for document in corpus:
        if document_kind(document) != "docs":
            return ""
        if Trait.VENDORED not in document.traits:
            bytes_of[docs_folder(document.path)] += document.size
    total = bytes_of.total()
    return next((name for name, size in bytes_of.items() if name and size > total * MOST), "")
