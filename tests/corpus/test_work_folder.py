"""A corpus as a directory: what is there, what is not, what moves and what remains."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import Corpus, Document, GitRepository, WorkFolder, delta, from_texts

# What names may be made of when they come from someone else.
PARTS = st.sampled_from(["a", "b", "..", ".", "", ".git", "_odd", "ü", "A", "x" * 300, "a.py"])
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join).filter(bool)
TREES = st.dictionaries(PATHS, st.sampled_from(["", "one\n", "zwei ü\n"]), max_size=6)


@pytest.fixture(autouse=True)
def work_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where temporary directories are made in a test."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def files(root: Path) -> dict[str, str]:
    paths = [path for path in root.rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def everything(folder: WorkFolder) -> dict[str, int]:
    """Return all that lies in the folder, with its permissions."""
    entries = [folder.root, *folder.root.rglob("*")]
    return {str(path.relative_to(folder.root)): path.stat().st_mode for path in entries}


def test_texts_become_files_that_cannot_be_written() -> None:
    folder = WorkFolder(from_texts({"src/a.py": "one\n", "b.md": "zwei ü\n"}))
    assert files(folder.root) == {"src/a.py": "one\n", "b.md": "zwei ü\n"}
    assert folder.renamed == {}
    assert {mode & 0o222 for mode in everything(folder).values()} == {0}
    folder.close()
    assert not folder.root.exists()
    folder.close()


@given(TREES)
def test_every_document_is_there_once_and_nowhere_else(texts: dict[str, str]) -> None:
    corpus = from_texts(texts)
    folder = WorkFolder(corpus)
    written = files(folder.root)
    back = {folder.renamed.get(name, name): text for name, text in written.items()}
    assert back == {document.path: text for document, text in corpus.texts()}
    assert not any(part == ".git" for name in written for part in name.split("/"))
    folder.close()


@given(st.lists(TREES, min_size=2, max_size=4))
def test_a_moved_folder_is_as_good_as_a_new_one(chain: list[dict[str, str]]) -> None:
    moved = WorkFolder(from_texts(chain[0]))
    for texts in chain[1:]:
        moved.show(from_texts(texts))
        fresh = WorkFolder(from_texts(texts))
        assert files(moved.root) == files(fresh.root)
        assert everything(moved) == everything(fresh)
        assert moved.renamed == fresh.renamed
        fresh.close()
    moved.close()


def test_what_stays_is_not_touched() -> None:
    folder = WorkFolder(from_texts({"a/x.py": "1", "a/y.py": "2", "b/z.py": "3"}))
    before = (folder.root / "a" / "x.py").stat()
    folder.show(from_texts({"a/x.py": "1", "a/y.py": "4", "c.py": "5"}))
    after = (folder.root / "a" / "x.py").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert files(folder.root) == {"a/x.py": "1", "a/y.py": "4", "c.py": "5"}
    assert not (folder.root / "b").exists()
    folder.close()


def test_a_revision_lies_there_without_its_history(repository: Path) -> None:
    with GitRepository(repository) as opened:
        folder = WorkFolder(opened.corpus())
        assert set(files(folder.root)) == {document.path for document in opened.corpus()}
        assert not (folder.root / ".git").exists()
        folder.close()


def test_a_corpus_that_breaks_leaves_nothing(work_root: Path) -> None:
    def reader(documents: object) -> object:
        raise OSError("disk on fire")

    broken = Corpus("broken", (Document("a", "0", 1),), reader)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="disk on fire"):
        WorkFolder(broken)
    folder = WorkFolder(from_texts({"b": "1"}))
    with pytest.raises(OSError, match="disk on fire"):
        folder.show(broken)
    assert list(work_root.iterdir()) == []


@given(TREES, TREES)
def test_a_delta_makes_one_snapshot_into_the_other(
    old: dict[str, str], new: dict[str, str]
) -> None:
    before, after = from_texts(old), from_texts(new)
    step = delta(before, after)
    made = {document.path: document for document in before}
    for document in step.removed:
        del made[document.path]
    made.update({document.path: document for document in (*step.added, *step.changed)})
    assert sorted(made.values()) == list(after.documents)
    assert len(step.added) + len(step.changed) <= len(after)
    assert delta(after, after) == ((), (), ())
