"""Embeddings by looking up words: a mean of token vectors, thousands of texts per second."""

import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding.base import Embedder, Kind
from karat.engines.embedding.texts import Vectors, embed_distinct, unit
from karat.errors import InputError, MissingExtra
from karat.extensions.models.encoder import PackagedFile
from karat.extensions.models.tokenizer import ModelTokenizer

TABLE = PackagedFile(
    "wordllama==0.4.0.post1",
    "wordllama",
    "weights/l2_supercat_256.safetensors",
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
)
TOKENIZER = PackagedFile(
    "wordllama==0.4.0.post1",
    "wordllama",
    "tokenizers/l2_supercat_tokenizer_config.json",
    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
)

# Special tokens and single bytes come first in this vocabulary; words follow, frequent ones first.
FIRST_WORD = 259

# Raise it when the same table gives other vectors.
VERSION = 1

TEXTS_AT_ONCE = 512

LETTER_OR_DIGIT = re.compile(r"[^\W_]")
HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")


class StaticEmbedder(Embedder):
    """The weighted mean of the token vectors of a text, projected where there is a projection.

    *table* has one row per token, *weights* one number per token. All of a text counts.
    """

    def __init__(
        self,
        table: NDArray[np.floating],
        tokenizer: ModelTokenizer,
        *,
        weights: NDArray[np.floating],
        projection: NDArray[np.floating] | None = None,
        name: str,
        identity: str,
    ) -> None:
        """Store the table; *identity* is the hash of what it was made of."""
        if len(weights) != len(table):
            raise InputError(f"{name}: {len(table)} token vectors, but {len(weights)} weights")
        if projection is not None and projection.shape[0] != table.shape[1]:
            raise InputError(
                f"{name}: the projection takes {projection.shape[0]} dimensions; "
                f"the table has {table.shape[1]}"
            )
        self._table = np.asarray(table * weights[:, None], np.float32)
        self._projection = projection
        self._tokenizer = tokenizer
        self.name = name
        self._dimension = int((table if projection is None else projection).shape[1])
        self.digest = sha256(repr((VERSION, identity)).encode()).hexdigest()

    @property
    def dimension(self) -> int:
        """Return the length of a row."""
        return self._dimension

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:  # noqa: ARG002
        """Return one row of length 1 per text; zeros where no token of it weighs anything."""
        return embed_distinct(texts, self._dimension, self._means)

    def _means(self, texts: list[str]) -> Vectors:
        sums = np.zeros((len(texts), self._table.shape[1]), np.float32)
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            some = [words_apart(text) for text in texts[start : start + TEXTS_AT_ONCE]]
            for row, numbers in enumerate(self._tokenizer.encode(some), start=start):
                if numbers:
                    counted, times = np.unique(numbers, return_counts=True)
                    sums[row] = times.astype(np.float32) @ self._table[counted]
        # Only directions are kept, so a sum is as good as a mean.
        return unit(sums if self._projection is None else sums @ self._projection)


def words_apart(text: str) -> str:
    """Return *text* in lower case with the words of identifiers apart.

    >>> words_apart("parseHTTPRequest(max_size)")
    'parse http request(max size)'
    """
    return HUMPS.sub(" ", text).lower()


def frequency_weights(tokens: Sequence[str]) -> NDArray[np.float32]:
    """Return how much each token of a vocabulary sorted by frequency counts.

    Rare tokens say more than frequent ones: the weight is the squared logarithm of the rank, 1 for
    the last token. Tokens without a letter or digit count nothing.
    """
    ranks = np.maximum(np.arange(len(tokens)) - FIRST_WORD + 1, 1)
    weights = (np.log1p(ranks) / np.log1p(len(tokens))) ** 2
    for number, token in enumerate(tokens):
        if number < FIRST_WORD or not LETTER_OR_DIGIT.search(token):
            weights[number] = 0
    return np.asarray(weights, np.float32)


def static(argument: str = "") -> StaticEmbedder:
    """Return the table of word vectors that the extra ``dense`` brings; there is no other yet."""
    if argument:
        raise InputError(f"static:{argument}: expected static without an argument")
    try:
        import safetensors.numpy  # noqa: F401 - only whether it is installed
    except ImportError:
        raise MissingExtra("safetensors", extra="dense", purpose="dense or hybrid search") from None
    return _packaged(TABLE, TOKENIZER)


@cache
def _packaged(weights: PackagedFile, description: PackagedFile) -> StaticEmbedder:
    """Load the model once per process: it takes 0.1 s, and all engines can share it."""
    from safetensors.numpy import load

    (table,) = load(weights.read()).values()
    tokenizer = ModelTokenizer(
        description.read().decode(), max_tokens=None, special=False, where=description.path
    )
    names = tokenizer.tokens()[: len(table)]
    names += [""] * (len(table) - len(names))
    return StaticEmbedder(
        table.astype(np.float32),
        tokenizer,
        weights=frequency_weights(names),
        name="static",
        identity=weights.sha256,
    )
