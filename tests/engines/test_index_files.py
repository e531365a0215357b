"""Indexes of large corpora in files: the same hits, built once by all processes of a machine."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

import karat.engines.chunk_index
from karat.corpus import Corpus, from_texts
from karat.corpus.chunkers.base import TIMED_OUT
from karat.corpus.chunkers.chunking import iter_chunks
from karat.engines import caches
from karat.engines.chunked import ChunkEngine
from karat.engines.lexical import index as lexical_index
from karat.engines.spec import build, parse_spec
from karat.engines.stages import DenseStage, LexicalStage
from karat.model import Hit

WORDS = ("parse", "login", "user", "token", "mail", "queue", "index", "Größe", "検索", "retry")
QUERIES = ["where are users parsed?", "login token", "retryQueue", "größe", "検索", "absent"]
DOCUMENTS = 20


def texts(seed: int = 1) -> dict[str, str]:
    random = Random(seed)
    made = {}
    for number in range(DOCUMENTS):
        words = random.choices(WORDS, k=30)
        defined = [f"{one}_{other}" for one, other in pairwise(words)]
        code = "".join(f"def {name}():\n    return {name!r}\n    # {words}\n\n" for name in defined)
        name = f"{words[3]}{number}"
        made[f"tests/{name}.py" if number % 5 == 0 else f"src/{name}.py"] = code
        made[f"docs/{name}.md"] = f"# {words[4]}\n\n{' '.join(words)}\n"
    return made


CORPUS = from_texts(texts(), name="made-up")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path))
    monkeypatch.setattr(caches, "LARGE_DOCUMENTS", DOCUMENTS)
    return tmp_path / "indexes"


@pytest.fixture
def grown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of stages, once for each batch that they count or embed."""
    calls: list[str] = []
    for stage in (LexicalStage, DenseStage):
        grow = stage.grow

        def counted(self: object, chunks: object, grow: object = grow) -> None:
            calls.append(self.name)  # type: ignore[attr-defined]
            grow(self, chunks)  # type: ignore[operator]

        monkeypatch.setattr(stage, "grow", counted)
    return calls


def engine_of(spec: str, corpus: Corpus = CORPUS) -> ChunkEngine:
    engine = build(parse_spec(spec))
    assert isinstance(engine, ChunkEngine)
    engine.index(corpus)
    return engine


def hits_of(engine: ChunkEngine) -> list[list[Hit]]:
    return [engine.search(query, 20) for query in QUERIES]


SPECS = [
    "bm25",
    "bm25(unit=file)",
    "bm25(k1=0.9, b=0.4, header=1)",
    "bm25(code_ranking=false)",
    "hybrid(model=tests.words:words)",
]


def without_files(spec: str) -> str:
    name, _, options = spec.removesuffix(")").partition("(")
    return f"{name}({', '.join(filter(None, [options, 'cache=false']))})"


@pytest.mark.parametrize("ready", [True, False], ids=["weights", "no weights"])
@pytest.mark.parametrize("spec", SPECS)
def test_hits_are_the_same_to_the_last_bit(
    spec: str, ready: bool, monkeypatch: pytest.MonkeyPatch, grown: list[str], folder: Path
) -> None:
    if not ready:
        monkeypatch.setattr(lexical_index, "READY_POSTINGS", 0)
    expected = engine_of(without_files(spec))
    assert not folder.exists()
    assert any(hits_of(expected))
    grown.clear()
    for round_number in range(2):
        engine = engine_of(spec)
        assert hits_of(engine) == hits_of(expected)
        assert [engine.explain(query, 5) for query in QUERIES] == [
            expected.explain(query, 5) for query in QUERIES
        ]
        assert engine.work().get("rows") == expected.work().get("rows")
        assert engine.fallbacks == expected.fallbacks
        assert ("bm25" in grown) == (round_number == 0)
        grown.clear()


CHILD = f"""
import json, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_index_files import CORPUS, DOCUMENTS, engine_of, hits_of, caches, LexicalStage

caches.LARGE_DOCUMENTS = DOCUMENTS
calls, grow = [], LexicalStage.grow
LexicalStage.grow = lambda stage, chunks: (calls.append(1), grow(stage, chunks))
print("ready", flush=True)
sys.stdin.readline()
hits = hits_of(engine_of("bm25"))
print(json.dumps([len(calls), hits]))
"""


def test_of_two_processes_that_start_at_once_one_builds() -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    answers = [json.loads(child.communicate()[0]) for child in children]
    assert sorted(built for built, _ in answers) == [0, 1]
    expected = json.loads(json.dumps(hits_of(engine_of("bm25(cache=false)"))))
    assert [hits for _, hits in answers] == [expected, expected]


