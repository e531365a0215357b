"""Texts as a few weighted terms, by a trained encoder such as SPLADE."""

from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding import Kind
from karat.engines.embedding.texts import embeddable
from karat.engines.pretrained import pretrained

__all__ = ["SparseEncoder", "Terms", "sparse_encoder"]

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
        """Keep *model*."""
        self.name = name
        self._model = model
        # A fast tokenizer refuses to be used by two threads at once.
        self._lock = Lock()

    def terms(self, texts: Sequence[str], kind: Kind = "document") -> Terms:
        """Return the terms that each text weighs above 0; a text of blanks has none."""
        cleaned = [embeddable(text) for text in texts]
        filled = np.array([row for row, text in enumerate(cleaned) if text.strip()], np.int64)
        if not len(filled):
            return Terms(filled, filled, np.empty(0, np.float32))
        encode = self._model.encode_query if kind == "query" else self._model.encode_document
        with self._lock:
            found = encode(
                [cleaned[row] for row in filled],
                batch_size=TEXTS_A_BATCH,
                show_progress_bar=False,
                convert_to_sparse_tensor=True,
                save_to_cpu=True,
            ).coalesce()
        rows, terms = found.indices().numpy()
        weights = found.values().float().numpy()
        kept = weights > 0
        return Terms(filled[rows[kept]], terms[kept], weights[kept])


def sparse_encoder(argument: str) -> SparseEncoder:
    """Return the encoder *argument*, a hub id or a folder; code from the hub never runs."""
    return SparseEncoder(pretrained("SparseEncoder", argument, spec="sparse"), name=argument)
