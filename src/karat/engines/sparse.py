"""Sparse encoders, which weigh the terms of a text, and the search of their terms."""

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from karat.engines.chunk_table import ChunkLocation, Numbers
from karat.engines.embedding import Kind
from karat.engines.fusion import Scores
from karat.engines.stages import RowStage
from karat.registry import Registry, call_if_there


class Terms(NamedTuple):
    """Weights of terms by text: entry *n* says that *texts[n]* holds *terms[n]* so much.

    Texts count from 0; the entries are in their order, then in that of the terms.
    """

    texts: NDArray[np.int64]
    terms: NDArray[np.int64]
    weights: NDArray[np.float32]


class SparseEncoder(Protocol):
    """Weighs terms of texts, such as a model in the manner of SPLADE."""

    name: str

    def terms(self, texts: Sequence[str], kind: Kind = "document") -> Terms:
        """Return the terms that each text weighs above 0; a text of blanks has none."""
        ...


DEFAULT_SPARSE_ENCODER = "splade"

SPARSE_ENCODERS: Registry[Callable[[str], SparseEncoder]] = Registry("sparse_encoder", {})


def create_sparse_encoder(spec: str) -> SparseEncoder:
    """Return the encoder *spec*, ``<name>:<argument>`` or the argument of ``splade`` alone."""
    factory, argument = _split(spec)
    return factory(argument)


def check_sparse_encoder(spec: str) -> None:
    """Raise InputError for a *spec* that cannot be an encoder, before a model is loaded."""
    factory, argument = _split(spec)
    call_if_there(factory, "check", argument)


def _split(spec: str) -> tuple[Callable[[str], SparseEncoder], str]:
    name, _, argument = spec.partition(":")
    if argument and SPARSE_ENCODERS.has(name):
        return SPARSE_ENCODERS.get(name), argument
    return SPARSE_ENCODERS.get(DEFAULT_SPARSE_ENCODER), spec


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


class SparseStage(RowStage):
    """The product of the query's weighted terms with those of each chunk and its header."""

    name = "sparse"
    by_words = False

    def __init__(self, encoder: SparseEncoder) -> None:
        """Store the *encoder*; nothing is encoded yet."""
        self.encoder = encoder
        self._index = TermIndex()
        self._shown_rows: Numbers = np.empty(0, np.intp)

    @property
    def identity(self) -> Hashable:
        """Return the encoder."""
        return type(self), self.encoder.name

    def clear(self) -> None:
        """Start again with no rows."""
        self._index = TermIndex()

    def grow(self, chunks: Sequence[ChunkLocation]) -> None:
        """Encode further chunks."""
        terms = self.encoder.terms([location.text for location in chunks])
        self._index.add(terms, rows=len(chunks))

    def show(self, rows: Numbers) -> None:
        """Score *rows*."""
        self._shown_rows = rows

    def index_bytes(self) -> int:
        """Return the bytes of the weighted terms."""
        return self._index.nbytes

    def scores(self, query: str) -> Scores:
        """Return the score of every chunk; 0 where it shares no term with the query."""
        scores: Scores = self._index.scores(self.encoder.terms([query], "query"))[self._shown_rows]
        return scores
