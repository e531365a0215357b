"""The engines that come with Karat, as functions of their settings."""

from collections.abc import Mapping
from dataclasses import replace

from karat.engines.caches import user_caches
from karat.engines.chunk_index import IndexRecipe
from karat.engines.chunked import ChunkEngine
from karat.engines.embedding import DEFAULT_EMBEDDER, create_embedder
from karat.engines.fusion import DEFAULT_FUSION, RRF, RRF_K, Weights
from karat.engines.ranking import PLAIN, RankingRules
from karat.engines.sparse import SparseStage, create_sparse_encoder
from karat.engines.spec import model_text
from karat.engines.stages import DenseStage, LexicalStage, Stage
from karat.engines.stored_lexical import StoredLexicalStage
from karat.engines.stored_vectors import parse_store
from karat.errors import InputError

K1, B, HEADER = 1.6, 0.75, 3
# Shares of the embeddings; see design/0004-order-of-code.md.
DENSE, DENSE_OF_LINES_OF_CODE = 0.6, 0.5
# For documents outside of the main folder of documentation, on scores spread over 0 to 1.
OUTSIDE = 0.9


def bm25(
    *,
    k1: float = K1,
    b: float = B,
    header: int = HEADER,
    store: str | Mapping[str, object] = "",
    chunker: str = "auto",
    unit: str = "lines",
    threshold: float = 0.0,
    code_ranking: bool = True,
    context: str = "",
    cache: bool = True,
) -> ChunkEngine:
    """Return BM25 over code-aware words.

    Words in the header of a chunk are weighted by *header*. *store* is a service that stores and
    searches the words, such as ``qdrant(url=http://localhost:6333)``.

    *code_ranking* False leaves the order to the scores alone; *cache* False stores nothing on disk.
    *context* is a chat model, such as ``openai/gpt-4o-mini``, that writes a sentence about each
    chunk to be indexed with it, with options after a question mark: ``?budget=2``.
    """
    recipe = _recipe(chunker, unit, threshold, code_ranking=code_ranking, context=context)
    stage: Stage
    if spec := parse_store(store, "bm25"):
        stage = StoredLexicalStage(spec, k1=k1, b=b, header=header)
    else:
        stage = LexicalStage(k1=k1, b=b, header=header)
    return ChunkEngine([stage], name="bm25", recipe=recipe, caches=user_caches(cache))


def dense(
    *,
    model: str | Mapping[str, object] = DEFAULT_EMBEDDER,
    windows: str = "prose",
    vectors: str = "float32",
    store: str | Mapping[str, object] = "",
    chunker: str = "auto",
    unit: str = "lines",
    threshold: float = 0.0,
    code_ranking: bool = True,
    context: str = "",
    cache: bool = True,
) -> ChunkEngine:
    """Return a search by the cosine of embeddings, exact unless the index is large.

    *windows* says what is embedded in parts that the model reads whole: ``prose``, ``all`` or
    ``none``. *vectors* says how the embeddings are held: ``float32`` in memory, ``mapped`` in a
    file, or in a file with codes in memory that find candidates, ``int8`` or ``binary``. A
    *threshold* is one of the scores themselves, which are alike for every query.
    *store* is a vector service that stores and searches the embeddings, such as
    ``qdrant(url=http://localhost:6333, shards=3, replicas=2)`` or ``pgvector(dsn=...)``.
    """
    recipe = replace(
        _recipe(chunker, unit, threshold, code_ranking=code_ranking, context=context), by_score=True
    )
    caches = user_caches(cache)
    stage = DenseStage(
        create_embedder(model_text(model)),
        windows=windows,
        vectors=vectors,
        caches=caches,
        store=parse_store(store, "dense"),
    )
    return ChunkEngine([stage], name="dense", recipe=recipe, caches=caches)


