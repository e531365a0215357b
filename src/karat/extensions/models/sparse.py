"""Sparse encoders of sentence-transformers."""

from collections.abc import Sequence
from functools import partial
from threading import Lock

import numpy as np

from karat.engines.embedding import Kind
from karat.engines.embedding.texts import embeddable
from karat.engines.sparse import Terms
from karat.extensions.models.device import Batches, put
from karat.extensions.models.transformer import (
    CheckedFactory,
    LoadedModel,
    check_pretrained,
    load_pretrained,
)


class TransformerSparseEncoder:
    """A loaded SparseEncoder of sentence-transformers; queries are encoded its way for queries."""

    def __init__(self, loaded: LoadedModel, *, name: str) -> None:
        """Store the model."""
        self._model, self.placement = loaded
        put(self._model, self.placement)
        self._batches = Batches(self.placement)
        self.name = name
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
            matrix = self._batches.run(
                lambda size: encode(
                    [cleaned[row] for row in filled],
                    batch_size=size,
                    show_progress_bar=False,
                    convert_to_sparse_tensor=True,
                    save_to_cpu=True,
                )
            ).coalesce()
        rows, terms = matrix.indices().numpy()
        weights = matrix.values().float().numpy()
        positive = weights > 0
        return Terms(filled[rows[positive]], terms[positive], weights[positive])


def sparse_encoder(argument: str) -> TransformerSparseEncoder:
    """Return the encoder *argument*, a hub id or a folder; code from the hub never runs."""
    return TransformerSparseEncoder(
        load_pretrained("SparseEncoder", argument, spec="sparse"), name=argument
    )


splade = CheckedFactory(sparse_encoder, partial(check_pretrained, spec="splade"))
