"""Rerankers on this machine: late interaction and cross-encoders."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import partial
from inspect import signature
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding import (
    DEFAULT_EMBEDDER,
    EMBEDDERS,
    create_embedder,
)
from karat.engines.embedding.texts import embeddable
from karat.engines.engine_group import Current, Recent
from karat.engines.nearest import processors
from karat.engines.rerank.base import Reranker
from karat.errors import InputError
from karat.extensions.models.device import Batches, put, to_numpy
from karat.extensions.models.late import (
    TokenEncoder,
    TokenVectors,
    as_bytes,
    colbert_encoder,
    mean_max_similarity,
)
from karat.extensions.models.onnx import longest, open_session, read_folder
from karat.extensions.models.tokenizer import ModelTokenizer
from karat.extensions.models.transformer import (
    CheckedFactory,
    LoadedModel,
    check_pretrained,
    load_pretrained,
)

# About 2,700 texts of 256 tokens in 384 dimensions.
MOST_BYTES = 256 * 1024**2
# Vectors of an ordinary encoder, on octocode's questions after ``hybrid``: MRR 0.752 at 0.3, 0.724
# at 0.7, 0.674 at 1.
ORDINARY_WEIGHT = 0.3
COLBERT = "colbert:"
# A model that was trained for late interaction; other shares were not measured.
TRAINED_WEIGHT = 1.0


class MaxSim(Reranker):
    """The mean over the query's tokens of the largest cosine to a token of the text.

    Token vectors are cached by content as bytes, *most_bytes* of them.
    """

    def __init__(
        self,
        embedder: TokenEncoder,
        *,
        name: str,
        weight: float = ORDINARY_WEIGHT,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """Store the *embedder*; nothing is embedded yet."""
        self.name = name
        self.weight = weight
        self.current = Current(keeps=False)
        self._embedder = embedder
        self._recent = Recent(self._tokens, most=most_bytes, size=lambda held: held.codes.nbytes)

    def apart(self) -> "MaxSim":
        """Return a reranker that shares the model, but reuses only what it has embedded itself."""
        other = copy(self)
        other._recent = self._recent.apart()  # noqa: SLF001 - a copy of this one
        return other

    def expect(self, queries: Sequence[str]) -> None:
        """Embed *queries* in one call."""
        make = partial(self._embedder.token_vectors, queries, "query")
        self.current.expect(queries, self.name, make)

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a score from -1 to 1 for each text; one without a token scores 0."""
        asked = self.current.once(query, self.name, lambda: self._asked(query))
        return mean_max_similarity(self._recent.get(texts), asked)

    def _asked(self, query: str) -> NDArray[np.float32]:
        return self._embedder.token_vectors([query], "query")[0]

    def _tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [as_bytes(rows) for rows in self._embedder.token_vectors(texts, "document")]


def create_maxsim(argument: str) -> MaxSim:
    """Return late interaction by the embedder *argument*, the default one where it is empty.

    ``maxsim:colbert:<folder>`` is ``colbert:<folder>``.
    """
    if argument.startswith(COLBERT):
        return create_colbert(argument.removeprefix(COLBERT))
    check_embedder(argument)
    embedder = create_embedder(argument or DEFAULT_EMBEDDER)
    if not embedder.has_token_vectors:
        raise _without_tokens(argument)
    return MaxSim(embedder, name=f"maxsim:{embedder.name}")


def create_colbert(argument: str) -> MaxSim:
    """Return late interaction by the ColBERT-style model *argument*, a hub id or a folder."""
    encoder = colbert_encoder(argument)
    return MaxSim(encoder, name=encoder.name, weight=TRAINED_WEIGHT)


def check_embedder(argument: str) -> None:
    """Raise InputError for an unknown embedder, and for one without token vectors.

    Nothing is loaded: built-in embedders declare it in their signatures. A plug-in is checked after
    it is created.

    >>> check_embedder("static")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: maxsim:static: this embedder has no token vectors; expected ...
    """
    if argument.startswith(COLBERT):
        check_pretrained(argument.removeprefix(COLBERT), spec="colbert")
        return
    factory, _ = EMBEDDERS.split(argument or DEFAULT_EMBEDDER)
    ours = factory.__module__.startswith("karat.")
    if ours and not signature(factory).return_annotation.has_token_vectors:
        raise _without_tokens(argument)


maxsim = CheckedFactory(create_maxsim, check_embedder)
colbert = CheckedFactory(create_colbert, partial(check_pretrained, spec="colbert"))


def _without_tokens(argument: str) -> InputError:
    return InputError(
        f"maxsim:{argument}: this embedder has no token vectors; "
        "expected one such as granite, minilm, onnx:<folder>, st:<hub id or folder> or "
        "colbert:<hub id or folder>"
    )


class CrossEncoderReranker(Reranker):
    """A loaded CrossEncoder of sentence-transformers, whose own activation is used.

    In a batch a score may depend in its last bits on the texts beside it, so that scores are shared
    only between engines that found the same texts for the query.
    """

    # It has read the text, which the first search has not.
    weight = 1.0

    def __init__(self, loaded: LoadedModel, *, name: str) -> None:
        """Store the model, which must give one score per pair."""
        model, self.placement = loaded
        put(model, self.placement)
        self._batches = Batches(self.placement)
        if model.num_labels != 1:
            raise InputError(f"{name}: the model has {model.num_labels} labels; expected one score")
        self.name = name
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
            scores = self._batches.run(
                lambda size: self._model.predict(
                    pairs, batch_size=size, show_progress_bar=False, convert_to_tensor=True
                )
            )
        return np.asarray(to_numpy(scores), np.float32)


def cross(argument: str) -> CrossEncoderReranker:
    """Return the cross-encoder *argument*, a hub id or a folder; code from the hub never runs."""
    name = f"cross:{argument}"
    return CrossEncoderReranker(load_pretrained("CrossEncoder", argument, spec="cross"), name=name)


# The numbers of a pair's tokens, and for each whether it is of the query or of the text.
Pair = tuple[list[int], list[int]]


class OnnxCross(Reranker):
    """Runs a graph from a pair of texts to one score, several pairs beside each other.

    Each pair runs alone: in bytes, the steps of a batch would depend on all its texts. So its score
    serves every engine that finds the same text for the query.
    """

    # It has read the text, which the first search has not.
    weight = 1.0

    def __init__(self, graph: bytes, tokenizer: str, *, name: str, max_tokens: int) -> None:
        """Load *graph* and the JSON of *tokenizer*."""
        self.name = name
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
