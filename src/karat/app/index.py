"""Index a folder or a Git revision ahead, so that the next search of it is quick."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns

from karat.app.search import EngineLike, engine_of
from karat.corpus import Corpus
from karat.engines.base import Engine, Progress
from karat.engines.chunked import ChunkEngine
from karat.engines.stages import DenseStage
from karat.errors import InputError

__all__ = ["Indexed", "chunk_engine", "index_ahead"]


@dataclass(frozen=True, slots=True)
class Indexed:
    """What was indexed, what it cost, and what is kept.

    *languages* and *fallbacks* count documents; a document without a language counts under "".
    *work* counts rows indexed, texts embedded and vectors reused. *recall* is the share of the
    nearest places that a dense search finds, None where it compares all; *dimension* is the length
    of its vectors. *cache_problem* says why nothing could be kept ("" if it could).
    """

    engine: str
    corpus: Corpus
    languages: Mapping[str, int]
    chunks: int
    fallbacks: Mapping[str, int]
    work: Mapping[str, int]
    index_ns: int
    recall: float | None
    dimension: int | None
    cache_folder: Path
    cache_bytes: int
    cache_problem: str


def index_ahead(corpus: Corpus, engine: EngineLike, *, progress: Progress | None = None) -> Indexed:
    """Cut and embed *corpus* for *engine* and keep the outcome in this user's caches.

    An engine that keeps nothing between two runs is refused.
    """
    asked = engine_of(engine)
    built = chunk_engine(asked)
    if built is None:
        raise InputError(f"{asked.name} keeps nothing between two runs; there is nothing to index")
    folder = built.caches.folder
    if folder is None:
        raise InputError(f"{built.name} has no cache: nothing would be kept")
    built.watch(progress)
    start = perf_counter_ns()
    built.index(corpus)
    spent = perf_counter_ns() - start
    languages = Counter(document.language for document in corpus)
    dense = next((stage for stage in built.stages if isinstance(stage, DenseStage)), None)
    return Indexed(
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
