"""The main folder of documentation."""

import pytest

from karat.corpus import from_texts, main_docs_folder
from karat.corpus.files.traits import docs_folder

LONG, SHORT = "word " * 60, "word " * 20


@pytest.mark.parametrize(
    ("texts", "folder"),
    [
        ({"docs/a.md": LONG, "README.md": SHORT}, "docs"),
        ({"runtime/doc/a.txt": LONG, "runtime/pack/doc/b.txt": SHORT}, "runtime/doc"),
        ({"Documentation/a/b.rst": LONG, "CONTRIBUTING.md": SHORT}, "Documentation"),
        ({"docs/a.md": SHORT, "docs/b/c.md": SHORT, "README.md": SHORT}, "docs"),
        ({"docs/a.md": LONG, "docs/b.html": LONG, "README.md": LONG}, "docs"),
        # Copies of other projects' documentation do not count, however long they are.
        ({"docs/a.md": SHORT, "vendor/x/README.md": LONG}, "docs"),
        ({"docs/a.md": SHORT, "README.md": LONG}, ""),
        ({"a/docs/a.md": LONG, "b/docs/b.md": LONG}, ""),
        ({"book/a.md": LONG, "README.md": SHORT}, ""),
        ({"guide/a.md": LONG, "reference/b.md": SHORT}, ""),
        ({"docs/a.md": LONG, "src/a.py": ""}, ""),
        ({"docs/a.md": LONG, "docs/conf.py": ""}, ""),
        ({"docs/a.md": LONG, "LICENSE.md": ""}, ""),
        ({}, ""),
    ],
)
def test_it_holds_more_than_half_of_a_corpus_of_documentation(
    texts: dict[str, str], folder: str
) -> None:
    assert main_docs_folder(from_texts(texts)) == folder


@pytest.mark.parametrize(
    ("path", "folder"),
    [("docs/a.md", "docs"), ("a/Doc/b/docs/c.md", "a/Doc"), ("mydocs/a.md", ""), ("docs", "")],
)
def test_the_topmost_folder_of_documentation(path: str, folder: str) -> None:
    assert docs_folder(path) == folder
