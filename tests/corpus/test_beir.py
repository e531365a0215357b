"""Documents of a BEIR folder as columns: like a tuple of documents, and read from the file."""

import json
import pickle
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import Corpus, Document, from_beir, from_texts
from karat.corpus.files.beir import DocumentTable
from karat.errors import FormatError, InputError

PATHS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True, max_size=9
).map(sorted)


@given(PATHS, st.text())
def test_a_table_is_a_sequence_of_documents(paths: list[str], other: str) -> None:
    blobs = b"".join(bytes([number]) * 20 for number in range(len(paths)))
    table = DocumentTable(paths, blobs, array("I", range(len(paths))))
    plain = tuple(
        Document(path, f"{number:02x}" * 20, number, "text") for number, path in enumerate(paths)
    )
    assert tuple(table) == plain == table[:]
    assert [table[-n] for n in range(1, len(plain) + 1)] == list(reversed(plain))
    assert dict(table.by_path) == {document.path: document for document in plain}
    assert (other in table.by_path) == (other in paths)
    with pytest.raises(IndexError):
        table[len(plain)]


ROWS = [
    {"_id": "b", "title": "Log in", "text": "Give a\r\npassword."},
    {"_id": 7, "text": "Zwölf Boxkämpfer"},
    {"_id": "a.py", "title": " ", "text": "x"},
    {"_id": "bin", "text": "a\0b"},
    {"_id": "half", "text": "\ud800"},
    {"_id": "empty", "text": ""},
]


@pytest.fixture
def corpus_file(tmp_path: Path) -> Path:
    file = tmp_path / "corpus.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in ROWS) + "\n\n")
    return file


def test_it_is_the_corpus_of_these_texts(corpus_file: Path) -> None:
    corpus = from_beir(corpus_file)
    plain = from_texts({"b": "Log in\n\nGive a\r\npassword.", "7": "Zwölf Boxkämpfer"})
    assert {path: corpus.read(path) for path in ("b", "7", "a.py", "empty")} == {
        "b": "Log in\n\nGive a\npassword.",
        "7": "Zwölf Boxkämpfer",
        "a.py": "x",
        "empty": "",
    }
    assert [corpus.by_path[path].blob for path in "b7"] == [plain.by_path[p].blob for p in "b7"]
    assert corpus.skipped == {"binary": 1, "not-unicode": 1}
    assert corpus.skipped_files == {"bin": "binary", "half": "not-unicode"}
    assert [document.path for document, _ in corpus.texts()] == ["7", "a.py", "b", "empty"]


def test_any_order_can_be_read(corpus_file: Path) -> None:
    corpus = from_beir(corpus_file)
    backwards = list(corpus)[::-1]
    assert list(corpus.reader(backwards)) == [corpus.read(one.path) for one in backwards]


def test_it_travels_to_another_process(corpus_file: Path) -> None:
    corpus = from_beir(corpus_file)
    other: Corpus = pickle.loads(pickle.dumps(corpus))  # noqa: S301 - our own bytes
    assert other.snapshot == corpus.snapshot
    assert other.read("b") == corpus.read("b")


@pytest.mark.parametrize("line", ['{"_id": "b", "text": "other"}', "no JSON", ""])
def test_a_line_that_has_changed_is_not_read(corpus_file: Path, line: str) -> None:
    corpus = from_beir(corpus_file)
    rest = corpus_file.read_text().split("\n", 1)[1]
    corpus_file.write_text(f"{line}\n{rest}")
    with pytest.raises(InputError, match="'b' changed since the snapshot"):
        corpus.read("b")


def test_an_id_that_appears_twice_is_named_with_its_line(corpus_file: Path) -> None:
    corpus_file.write_text(corpus_file.read_text() + json.dumps(ROWS[0]) + "\n")
    with pytest.raises(FormatError, match=r"corpus.jsonl:8: _id 'b' appears twice"):
        from_beir(corpus_file)
