"""Every flaw of an index that was planted is found, and no other."""

from pathlib import Path

import pytest

from karat.corpus import from_texts
from karat.engines.builtin import bm25, dense
from karat.engines.embedding.base import as_embedder
from karat.errors import InputError
from karat.extensions.analyze.index import index_health
from karat.extensions.analyze.records import Flaw, Health
from karat.model.spec import Spec
from tests.words import WordEmbedder

LOGIN = "def login(user):\n    return user\n"
MAIL = "def mail(letter):\n    return letter\n"
LONG = "def many():\n    return [" + ", ".join(f"value_{n}" for n in range(2_000)) + "]\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path))


def flaw(health: Health, kind: str) -> Flaw:
    (match,) = (flaw for flaw in health.flaws if flaw.kind == kind)
    return match


def test_a_sound_corpus_has_no_flaw() -> None:
    health = index_health(from_texts({"a.py": LOGIN, "b.py": MAIL}), "bm25")
    assert (health.engine, health.documents, health.chunks, health.queries) == ("bm25", 2, 2, 0)
    assert [flaw.kind for flaw in health.flaws] == ["file without a chunk", "empty", "duplicate"]
    assert health.healthy


def test_a_file_without_a_chunk() -> None:
    health = index_health(from_texts({"a.py": LOGIN, "blank.py": "\n  \n"}), Spec("engine", "bm25"))
    assert flaw(health, "file without a chunk") == Flaw("file without a chunk", 1, 2, ("blank.py",))
    assert not health.healthy


def test_a_chunk_without_a_word() -> None:
    health = index_health(from_texts({"a.py": LOGIN, "rule.txt": "-----\n=====\n"}), "bm25")
    assert flaw(health, "empty") == Flaw("empty", 1, 2, ("rule.txt:1-2",))


def test_the_second_and_third_copy_are_duplicates() -> None:
    texts = {"a.py": LOGIN, "copy/a.py": LOGIN, "old/a.py": LOGIN, "b.py": MAIL}
    duplicate = flaw(index_health(from_texts(texts), "bm25"), "duplicate")
    assert (duplicate.count, duplicate.of) == (2, 4)
    assert duplicate.places == ("copy/a.py:1-2", "old/a.py:1-2")


@pytest.mark.together_with("models")
def test_what_the_model_does_not_read() -> None:
    corpus = from_texts({"a.py": LOGIN, "long.py": LONG})
    oversized = flaw(index_health(corpus, dense(model="granite", chunker="lines")), "oversized")
    assert (oversized.count, oversized.of, oversized.places) == (1, 2, ("long.py:1-2",))
    assert oversized.note == "longer than the 256 tokens that granite reads"
    windows = index_health(corpus, dense(model="granite", chunker="lines", windows="all"))
    # The long line is one part, however small the windows.
    assert flaw(windows, "oversized").count == 1
    assert [flaw.kind for flaw in index_health(corpus, dense(model="static")).flaws] == [
        "file without a chunk",
        "empty",
        "duplicate",
    ]


@pytest.mark.together_with("models")
def test_a_limit_without_a_tokenizer_is_estimated() -> None:
    class Estimated(WordEmbedder):
        name = "own"
        max_tokens: int | None = 100  # type: ignore[assignment]

    engine = dense(model="static", chunker="lines")
    engine.stages[0].embedder = as_embedder(Estimated())  # type: ignore[attr-defined]
    oversized = flaw(
        index_health(from_texts({"a.py": LOGIN, "long.py": LONG}), engine), "oversized"
    )
    assert oversized.places == ("long.py:1-2",)
    assert oversized.note == "longer than the 100 tokens that own reads (estimate)"


def test_what_no_query_ever_retrieves() -> None:
    corpus = from_texts({"a.py": LOGIN, "b.py": MAIL, "c.py": "def forgotten():\n    pass\n"})
    health = index_health(corpus, bm25(), queries=["user login", "mail a letter"], k=1)
    never = flaw(health, "never retrieved")
    assert (health.queries, never.count, never.of) == (2, 1, 3)
    assert never.places == ("c.py:1-2",)
    assert health.healthy


@pytest.mark.together_with("models")
def test_a_reranked_engine_is_looked_into_and_a_foreign_one_refused() -> None:
    corpus = from_texts({"a.py": LOGIN})
    reranked = {"engine": "rerank", "over": "bm25", "model": "maxsim:granite"}
    assert index_health(corpus, reranked).chunks == 1
    with pytest.raises(InputError, match="has no chunks to inspect"):
        index_health(corpus, "keyword")
