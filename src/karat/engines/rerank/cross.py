"""A cross-encoder: a transformer that reads query and text together."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding.onnx_encoder import longest, open_session, read_folder
from karat.engines.embedding.texts import ModelTokenizer, embeddable
from karat.engines.embedding.transformer import load_pretrained
from karat.engines.engine_group import NOT_KEPT, Current
from karat.engines.nearest import processors
from karat.errors import InputError

__all__ = ["CrossEncoderReranker", "OnnxCross", "cross", "onnx_cross"]

PAIRS_A_BATCH = 32


class CrossEncoderReranker:
    """A loaded CrossEncoder of sentence-transformers, whose own activation is used.

    In a batch a score may depend in its last bits on the texts beside it, so that scores are shared
    only between engines that found the same texts for the query.
    """

    # It has read the text, which the first search has not.
    weight = 1.0

    def __init__(self, model: Any, *, name: str) -> None:
        """Store *model*, which must give one score per pair."""
        if model.num_labels != 1:
            raise InputError(f"{name}: the model has {model.num_labels} labels; expected one score")
        self.name = name
        self.current: Current = NOT_KEPT
        self._model = model
        # A fast tokenizer cannot be used by two threads at once.
        self._lock = Lock()

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the model's score for each text."""
        key = self.name, tuple(texts)
        return self.current.once(query, key, lambda: self._predicted(query, texts))

    def _predicted(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        asked = embeddable(query)
        pairs = [(asked, embeddable(text)) for text in texts]
        with self._lock:
            scores = self._model.predict(pairs, batch_size=PAIRS_A_BATCH, show_progress_bar=False)
        return np.asarray(scores, np.float32)


def cross(argument: str) -> CrossEncoderReranker:
    """Return the cross-encoder *argument*, a hub id or a folder; code from the hub never runs."""
    name = f"cross:{argument}"
    return CrossEncoderReranker(load_pretrained("CrossEncoder", argument, spec="cross"), name=name)


# The numbers of a pair's tokens, and for each whether it is of the query or of the text.
Pair = tuple[list[int], list[int]]


class OnnxCross:
    """Runs a graph from a pair of texts to one score, several pairs beside each other.

    Each pair runs alone: in bytes, the steps of a batch would depend on all its texts. So its score
    serves every engine that finds the same text for the query.
    """

    # It has read the text, which the first search has not.
    weight = 1.0

    def __init__(self, graph: bytes, tokenizer: str, *, name: str, max_tokens: int) -> None:
        """Load *graph* and the JSON of *tokenizer*."""
        self.name = name
        self.current: Current = NOT_KEPT
        self._tokenizer = ModelTokenizer(tokenizer, max_tokens=max_tokens, where=name)
        self._session = open_session(graph, name)
        self._inputs = {given.name for given in self._session.get_inputs()}
        shape = self._run(([0, 0], [0, 0])).shape
        if np.prod(shape) != 1:
            raise InputError(
                f"{name}: the model returns scores of shape {shape} for a pair; expected one score"
            )

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the graph's score for each text."""
        known: dict[str, float] = self.current.once(query, self.name, dict)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        pairs = self._tokenizer.encode_pairs(embeddable(query), [embeddable(t) for t in new])
        with ThreadPoolExecutor(processors()) as threads:
            scores = [out.item() for out in threads.map(self._run, pairs)]
        known.update(zip(new, scores, strict=True))
        return np.array([known[text] for text in texts], np.float32)

    def _run(self, pair: Pair) -> NDArray[np.float32]:
        numbers, types = pair
        known = {
            "input_ids": numbers,
            "attention_mask": [1] * len(numbers),
            "token_type_ids": types,
        }
        feed = {name: np.array([known[name]], np.int64) for name in self._inputs}
        scores: NDArray[np.float32] = self._session.run(None, feed)[0]
        return scores


def onnx_cross(argument: str) -> OnnxCross:
    """Return the cross-encoder in the folder *argument*, a graph with its tokenizer.json."""
    folder, graph, tokenizer = read_folder(argument, spec="onnx-cross")
    return OnnxCross(graph, tokenizer, name=f"onnx-cross:{argument}", max_tokens=longest(folder))
