"""The directory that an external search is shown."""

from pathlib import Path

from karat.corpus import from_folder, from_texts
from karat.engines.adapters.external import CorpusView


def test_a_folder_is_itself(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    view = CorpusView(from_folder(tmp_path))
    assert view.root == tmp_path
    assert view.renamed == {}
    view.close()
    assert (tmp_path / "a.py").exists()


def test_it_follows_from_one_corpus_to_another(tmp_path: Path) -> None:
    view = CorpusView(from_texts({"../a": "1"}))
    first = view.root
    assert list(view.renamed.values()) == ["../a"]
    view.show(from_texts({"b": "2"}))
    assert view.root == first
    assert [path.name for path in first.iterdir()] == ["b"]
    view.show(from_folder(tmp_path))
    assert view.root == tmp_path
    assert not first.exists()
    view.close()
