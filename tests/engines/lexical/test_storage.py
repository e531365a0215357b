"""An index comes back as it was saved, and a damaged file says so."""

import json
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from karat.engines.lexical import BM25, Document, LexicalIndex, TokenRules, load, save
from karat.errors import InputError

DOCUMENTS: list[Document] = [
    "def parseURL(text): ...",
    [("src/user.py", 2), ("class UserStore", 1)],
    "検索",
    "",
]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    index = LexicalIndex(rules=TokenRules(stem=False), bm25=BM25(1.5, 0.6))
    for document in DOCUMENTS:
        index.add([document])
    save(index, tmp_path / "lexical.index")
    return tmp_path / "lexical.index"


def test_round_trip(saved: Path) -> None:
    index = load(saved)
    assert index.rules == TokenRules(stem=False)
    assert index.bm25 == BM25(1.5, 0.6)
    fresh = LexicalIndex(rules=index.rules, bm25=index.bm25)
    fresh.add(DOCUMENTS)
    for query in ("parse url", "user store", "検索", "nothing"):
        assert index.scores(query).tolist() == fresh.scores(query).tolist()
    assert index.add(["another user"]) == range(4, 5)
    assert 4 in index.search("another", 5).documents


def test_an_empty_index(tmp_path: Path) -> None:
    save(LexicalIndex(), tmp_path / "empty")
    index = load(tmp_path / "empty")
    assert len(index) == 0
    assert not len(index.search("alpha", 5).documents)


def test_every_cut_is_noticed(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    for size in range(0, len(whole), 97):
        cut = tmp_path / "cut"
        cut.write_bytes(whole[:size])
        with pytest.raises(InputError, match="cut: "):
            load(cut)


def test_a_flipped_byte_is_noticed_or_harmless(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    expected = load(saved).scores("user parse").tolist()
    noticed = 0
    for place in range(0, len(whole), 31):
        damaged = tmp_path / "damaged"
        damaged.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            found = load(damaged).scores("user parse").tolist()
        except InputError:
            noticed += 1
        else:
            assert found == expected
    assert noticed > len(whole) // 62


def rewritten(saved: Path, **changed: bytes) -> Path:
    """Write the same archive with members replaced, their names without the ending."""
    with ZipFile(saved) as old:
        members = {name: old.read(name) for name in old.namelist()}
    with ZipFile(saved, "w") as new:
        for name, content in members.items():
            new.writestr(name, changed.get(name.split(".")[0], content))
    return saved


def test_another_version(saved: Path) -> None:
    header = json.dumps({"kind": "karat lexical index", "version": 99}).encode()
    with pytest.raises(InputError, match="version 99 of a karat lexical index; expected 1"):
        load(rewritten(saved, header=header))


@pytest.mark.parametrize("header", [b"[]", b"{}", b'{"kind": "other"}'])
def test_another_kind_of_file(saved: Path, header: bytes) -> None:
    with pytest.raises(InputError, match="no karat lexical index"):
        load(rewritten(saved, header=header))


def test_columns_that_do_not_fit(saved: Path) -> None:
    with pytest.raises(InputError, match="do not fit"):
        load(rewritten(saved, terms=b"one\ntwo"))


def test_nothing_is_unpickled(saved: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "evil.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="damaged"):
        load(rewritten(saved, counts=(tmp_path / "evil.npy").read_bytes()))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "absent")
