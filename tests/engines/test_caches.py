"""Caches that engines open while they index."""

from pathlib import Path

import pytest

from karat.corpus import from_texts
from karat.engines.builtin import bm25, hybrid
from karat.engines.caches import NO_CACHES, Caches
from karat.engines.chunked import ChunkEngine
from karat.engines.embedding import create_embedder
from karat.engines.stages import DenseStage, LexicalStage, Stage
from karat.errors import InputError
from tests.words import WORDS

TEXTS = {"a.py": "def login(user):\n    return user\n", "b.md": "# Mail\n\nSend a message.\n"}


def engine(caches: Caches) -> ChunkEngine:
    stages: list[Stage] = [LexicalStage(), DenseStage(create_embedder(WORDS), caches=caches)]
    return ChunkEngine(stages, name="kept", caches=caches)


def test_a_second_engine_embeds_nothing(tmp_path: Path) -> None:
    first, second = engine(Caches(tmp_path)), engine(Caches(tmp_path))
    first.index(from_texts(TEXTS))
    second.index(from_texts(TEXTS))
    assert first.work() == {"rows": 2, "embedded": 2, "reused": 0}
    assert second.work() == {"rows": 2, "embedded": 0, "reused": 2}
    assert second.search("log in", 2) == first.search("log in", 2)
    assert {path.suffix for path in tmp_path.iterdir()} == {".sqlite"}


def test_a_query_is_never_cached(tmp_path: Path) -> None:
    caches = Caches(tmp_path)
    built = engine(caches)
    built.index(from_texts(TEXTS))
    built.search("log in", 2)
    with caches.vectors() as cache:
        assert cache is not None
        assert len(cache) == len(TEXTS)


def test_a_folder_that_cannot_be_used_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    caches = Caches(tmp_path / "file")
    built = engine(caches)
    built.index(from_texts(TEXTS))
    assert built.work()["embedded"] == 2
    assert "file" in caches.problem


def test_a_file_that_goes_while_all_are_counted_has_no_size(tmp_path: Path) -> None:
    (tmp_path / "chunks.sqlite").write_bytes(b"12345")
    # Listed, and there no more when it is looked at.
    (tmp_path / "chunks.sqlite-wal").symlink_to(tmp_path / "gone")
    assert Caches(tmp_path).size() == 5


def test_none_keeps_nothing() -> None:
    with NO_CACHES.chunks() as chunks, NO_CACHES.vectors() as vectors:
        assert chunks is None
        assert vectors is None


def test_the_folder_is_the_users_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path))
    bm25().index(from_texts(TEXTS))
    assert [path.name for path in tmp_path.iterdir()] == ["chunks.sqlite"]
    assert bm25(cache=False).caches is NO_CACHES
    assert hybrid(model=WORDS).caches.folder == tmp_path


def test_a_remote_cache_that_cannot_exist_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARAT_CACHE_REMOTE", "s4://bucket")
    caches = Caches(tmp_path)
    with pytest.raises(InputError, match="KARAT_CACHE_REMOTE is 's4://bucket'"), caches.chunks():
        pass
