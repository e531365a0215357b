"""A lexical index in files: postings and terms for all parameters of BM25, weights for one."""

from functools import partial

from karat.engines.column_files import Columns, part, prefixed
from karat.engines.index_files import IndexFiles
from karat.engines.lexical.index import (
    BM25,
    LexicalIndex,
    PartWeights,
    PostingWeights,
    View,
    is_small,
)
from karat.engines.lexical.postings import Postings, Vocabulary
from karat.engines.lexical.tokens import TokenRules
from karat.engines.word_numbers import WordNumbers, word_columns

__all__ = ["mapped_index", "shared_index"]

COLUMNS = ("lengths", "offsets", "documents", "counts")


def mapped_index(
    files: IndexFiles, name: str, *, rules: TokenRules, bm25: BM25
) -> LexicalIndex | None:
    """Return the index *name* that a process has written; None if there is none."""
    name = f"{name} {rules}"
    columns = files.read(name)
    return None if columns is None else _index(columns, files, name, rules, bm25)


def shared_index(files: IndexFiles, name: str, index: LexicalIndex) -> LexicalIndex:
    """Write *index* as *name* and return it mapped; *index* itself if it cannot be written."""
    name = f"{name} {index.rules}"
    columns = files.share(name, partial(_columns, index))
    return index if columns is None else _index(columns, files, name, index.rules, index.bm25)


def _columns(index: LexicalIndex) -> Columns:
    postings = index.compact()
    return {
        **{name: getattr(postings, name) for name in COLUMNS},
        **prefixed("terms", word_columns(index.terms)),
    }


def _index(
    columns: Columns, files: IndexFiles, name: str, rules: TokenRules, bm25: BM25
) -> LexicalIndex:
    postings = Postings(0, *(columns[column] for column in COLUMNS))  # type: ignore[arg-type]
    vocabulary = Vocabulary(rules, WordNumbers(part(columns, "terms")))
    ready = _weights(postings, files, f"{name} {bm25}", bm25) if is_small([postings]) else None
    return LexicalIndex.of(vocabulary, postings, bm25=bm25, ready=ready)


def _weights(postings: Postings, files: IndexFiles, name: str, bm25: BM25) -> PostingWeights | None:
    """Return the weights of all postings, mapped; None if they cannot be written."""

    def make() -> Columns:
        computed = View([postings], bm25=bm25).ready
        only = computed.parts[0] if computed else None
        return {} if only is None else {"documents": only.documents, "weights": only.weights}

    columns = files.share(name, make)
    if not columns:
        return None
    weighted = PartWeights(postings, columns["documents"], columns["weights"])  # type: ignore[arg-type]
    return PostingWeights([weighted])
