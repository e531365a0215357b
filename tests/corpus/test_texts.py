"""Corpora of texts at hand."""

import gzip
import json
from pathlib import Path

import pytest

from karat.corpus import from_beir, from_texts
from karat.errors import FormatError, InputError


def corpus_file(folder: Path, *rows: object) -> Path:
    path = folder / "corpus.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n", encoding="utf-8")
    return path


def test_a_beir_document_is_title_and_text(tmp_path: Path) -> None:
    corpus_file(
        tmp_path,
        {"_id": "d2", "title": "T", "text": "body"},
        {"_id": 1, "title": "", "text": "x\n"},
        {"_id": "st.py", "text": "no code"},
    )
    corpus = from_beir(tmp_path)
    assert [document.path for document in corpus] == ["1", "d2", "st.py"]
    assert corpus.read("d2") == "T\n\nbody"
    assert corpus.read("1") == "x\n"
    assert {document.language for document in corpus} == {"text"}
    assert corpus.name == tmp_path.name


def test_a_compressed_corpus_is_the_same(tmp_path: Path) -> None:
    path = corpus_file(tmp_path, {"_id": "a", "text": "x"})
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert from_beir(tmp_path / "c.jsonl.gz").snapshot == from_beir(path).snapshot


def test_every_bad_line_is_reported(tmp_path: Path) -> None:
    good = {"_id": "a", "text": "x"}
    path = corpus_file(tmp_path, good, good, [], {"_id": "b"}, {"_id": "", "text": ""})
    path.write_bytes(path.read_bytes() + b"{\n")
    with pytest.raises(FormatError) as caught:
        from_beir(path)
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 5, 7]


def test_no_corpus_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no corpus\.jsonl"):
        from_beir(tmp_path)


def test_uploaded_texts_are_checked() -> None:
    corpus = from_texts(
        {"a.py": "x\r\ny", "b": "\0", "c": "z" * 11, "d": "\ud800", "e": ""}, max_bytes=10
    )
    assert [document.path for document in corpus] == ["a.py", "e"]
    assert corpus.skipped == {"binary": 1, "not-unicode": 1, "too-large": 1}
    assert corpus.read("a.py") == "x\ny"
    assert corpus.documents[0].language == "python"
    with pytest.raises(InputError, match="without NUL"):
        from_texts({"": "x"})
