"""Plain sparse retrieval: BM25, or the weighted terms of a trained encoder."""

from collections.abc import Hashable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.engines.caches import user_caches
from karat.engines.chunk_index import IndexRecipe
from karat.engines.chunk_table import ChunkLocation, Numbers
from karat.engines.chunked import ChunkEngine
from karat.engines.embedding import Kind
from karat.engines.embedding.texts import embeddable
from karat.engines.embedding.transformer import load_pretrained
from karat.engines.fusion import Scores
from karat.engines.ranking import PLAIN
from karat.engines.stages import LexicalStage, Stage
from karat.errors import InputError

__all__ = ["SparseEncoder", "SparseStage", "Terms", "sparse", "sparse_encoder"]

TEXTS_A_BATCH = 32


class Terms(NamedTuple):
    """Weights of terms by text: entry *n* says that *texts[n]* holds *terms[n]* so much.

    Texts count from 0; the entries are in their order, then in that of the terms.
    """

    texts: NDArray[np.int64]
    terms: NDArray[np.int64]
    weights: NDArray[np.float32]


class SparseEncoder:
    """A loaded SparseEncoder of sentence-transformers; queries are encoded its way for queries."""

    def __init__(self, model: Any, *, name: str) -> None:
        """Store *model*."""
        self.name = name
        self._model = model
        # A fast tokenizer cannot be used by two threads at once.
        self._lock = Lock()

    def terms(self, texts: Sequence[str], kind: Kind = "document") -> Terms:
        """Return the terms that each text weighs above 0; a text of blanks has none."""
        cleaned = [embeddable(text) for text in texts]
        filled = np.array([row for row, text in enumerate(cleaned) if text.strip()], np.int64)
        if not len(filled):
            return Terms(filled, filled, np.empty(0, np.float32))
        encode = self._model.encode_query if kind == "query" else self._model.encode_document
        with self._lock:
            matrix = encode(
                [cleaned[row] for row in filled],
                batch_size=TEXTS_A_BATCH,
                show_progress_bar=False,
                convert_to_sparse_tensor=True,
                save_to_cpu=True,
            ).coalesce()
        rows, terms = matrix.indices().numpy()
        weights = matrix.values().float().numpy()
        kept = weights > 0
        return Terms(filled[rows[kept]], terms[kept], weights[kept])


def sparse_encoder(argument: str) -> SparseEncoder:
    """Return the encoder *argument*, a hub id or a folder; code from the hub never runs."""
    return SparseEncoder(load_pretrained("SparseEncoder", argument, spec="sparse"), name=argument)


class TermIndex:
    """Which rows weigh a term how much; rows are only ever added.

    >>> index = TermIndex()
    >>> row, two, seven = np.array([0]), np.array([2]), np.array([7])
    >>> index.add(Terms(row, seven, np.array([0.5], np.float32)), rows=1)
    >>> index.add(Terms(row, two, np.array([3.0], np.float32)), rows=1)
    >>> index.scores(Terms(row, seven, np.array([2.0], np.float32))).tolist()
    [1.0, 0.0]
    """

    def __init__(self) -> None:
        """Start with no rows."""
        none = np.empty(0, np.int64)
        self._held = Terms(none, none, np.empty(0, np.float32))
        self._length = 0

    def add(self, new: Terms, *, rows: int) -> None:
        """Append *rows* rows with the terms of as many texts."""
        held = self._held
        texts = np.concatenate([held.texts, new.texts + self._length])
        terms = np.concatenate([held.terms, new.terms])
        weights = np.concatenate([held.weights, new.weights])
        # Stable: the rows of a term stay in their order.
        order = np.argsort(terms, kind="stable")
        self._held = Terms(texts[order], terms[order], weights[order])
        self._length += rows

    @property
    def nbytes(self) -> int:
        """Return the bytes of all terms and weights."""
        return sum(column.nbytes for column in self._held)

    def scores(self, asked: Terms) -> Scores:
        """Return the product of every row with the terms of one query."""
        scores: Scores = np.zeros(self._length, np.float32)
        starts = np.searchsorted(self._held.terms, asked.terms)
        ends = np.searchsorted(self._held.terms, asked.terms, side="right")
        for start, end, weight in zip(starts, ends, asked.weights, strict=True):
            # No row occurs twice among those of a term.
            scores[self._held.texts[start:end]] += weight * self._held.weights[start:end]
        return scores


class SparseStage:
    """The product of the query's weighted terms with those of each chunk and its header."""

    name = "sparse"
    by_words = False

    def __init__(self, encoder: SparseEncoder) -> None:
        """Store the *encoder*; nothing is encoded yet."""
        self.encoder = encoder
        self._index = TermIndex()
        self._rows: Numbers = np.empty(0, np.intp)

    @property
    def identity(self) -> Hashable:
        """Return the encoder."""
        return type(self), self.encoder.name

    def clear(self) -> None:
        """Start again with no rows."""
        self._index = TermIndex()

    def index(self, chunks: Sequence[ChunkLocation]) -> None:
        """Encode every chunk."""
        self.clear()
        self.grow(chunks)
        self.show(np.arange(len(chunks)))

    def grow(self, chunks: Sequence[ChunkLocation]) -> None:
        """Encode further chunks."""
        terms = self.encoder.terms([location.text for location in chunks])
        self._index.add(terms, rows=len(chunks))

    def show(self, rows: Numbers) -> None:
        """Score *rows*."""
        self._rows = rows

    def index_bytes(self) -> int:
        """Return the bytes of the weighted terms."""
        return self._index.nbytes

    def scores(self, query: str) -> Scores:
        """Return the score of every chunk; 0 where it shares no term with the query."""
        scores: Scores = self._index.scores(self.encoder.terms([query], "query"))[self._rows]
        return scores


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
    return SparseStage(sparse_encoder(model.removeprefix("splade:")))
