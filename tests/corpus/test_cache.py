"""What was cut once is not cut again."""

import multiprocessing
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import (
    Chunk,
    Corpus,
    MemoryCache,
    chunk_corpus,
    create_chunker,
    from_texts,
    header,
)
from karat.corpus.chunkers.base import Piece, SplitResult, chunk_id, chunks_of
from karat.corpus.chunkers.chunking import CachedChunks, ChunkCache, ChunkKey, DiskCache
from karat.corpus.chunkers.window import Lines
from karat.model.spec import Spec


class Counting:
    """A chunker that counts how often it is asked."""

    def __init__(self, fallback: str = "") -> None:
        self.asked: list[tuple[str, str]] = []
        self.fallback = fallback

    @property
    def spec(self) -> Spec:
        return Spec("chunker", "counting")

    def split(self, text: str, language: str) -> SplitResult:
        self.asked.append((text, language))
        return SplitResult(Lines(2).split(text, language).pieces, self.fallback)


@pytest.fixture
def corpus() -> Corpus:
    return from_texts({"a.py": "x = 1\n", "b.py": "x = 1\n", "c.txt": "x = 1\n", "d.py": ""})


def test_equal_contents_of_one_language_are_cut_once(corpus: Corpus) -> None:
    chunker = Counting()
    chunked = chunk_corpus(corpus, chunker)
    assert sorted(chunker.asked) == [("", "python"), ("x = 1\n", "python"), ("x = 1\n", "text")]
    assert [path for path, _ in chunked] == ["a.py", "b.py", "c.txt"]
    assert len(chunked) == 3
    assert [len(chunks) for _, chunks in chunked.items()] == [1, 1, 1, 0]
    assert len({chunk.id for _, chunk in chunked}) == 1


def test_a_shared_cache_spans_snapshots(corpus: Corpus) -> None:
    chunker, cache = Counting(), MemoryCache()
    chunk_corpus(corpus, chunker, cache=cache)
    known = len(chunker.asked)
    changed = from_texts({"a.py": "x = 2\n", "b.py": "x = 1\n"})
    chunk_corpus(changed, chunker, cache=cache)
    assert chunker.asked[known:] == [("x = 2\n", "python")]
    assert len(cache) == known + 1


def test_fallbacks_are_counted_by_document(corpus: Corpus) -> None:
    assert chunk_corpus(corpus, Counting("slow")).fallbacks == {"slow": 4}
    assert chunk_corpus(corpus, create_chunker("syntax")).fallbacks == {"no-grammar": 1}


def test_an_id_follows_the_text_and_the_chunker_only() -> None:
    text = "# head\n\ndef f():\n    return 1\n"
    one = from_texts({"a.py": text})
    moved = from_texts({"other/b.py": "import os\n\n\n" + text[8:]})
    ids = {c.text: c.id for _, c in chunk_corpus(one, create_chunker("syntax", size=14))}
    again = {c.text: c.id for _, c in chunk_corpus(moved, create_chunker("syntax", size=14))}
    body = "def f():\n    return 1\n"
    assert ids[body] == again[body]
    assert chunk_id(body, "a" * 64) != chunk_id(body, "b" * 64)


def test_a_disk_cache_gives_back_what_it_got(tmp_path: Path, corpus: Corpus) -> None:
    first, second = Counting("why"), Counting()
    with DiskCache(tmp_path / "new" / "chunks.sqlite") as cache:
        one = chunk_corpus(corpus, first, cache=cache)
    with DiskCache(tmp_path / "new" / "chunks.sqlite") as cache:
        two = chunk_corpus(corpus, second, cache=cache)
    assert one.by_document == two.by_document
    assert two.fallbacks == {"why": 4}
    assert second.asked == []