def test_each_damaged_file_is_rebuilt(grown: list[str], folder: Path) -> None:
    expected = hits_of(engine_of("bm25"))
    for file in sorted(folder.iterdir()):
        data = file.read_bytes()
        file.write_bytes(data[:-100])
        assert hits_of(engine_of("bm25")) == expected
        assert len(file.read_bytes()) == len(data)
    grown.clear()
    assert hits_of(engine_of("bm25")) == expected
    assert grown == []


def files(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def test_what_is_stored_decides_which_file_is_used(grown: list[str], folder: Path) -> None:
    engine_of("bm25")
    first = files(folder)
    # Chunks; postings and terms; weights.
    assert len(first) == 3
    grown.clear()
    engine_of("bm25(k1=0.5)")
    assert grown == []
    assert len(files(folder) - first) == 1
    for spec, new in (
        ("bm25(header=5)", 2),
        ("bm25(unit=file)", 1),
        ("bm25(chunker=lines)", 3),
    ):
        before = files(folder)
        engine_of(spec)
        assert len(files(folder) - before) == new, spec
    before = files(folder)
    engine_of("bm25", from_texts({**texts(), "src/new.py": "x = 1"}))
    assert len(files(folder) - before) == 3


def test_documents_of_another_language_have_their_own_files(folder: Path) -> None:
    engine_of("bm25")
    first = files(folder)
    documents = tuple(document._replace(language="text") for document in CORPUS)
    engine_of("bm25", Corpus("text", documents, CORPUS.reader))
    assert len(files(folder) - first) == 3


def test_a_hybrid_engine_maps_the_postings_of_another(grown: list[str]) -> None:
    expected = hits_of(engine_of("hybrid(model=tests.words:words, cache=false)"))
    engine_of("bm25")
    grown.clear()
    assert hits_of(engine_of("hybrid(model=tests.words:words)")) == expected
    assert grown == ["dense"]


@pytest.mark.parametrize("spec", ["bm25", "bm25(unit=file)", "hybrid(model=tests.words:words)"])
def test_the_next_snapshot_grows_from_a_mapped_one(spec: str) -> None:
    changed = texts()
    for path in list(changed)[::7]:
        changed[path] = "def brandNewName():\n    return 'unseenWord'\n\n" + changed.pop(path)
    second = from_texts(changed)
    engine_of(spec)
    mapped, own = engine_of(spec), engine_of(without_files(spec))
    for corpus in (second, CORPUS, second):
        for engine in (mapped, own):
            engine.show(corpus)
        assert hits_of(mapped) == hits_of(own)
        assert mapped.search("brandNewName unseenWord", 9) == own.search(
            "brandNewName unseenWord", 9
        )
        assert mapped.work()["rows"] == own.work()["rows"]


def test_a_small_corpus_is_not_stored(folder: Path) -> None:
    engine_of("bm25", from_texts({"a.py": "x = 1"}))
    assert not folder.exists()


def test_few_long_documents_are_a_large_corpus(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(caches, "LARGE_BYTES", 1000)
    engine_of("bm25", from_texts({"a.md": "word " * 200}))
    assert len(files(folder)) == 3


def test_a_folder_that_cannot_be_written_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "indexes").write_text("in the way")
    engine = engine_of("bm25")
    assert hits_of(engine) == hits_of(engine_of("bm25(cache=false)"))
    assert "indexes" in engine.caches.problem


def test_other_indexes_are_evicted_above_the_limit(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    engine = engine_of("bm25")
    expected, old = hits_of(engine), files(folder)
    monkeypatch.setenv("KARAT_CACHE_SIZE", "1")
    # The run has used them.
    engine_of("bm25(header=5)")
    assert old < files(folder)
    for file in folder.iterdir():
        os.utime(file, (1, 1))
    engine_of("bm25(chunker=lines)")
    assert len(files(folder)) == 3
    assert not old & files(folder)
    assert hits_of(engine) == expected


# The number of a document that has more than one chunk.
LATE = next(n for n, document in enumerate(CORPUS) if document.path.endswith(".py"))


@pytest.mark.parametrize("spec", ["bm25", "hybrid(model=tests.words:words)"])
def test_chunks_of_a_parse_that_timed_out_are_not_stored(
    spec: str, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    if spec != "bm25":
        # The postings are there already, of chunks that another process cut in full.
        engine_of("bm25")
    before = files(folder) if folder.exists() else set()

    def cut(*arguments: object, **options: object) -> Iterator[object]:
        for number, chunks in enumerate(iter_chunks(*arguments, **options)):  # type: ignore[arg-type]
            late = chunks._replace(chunks=chunks.chunks[:1], fallback=TIMED_OUT)
            yield late if number == LATE else chunks

    monkeypatch.setattr(karat.engines.chunk_index, "iter_chunks", cut)
    engine = engine_of(spec)
    assert engine.fallbacks == {TIMED_OUT: 1}
    assert hits_of(engine) == hits_of(engine_of(without_files(spec)))
    assert (files(folder) if folder.exists() else set()) == before
