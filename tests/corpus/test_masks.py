"""Masks hide lines of a corpus and change nothing else."""

import pickle
from pathlib import Path

import pytest

from karat.corpus import WorkFolder, from_folder, from_texts
from karat.corpus.snapshot import FileMasks, Mask, mask_corpus, masks_from, masks_json
from karat.errors import InputError

TEXT = "one\ntwo\nthree\nfour"
CORPUS = from_texts({"a.md": TEXT, "b.md": "other\n"})
BLOB = CORPUS.by_path["a.md"].blob


def masks(*own: Mask, blob: str = BLOB) -> dict[str, FileMasks]:
    return {"a.md": FileMasks(blob, own), "gone.md": FileMasks("x", (Mask(1, 1),))}


def test_lines_keep_their_numbers() -> None:
    masked = mask_corpus(CORPUS, masks(Mask(2, 3, "…"), Mask(4, 4)))
    assert masked.read("a.md") == "one\n…\n\n"
    assert masked.read("b.md") == "other\n"
    assert [document.path for document in masked] == ["a.md", "b.md"]
    assert dict(zip(["a.md", "b.md"], (text for _, text in masked.texts()), strict=True)) == {
        "a.md": "one\n…\n\n",
        "b.md": "other\n",
    }


def test_a_mask_past_the_end_is_cut() -> None:
    assert mask_corpus(CORPUS, masks(Mask(4, 9))).read("a.md") == "one\ntwo\nthree\n"


def test_a_masked_document_is_another_content() -> None:
    first, second = (mask_corpus(CORPUS, masks(Mask(line, line))) for line in (1, 2))
    again = mask_corpus(CORPUS, masks(Mask(1, 1)))
    blobs = {corpus.by_path["a.md"].blob for corpus in (CORPUS, first, second)}
    assert len(blobs) == 3
    assert first.snapshot == again.snapshot
    assert first.by_path["b.md"] == CORPUS.by_path["b.md"]


def test_no_masks_no_change() -> None:
    assert mask_corpus(CORPUS, {}) is CORPUS
    assert mask_corpus(CORPUS, {"gone.md": FileMasks("x", (Mask(1, 1),))}) is CORPUS
    assert mask_corpus(CORPUS, masks()) is CORPUS


def test_another_version_of_the_file_is_an_error() -> None:
    with pytest.raises(InputError, match=r"a\.md has changed since the gold set was generated"):
        mask_corpus(CORPUS, masks(Mask(1, 1), blob="0"))


def test_an_external_engine_gets_a_masked_copy(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    corpus = from_folder(tmp_path)
    masked = mask_corpus(corpus, masks(Mask(1, 2), blob=corpus.by_path["a.md"].blob))
    assert (corpus.folder, masked.folder) == (tmp_path.resolve(), None)
    folder = WorkFolder(masked)
    try:
        assert (folder.root / "a.md").read_text() == "\n\nthree\nfour"
    finally:
        folder.close()


def test_it_travels() -> None:
    masked = mask_corpus(CORPUS, masks(Mask(1, 1)))
    assert pickle.loads(pickle.dumps(masked)).read("a.md") == "\ntwo\nthree\nfour"  # noqa: S301
    expected = masks(Mask(1, 2), Mask(3, 3, "# …"))
    assert masks_from(masks_json(expected), name="gold") == expected


@pytest.mark.parametrize(
    "value",
    [
        [1],
        {"a": 1},
        {"a": {"blob": "x"}},
        {"a": {"blob": "x", "lines": [[1]]}},
        {"a": {"blob": "x", "lines": [[0, 1]]}},
        {"a": {"blob": "x", "lines": [[3, 2]]}},
        {"a": {"blob": "x", "lines": [["one", 2]]}},
        {"a": {"blob": "x", "lines": [[1, 2, "a", "b"]]}},
    ],
)
def test_malformed_masks(value: object) -> None:
    with pytest.raises(InputError, match=r"gold: 'metadata\.masks' is not a set of masks"):
        masks_from(value, name="gold")
