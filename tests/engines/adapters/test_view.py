"""A corpus as a directory: what is there, what is not, and what remains."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import Corpus, Document, from_texts
from karat.engines.adapters.view import CorpusView

# What names may be made of when they come from someone else.
PARTS = st.sampled_from(["a", "b", "..", ".", "", ".git", "_odd", "ü", "A", "x" * 300, "a.py"])
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join).filter(bool)


def files(root: Path) -> dict[str, str]:
    found = [path for path in root.rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in found}


def test_texts_become_files_that_cannot_be_written() -> None:
    view = CorpusView(from_texts({"src/a.py": "one\n", "b.md": "zwei ü\n"}))
    assert files(view.root) == {"src/a.py": "one\n", "b.md": "zwei ü\n"}
    assert view.renamed == {}
    modes = {path.stat().st_mode & 0o222 for path in [view.root, *view.root.rglob("*")]}
    assert modes == {0}
    view.close()
    assert not view.root.exists()
    view.close()


@given(st.dictionaries(PATHS, st.text(st.characters(exclude_categories=["Cs", "Cc"])), max_size=6))
def test_every_document_is_there_once_and_nowhere_else(texts: dict[str, str]) -> None:
    corpus = from_texts(texts)
    view = CorpusView(corpus)
    try:
        found = files(view.root)
        back = {view.renamed.get(name, name): text for name, text in found.items()}
        assert back == {document.path: text for document, text in corpus.texts()}
        assert not any(part == ".git" for name in found for part in name.split("/"))
    finally:
        view.close()


def test_a_corpus_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    def reader(documents: object) -> object:
        raise OSError("disk on fire")

    corpus = Corpus("broken", (Document("a", "0", 1),), reader)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="disk on fire"):
        CorpusView(corpus)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_folder_is_itself(tmp_path: Path) -> None:
    class Reader:
        root = str(tmp_path)

    view = CorpusView(Corpus("folder", (), Reader()))  # type: ignore[arg-type]
    assert view.root == tmp_path
    view.close()
    assert tmp_path.exists()
