import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.engines.embedding.base import Embedder, Kind
from karat.engines.embedding.texts import CachedEmbedder, EmbeddingCache, Vectors, unit, vector_key
from karat.testing.engines import EmbedderSuite


class Counting(Embedder):
    """Embeds by the code points of a text, and counts what it is asked."""

    name = "counting"
    dimension = 8
    max_tokens = None

    def __init__(self, digest: str = "a" * 64) -> None:
        self.digest = digest
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        self.asked += texts
        seeds = [[ord(c) for c in text[:50]] + [kind == "query"] for text in texts]
        return unit(np.stack([np.random.default_rng(seed).standard_normal(8) for seed in seeds]))


@pytest.fixture
def cache_file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite"


class TestCached(EmbedderSuite):
    @pytest.fixture
    def embedder(self, cache_file: Path) -> CachedEmbedder:
        return CachedEmbedder(Counting(), EmbeddingCache(cache_file))


def test_nothing_is_embedded_twice(cache_file: Path) -> None:
    embedder = Counting()
    with EmbeddingCache(cache_file) as cache:
        first = CachedEmbedder(embedder, cache).embed(["a", "b", "a"])
    with EmbeddingCache(cache_file) as cache:
        again = CachedEmbedder(embedder, cache).embed(["b", "c", "a"])
        assert len(cache) == 3
    assert embedder.asked == ["a", "b", "c"]
    assert np.array_equal(again[[2, 0]], first[[0, 1]])


def test_kind_and_weights_are_part_of_the_key(cache_file: Path) -> None:
    one, other = Counting("a" * 64), Counting("b" * 64)
    with EmbeddingCache(cache_file) as cache:
        CachedEmbedder(one, cache).embed(["a"])
        CachedEmbedder(one, cache).embed(["a"], kind="query")
        CachedEmbedder(other, cache).embed(["a"])
    assert (one.asked, other.asked) == (["a", "a"], ["a"])


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), unique=True, max_size=8))
def test_other_content_has_another_key(parts: list[tuple[str, str, str]]) -> None:
    clean = [p for p in parts if not any("\0" in part for part in p[1:])]
    clean = [p for p in clean if all(part.isprintable() for part in p[1:])]
    keys = {vector_key(text, digest=digest, kind=kind) for text, digest, kind in clean}
    assert len(keys) == len(clean)


def test_the_least_recently_used_rows_go(cache_file: Path) -> None:
    now = 0.0
    row = np.ones(1_000, np.float32)
    keys = [number.to_bytes(32, "big") for number in range(300)]
    with EmbeddingCache(cache_file, max_bytes=10**9, clock=lambda: now) as cache:
        for key in keys:
            now += 1
            cache.put({key: row})
        now += 100_000
        cache.get(keys[:10], 1_000)
    with EmbeddingCache(cache_file, max_bytes=500_000, clock=lambda: now, evicted_rows=20) as cache:
        cache.put({b"new": row})
        assert 20 < len(cache) < 130
        remaining = cache.get([*keys, b"new"], 1_000)
        assert set(remaining) >= {*keys[:10], keys[-1], b"new"}
        assert keys[10] not in remaining


def test_what_the_run_has_used_is_never_evicted(cache_file: Path) -> None:
    now = 1_000.0
    row = np.ones(1_000, np.float32)
    keys = [number.to_bytes(32, "big") for number in range(300)]
    with EmbeddingCache(cache_file, max_bytes=10**9, clock=lambda: now) as cache:
        cache.put(dict.fromkeys(keys[:100], row))
    now = 2_000.0
    with EmbeddingCache(
        cache_file, max_bytes=100_000, evicted_rows=10, needed_since=2_000, clock=lambda: now
    ) as cache:
        assert len(cache.get(keys[:5], 1_000)) == 5
        for key in keys[100:]:
            cache.put({key: row})
        remaining = cache.get(keys, 1_000)
    assert set(remaining) == {*keys[:5], *keys[100:]}
    # The next run makes it small again.
    now = 3_000.0
    with EmbeddingCache(
        cache_file, max_bytes=100_000, evicted_rows=10, needed_since=3_000, clock=lambda: now
    ) as cache:
        cache.put({b"new": row})
        assert len(cache) < 30
        assert b"new" in cache.get([b"new"], 1_000)


def test_a_row_of_another_length_is_unknown(cache_file: Path) -> None:
    with EmbeddingCache(cache_file) as cache:
        cache.put({b"k": np.ones(3, np.float32)})
        assert cache.get([b"k"], 4) == {}
        assert cache.get([b"k"], 3)[b"k"].tolist() == [1, 1, 1]


WRITER = """
import sys
import numpy as np
from karat.engines.embedding.texts import EmbeddingCache
with EmbeddingCache(sys.argv[1]) as cache:
    for number in range(200):
        key = (number if number % 2 else number + int(sys.argv[2])).to_bytes(32, "big")
        cache.put({key: np.full(8, number, np.float32)})
"""


def test_two_processes_write_at_once(cache_file: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(cache_file), offset])
        for offset in ("0", "1000")
    ]
    assert [process.wait(60) for process in started] == [0, 0]
    with EmbeddingCache(cache_file) as cache:
        assert len(cache) == 300
        rows = cache.get([number.to_bytes(32, "big") for number in range(200)], 8)
    assert all(row[0] == int.from_bytes(key, "big") for key, row in rows.items())
    assert len(rows) == 200
