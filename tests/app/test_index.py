"""Indexing ahead keeps what the next search needs, and says what it did."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.app.search import index_ahead, search
from karat.engines.builtin import bm25, hybrid
from karat.engines.rerank import RerankEngine, Reranker
from karat.errors import InputError
from karat.experiments.workers.sources import load_corpus
from tests.words import WORDS


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("KARAT_CACHE", str(folder))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("def login(user):\n    return user\n")
    (project / "b.py").write_text("def mail(user):\n    return user\n")
    (project / "c.md").write_text("# Mail\n\nHow to send it.\n")
    (project / "notes.zzz").write_text("none\n")
    (project / "x.bin").write_bytes(b"\0")
    return project


def test_the_second_time_everything_is_there(folder: Path, cache: Path) -> None:
    told: list[tuple[int, int]] = []
    corpus = load_corpus(str(folder))
    first = index_ahead(
        corpus, hybrid(model=WORDS), progress=lambda done, total: told.append((done, total))
    )
    assert first.engine == "hybrid"
    assert first.languages == {"python": 2, "markdown": 1, "": 1}
    assert (first.chunks, dict(first.fallbacks)) == (4, {})
    assert first.work == {"rows": 4, "embedded": 4, "reused": 0}
    assert told == [(4, 4)]
    assert first.recall is None
    assert first.cache_folder == cache
    assert first.cache_bytes > 0
    (folder / "a.py").write_text("def login(user, password):\n    return user\n")
    again = index_ahead(load_corpus(str(folder)), hybrid(model=WORDS))
    assert again.work == {"rows": 4, "embedded": 1, "reused": 3}


def test_a_search_finds_what_was_indexed(folder: Path) -> None:
    corpus = load_corpus(str(folder))
    index_ahead(corpus, hybrid(model=WORDS))
    engine = hybrid(model=WORDS, dense_weight=0.3)
    result = search("send a mail", corpus, engine)
    assert engine.work() == {"rows": 4, "embedded": 0, "reused": 4}
    fresh = search("send a mail", corpus, hybrid(model=WORDS, dense_weight=0.3, cache=False))
    assert result.hits == fresh.hits


class Same(Reranker):
    """A reranker to which all texts are alike."""

    name = "same"
    weight = 0.5

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.floating]:
        return np.ones(len(texts))


def test_the_engine_below_a_reranker_is_indexed(folder: Path) -> None:
    indexed = index_ahead(load_corpus(str(folder)), RerankEngine(bm25(), Same()))
    assert (indexed.engine, indexed.chunks) == ("bm25", 4)


def test_what_keeps_nothing_is_refused(folder: Path) -> None:
    corpus = load_corpus(str(folder))
    with pytest.raises(InputError, match="has no cache"):
        index_ahead(corpus, "bm25(cache=false)")
    with pytest.raises(InputError, match="does not store an index"):
        index_ahead(corpus, {"engine": "command", "command": ["rg"]})


def test_a_cache_that_cannot_be_used_is_told(folder: Path, cache: Path) -> None:
    cache.touch()
    indexed = index_ahead(load_corpus(str(folder)), "bm25")
    assert "cache" in indexed.cache_problem
    assert indexed.cache_bytes == 0
