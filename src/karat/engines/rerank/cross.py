"""A cross-encoder: a transformer that reads query and text together."""

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.engines.current import NOT_KEPT, Current
from karat.engines.embedding.texts import embeddable
from karat.engines.pretrained import pretrained
from karat.errors import InputError

__all__ = ["CrossEncoderReranker", "cross"]

PAIRS_A_BATCH = 32


class CrossEncoderReranker:
    """A loaded CrossEncoder of sentence-transformers, whose own activation is used.

    In a batch a score may depend in its last bits on the texts beside it, so that only whoever has
    found the very same texts for the query shares their scores.
    """

    # It has read the text, which the first search has not.
    weight = 1.0

    def __init__(self, model: Any, *, name: str) -> None:
        """Keep *model*, which must give one score a pair."""
        if model.num_labels != 1:
            raise InputError(f"{name}: the model has {model.num_labels} labels; expected one score")
        self.name = name
        self.current: Current = NOT_KEPT
        self._model = model
        # A fast tokenizer refuses to be used by two threads at once.
        self._lock = Lock()

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the model's score for each text."""
        key = self.name, tuple(texts)
        return self.current.once(query, key, lambda: self._predicted(query, texts))

    def _predicted(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        asked = embeddable(query)
        pairs = [(asked, embeddable(text)) for text in texts]
        with self._lock:
            found = self._model.predict(pairs, batch_size=PAIRS_A_BATCH, show_progress_bar=False)
        return np.asarray(found, np.float32)


def cross(argument: str) -> CrossEncoderReranker:
    """Return the cross-encoder *argument*, a hub id or a folder; code from the hub never runs."""
    name = f"cross:{argument}"
    return CrossEncoderReranker(pretrained("CrossEncoder", argument, spec="cross"), name=name)