def hybrid(
    *,
    model: str | Mapping[str, object] = DEFAULT_EMBEDDER,
    windows: str = "prose",
    vectors: str = "float32",
    store: str | Mapping[str, object] = "",
    fusion: str | None = None,
    rrf_k: float | None = None,
    dense_weight: float | None = None,
    k1: float = K1,
    b: float = B,
    header: int = HEADER,
    chunker: str = "auto",
    unit: str = "lines",
    threshold: float = 0.0,
    code_ranking: bool = True,
    docs_ranking: bool = True,
    context: str = "",
    cache: bool = True,
) -> ChunkEngine:
    """Return BM25 and embeddings combined; *fusion* is ``min-max`` or ``rrf``.

    Without *fusion* it is ``rrf`` if there is an *rrf_k*, else ``min-max``. *dense_weight* is the
    share of the embeddings: without one 0.6, and 0.5 for code of which lines are judged.
    *docs_ranking* False ignores whether a document is in the main folder of documentation. The
    other settings are those of ``bm25`` and ``dense``; *store* is that of the embeddings.
    """
    fusion = fusion or (DEFAULT_FUSION if rrf_k is None else RRF)
    if rrf_k is not None and fusion != RRF:
        raise InputError(f"rrf_k has no effect with fusion={fusion}; remove one, or use fusion=rrf")
    recipe = _recipe(
        *(chunker, unit, threshold),
        code_ranking=code_ranking,
        context=context,
        fusion=fusion,
        k=RRF_K if rrf_k is None else rrf_k,
    )
    if code_ranking and docs_ranking and fusion == DEFAULT_FUSION:
        recipe = replace(recipe, rules=replace(recipe.rules, outside=OUTSIDE))
    weights = _weights(dense_weight, unit)
    caches = user_caches(cache)
    stages: list[Stage] = [
        LexicalStage(k1=k1, b=b, header=header),
        DenseStage(
            create_embedder(model_text(model)),
            windows=windows,
            vectors=vectors,
            caches=caches,
            store=parse_store(store, "hybrid"),
        ),
    ]
    return ChunkEngine(stages, name="hybrid", weights=weights, recipe=recipe, caches=caches)


def _weights(dense: float | None, unit: str) -> Weights:
    if dense is not None:
        return Weights.of_dense(code=dense, other=dense)
    return Weights.of_dense(code=DENSE_OF_LINES_OF_CODE if unit == "lines" else DENSE, other=DENSE)


def _recipe(
    chunker: str,
    unit: str,
    threshold: float,
    *,
    code_ranking: bool,
    context: str,
    fusion: str = DEFAULT_FUSION,
    k: float = RRF_K,
) -> IndexRecipe:
    return IndexRecipe(
        chunker=chunker,
        unit=unit,
        threshold=threshold,
        fusion=fusion,
        rrf_k=k,
        rules=RankingRules() if code_ranking else PLAIN,
        context=context,
    )


def sparse(
    *,
    model: str = "",
    k1: float | None = None,
    b: float | None = None,
    chunker: str = "auto",
    unit: str = "lines",
    threshold: float = 0.0,
    context: str = "",
    cache: bool = True,
) -> ChunkEngine:
    """Return plain sparse retrieval without code ranking: BM25, or the encoder *model*.

    *model* is an encoder in the manner of SPLADE, a hub id or a folder, also written
    ``splade:<hub id or folder>``; *k1* and *b* are BM25's.
    """
    recipe = IndexRecipe(
        chunker=chunker, unit=unit, threshold=threshold, rules=PLAIN, context=context
    )
    stages = [_stage(model, k1, b)]
    return ChunkEngine(stages, name="sparse", recipe=recipe, caches=user_caches(cache))


def _stage(model: str, k1: float | None, b: float | None) -> Stage:
    if not model:
        return LexicalStage(k1=1.2 if k1 is None else k1, b=0.75 if b is None else b, header=1)
    if k1 is not None or b is not None:
        raise InputError("sparse: k1 and b apply to BM25 only, not to a model")
    return SparseStage(create_sparse_encoder(model))