def test_what_other_code_has_cut_is_cut_anew_and_not_kept(
    tmp_path: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chunks.sqlite"
    with DiskCache(path) as cache:
        chunk_corpus(corpus, Counting("old"), cache=cache)
    monkeypatch.setattr("karat.corpus.chunkers.chunking.chunking_code", lambda: "0" * 64)
    chunker = Counting()
    with DiskCache(path) as cache:
        assert chunk_corpus(corpus, chunker, cache=cache).fallbacks == {}
    assert len(chunker.asked) == 3
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM entry").fetchone() == (3,)
    database.close()


def test_a_parse_out_of_time_is_tried_again_by_the_next_process(
    tmp_path: Path, corpus: Corpus
) -> None:
    for expected in (3, 3):
        chunker = Counting("parse-timeout")
        with DiskCache(tmp_path / "chunks.sqlite") as cache:
            chunk_corpus(corpus, chunker, cache=cache)
            chunk_corpus(corpus, chunker, cache=cache)
        assert len(chunker.asked) == expected


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAMES = st.lists(WORDS, max_size=3).map(tuple)
PIECES = st.builds(Piece, st.integers(1, 9), st.integers(1, 9), WORDS, NAMES, NAMES, WORDS)
KEYS = st.builds(ChunkKey, WORDS, WORDS, st.just("d" * 64))


@given(st.dictionaries(KEYS, st.tuples(st.lists(PIECES, max_size=4), WORDS), max_size=5))
def test_any_cut_survives_the_disk(given_cuts: dict[ChunkKey, tuple[list[Piece], str]]) -> None:
    cuts = {
        key: CachedChunks(
            chunks_of(SplitResult(pieces), blob=key.blob, digest=key.digest), fallback
        )
        for key, (pieces, fallback) in given_cuts.items()
    }
    with DiskCache(":memory:") as cache:
        cache.put(cuts)
        cache._memory = MemoryCache()
        assert cache.get(cuts) == cuts


@pytest.mark.parametrize("value", [b"", b"no zlib", b"x\x9cK\xcb\xcf\x07\x00\x02\x82\x01E"])
def test_a_damaged_value_is_unknown(tmp_path: Path, corpus: Corpus, value: bytes) -> None:
    path = tmp_path / "chunks.sqlite"
    with DiskCache(path) as cache:
        whole = chunk_corpus(corpus, Counting(), cache=cache)
    database = sqlite3.connect(path)
    with database:
        assert (
            database.execute(
                "UPDATE entry SET value = ?", (crc32(value).to_bytes(4) + value,)
            ).rowcount
            == 3
        )
    database.close()
    with DiskCache(path) as cache:
        assert chunk_corpus(corpus, Counting(), cache=cache).by_document == whole.by_document


def fill(path: str, start: int) -> None:
    """Write and read 50 contents, half of them those of the other process."""
    with DiskCache(path) as cache:
        for number in range(start, start + 50):
            corpus = from_texts({"a.py": f"x = {number}\n"})
            chunk_corpus(corpus, create_chunker("lines"), cache=cache)


def test_two_processes_share_one_file(tmp_path: Path) -> None:
    path = str(tmp_path / "chunks.sqlite")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=fill, args=(path, start)) for start in (0, 25)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    database = sqlite3.connect(path)
    assert database.execute("SELECT count(*) FROM entry").fetchone() == (75,)
    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    database.close()


def test_both_caches_keep_the_protocol(tmp_path: Path) -> None:
    caches: list[ChunkCache] = [MemoryCache(), DiskCache(tmp_path / "a.sqlite")]
    key = ChunkKey("b", "python", "d" * 64)
    cut = CachedChunks(chunks_of(SplitResult([Piece(1, 1, "x")]), blob="b", digest="d" * 64))
    for cache in caches:
        assert cache.get([key]) == {}
        cache.put({key: cut})
        assert cache.get([key, key, key._replace(language="")]) == {key: cut}
    assert isinstance(caches[1], DiskCache)
    caches[1].close()


def test_a_header_names_the_place() -> None:
    chunk = Chunk("i", "b", 1, 2, "text", ("f", "g"), ("A", "B"), "code")
    assert header(chunk, "src/a.py") == "src/a.py\nA > B\nf g"
    assert header(Chunk("i", "b", 1, 2, "text"), "src/a.py") == "src/a.py"


def test_a_long_corpus_is_kept_as_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.corpus.chunkers.chunking.AT_ONCE", 2)
    cached_counts: list[int] = []

    class Watched(MemoryCache):
        def put(self, cuts: Mapping[ChunkKey, CachedChunks]) -> None:
            cached_counts.append(len(cuts))
            super().put(cuts)

    corpus = from_texts({str(number): f"{number}\n" for number in range(5)})
    assert len(chunk_corpus(corpus, Counting(), cache=Watched())) == 5
    assert cached_counts == [2, 2, 1]


def test_a_bounded_memory_forgets_what_came_first() -> None:
    cache = MemoryCache(max_characters=10)
    keys = [ChunkKey(blob, "", "d" * 64) for blob in "abc"]
    for key in keys:
        piece = Piece(1, 1, "12345")
        cut = chunks_of(SplitResult([piece]), blob=key.blob, digest=key.digest)
        for _ in range(2):
            cache.put({key: CachedChunks(cut)})
    assert list(cache.get(keys)) == keys[1:]
