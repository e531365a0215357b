"""Search a folder or a Git revision with any engine."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns

from karat.corpus import Corpus
from karat.engines.base import (
    Engine,
    ExplainedHit,
    Progress,
)
from karat.engines.chunked import ChunkEngine
from karat.engines.lexical.tokens import TokenRules
from karat.engines.spec import build
from karat.engines.stages import DenseStage
from karat.errors import InputError
from karat.experiments.workers.sources import load_corpus
from karat.model import Hit
from karat.model.spec import Spec

__all__ = [
    "EngineLike",
    "IndexResult",
    "SearchResult",
    "chunk_engine",
    "engine_of",
    "index_ahead",
    "load_corpus",
    "search",
    "telling_line",
]

EngineLike = Engine | Spec | str | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one query, and how long indexing and searching took."""

    engine: str
    corpus: Corpus
    hits: Sequence[ExplainedHit]
    index_ns: int
    search_ns: int


def engine_of(engine: EngineLike) -> Engine:
    """Return the engine that is described."""
    return build(engine) if isinstance(engine, Spec | str | Mapping) else engine


def search(
    query: str,
    corpus: Corpus,
    engine: EngineLike,
    *,
    k: int = 10,
    progress: Progress | None = None,
) -> SearchResult:
    """Return the best *k* hits for *query*; *progress* is called while indexing."""
    engine = engine_of(engine)
    engine.watch(progress)
    try:
        start = perf_counter_ns()
        engine.index(corpus)
        indexed = perf_counter_ns()
        hits = engine.explain(query, k)
        return SearchResult(engine.name, corpus, hits, indexed - start, perf_counter_ns() - indexed)
    finally:
        engine.close()


def telling_line(corpus: Corpus, hit: Hit, query: str) -> str:
    r"""Return the line of *hit* with most words of *query*, of several the first.

    >>> from karat.corpus import from_texts
    >>> corpus = from_texts({"a.py": "import os\n\ndef login(user):\n    return user\n"})
    >>> telling_line(corpus, Hit("a.py", 1.0), "where does a user log in, login?")
    'def login(user):'
    """
    terms = TokenRules().terms
    words = set(terms(query))
    lines = corpus.read(hit.path).split("\n")
    passage = lines[hit.start_line - 1 : hit.end_line] if hit.start_line else lines
    filled = [line.strip() for line in passage if line.strip()]
    return max(filled, key=lambda line: len(words.intersection(terms(line))), default="")


@dataclass(frozen=True, slots=True)
class IndexResult:
    """The result of indexing: counts, costs and the state of the caches.

    *languages* and *fallbacks* count documents; a document without a language counts under "".
    *work* counts rows indexed, texts embedded, vectors reused and contexts written. *recall* is the
    share of the nearest chunks that a dense search finds, None where it compares all; *dimension*
    is the length of its vectors. *cache_problem* says why nothing could be stored, "" if it could.
    """

    engine: str
    corpus: Corpus
    languages: Mapping[str, int]
    chunks: int
    fallbacks: Mapping[str, int]
    work: Mapping[str, float]
    index_ns: int
    recall: float | None
    dimension: int | None
    cache_folder: Path
    cache_bytes: int
    cache_problem: str


def index_ahead(
    corpus: Corpus, engine: EngineLike, *, progress: Progress | None = None
) -> IndexResult:
    """Chunk and embed *corpus* for *engine*, and store the result in this user's caches.

    InputError for an engine that stores nothing between two runs.
    """
    asked = engine_of(engine)
    built = chunk_engine(asked)
    if built is None:
        raise InputError(f"{asked.name} does not store an index; there is nothing to build")
    folder = built.caches.folder
    if folder is None:
        raise InputError(f"{built.name} has no cache; nothing would be stored")
    built.watch(progress)
    start = perf_counter_ns()
    built.index(corpus)
    spent = perf_counter_ns() - start
    languages = Counter(document.language for document in corpus)
    dense = next((stage for stage in built.stages if isinstance(stage, DenseStage)), None)
    return IndexResult(
        engine=built.name,
        corpus=corpus,
        languages=dict(languages.most_common()),
        chunks=built.chunks,
        fallbacks=dict(built.fallbacks),
        work=built.work(),
        index_ns=spent,
        recall=None if dense is None else dense.recall,
        dimension=None if dense is None else dense.embedder.dimension,
        cache_folder=folder,
        cache_bytes=built.caches.size(),
        cache_problem=built.caches.problem,
    )


def chunk_engine(engine: Engine) -> ChunkEngine | None:
    """Return the engine over chunks that *engine* is, or that it reranks; None for any other."""
    inner = getattr(engine, "engine", engine)
    return inner if isinstance(inner, ChunkEngine) else None
