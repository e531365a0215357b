"""Waste in an index: chunks that no query retrieves, and duplicates."""

from collections.abc import Callable, Iterator, Sequence

from karat.app.search import EngineLike, chunk_engine, engine_of
from karat.corpus import Chunk, ChunkedCorpus, Corpus, chunk_corpus, create_chunker
from karat.engines.base import Engine
from karat.engines.chunk_table import ChunkLocation
from karat.engines.chunked import ChunkEngine
from karat.engines.embedding.base import Embedder
from karat.engines.hit_tokens import tokens
from karat.engines.stages import DenseStage, texts_of
from karat.errors import InputError
from karat.extensions.analyze.records import Flaw, Health

# Maximum number of chunks that are listed for each problem.
CHUNKS_LISTED = 20


def index_health(
    corpus: Corpus, engine: EngineLike, *, queries: Sequence[str] = (), k: int = 10
) -> Health:
    """Return the flaws of *corpus* as *engine* cuts it.

    The corpus is indexed only if there are *queries*: each is run with *k* hits, and chunks that
    none of them retrieves are counted. Only engines over chunks can be inspected.
    """
    built = engine_of(engine)
    try:
        inner = chunk_engine(built)
        if inner is None:
            raise InputError(f"{built.name} has no chunks to inspect; expected a built-in engine")
        recipe = inner.recipe
        chunker = create_chunker(recipe.chunker, **recipe.chunker_options)
        with inner.caches.chunks() as cache:
            chunked = chunk_corpus(corpus, chunker, cache=cache)
        return Health(
            engine=built.name,
            corpus=corpus.name,
            documents=len(corpus),
            chunks=len(chunked),
            queries=len(queries),
            flaws=tuple(_flaws(chunked, inner, _retrieved(built, corpus, queries, k))),
            fallbacks=chunked.fallbacks,
        )
    finally:
        built.close()


ChunkLines = tuple[str, int, int]


def _retrieved(
    engine: Engine, corpus: Corpus, queries: Sequence[str], k: int
) -> set[ChunkLines] | None:
    """Return the chunks that some query retrieves; None without queries."""
    if not queries:
        return None
    engine.index(corpus)
    engine.expect(queries)
    return {
        (hit.path, hit.start_line, hit.end_line)
        for query in queries
        for hit in engine.search(query, k)
    }


def _flaws(
    chunked: ChunkedCorpus, engine: ChunkEngine, retrieved: set[ChunkLines] | None
) -> Iterator[Flaw]:
    whole = list(chunked)
    total = len(whole)
    bare = [document.path for document, chunks in chunked.items() if not chunks]
    yield Flaw("file without a chunk", len(bare), len(chunked.corpus), tuple(bare[:CHUNKS_LISTED]))
    yield _flaw("empty", whole, lambda chunk: not any(map(str.isalnum, chunk.text)))
    seen: set[str] = set()
    yield _flaw("duplicate", whole, lambda chunk: _again(chunk, seen))
    for stage in engine.stages:
        if isinstance(stage, DenseStage) and stage.embedder.max_tokens is not None:
            yield _oversized(chunked, stage.embedder, stage.windows)
    if retrieved is not None:
        never = [
            _named(path, chunk)
            for path, chunk in whole
            if (path, chunk.start_line, chunk.end_line) not in retrieved
        ]
        yield Flaw("never retrieved", len(never), total, tuple(never[:CHUNKS_LISTED]))


def _flaw(
    kind: str, whole: Sequence[tuple[str, Chunk]], is_flawed: Callable[[Chunk], bool]
) -> Flaw:
    flawed = [_named(path, chunk) for path, chunk in whole if is_flawed(chunk)]
    return Flaw(kind, len(flawed), len(whole), tuple(flawed[:CHUNKS_LISTED]))


def _again(chunk: Chunk, seen: set[str]) -> bool:
    if chunk.id in seen:
        return True
    seen.add(chunk.id)
    return False


def _oversized(chunked: ChunkedCorpus, embedder: Embedder, windows: str) -> Flaw:
    """Return the chunks that are longer than the input of the model."""
    limit = embedder.max_tokens or 0
    named: list[str] = []
    texts: list[str] = []
    for document, chunks in chunked.items():
        for chunk in chunks:
            for text in texts_of(ChunkLocation(document.path, chunk, document.traits), windows):
                # A token has a byte at least.
                if len(text.encode("utf-8", "replace")) >= limit:
                    named.append(_named(document.path, chunk))
                    texts.append(text)
    note, long = "", embedder.too_long(texts)
    if long is None:
        note, long = " (estimate)", [tokens(text) > limit for text in texts]
    oversized = list(
        dict.fromkeys(name for name, is_long in zip(named, long, strict=True) if is_long)
    )
    note = f"longer than the {limit} tokens that {embedder.name} reads{note}"
    return Flaw("oversized", len(oversized), len(chunked), tuple(oversized[:CHUNKS_LISTED]), note)


def _named(path: str, chunk: Chunk) -> str:
    return f"{path}:{chunk.start_line}-{chunk.end_line}"
