"""An embedder and a reranker for tests, which need no model: texts are alike that share words."""

import re
from collections.abc import Sequence
from hashlib import sha256
from zlib import crc32

import numpy as np

from karat.engines.embedding import Kind
from karat.engines.embedding.texts import Vectors, embed_distinct, unit

# The embedder and the reranker as options of an engine.
WORDS = "tests.words:words"
RERANKER = "tests.words:reranker"
DIMENSION = 1024


class WordEmbedder:
    """Adds up the words of a text, whatever their case; each has a direction by its hash."""

    name = "words"
    dimension = DIMENSION
    max_tokens = None
    digest = sha256(b"words").hexdigest()

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        return embed_distinct(texts, DIMENSION, rows)


def rows(texts: list[str]) -> Vectors:
    return unit(np.stack([row(text) for text in texts]))


def row(text: str) -> Vectors:
    words_in = re.findall(r"[^\W_]+", text.lower()) or [text]
    hashes = np.array([crc32(word.encode()) for word in words_in])
    # Words differ in weight, so that few texts are equally near.
    weights = 1 + (hashes >> 16) / 2**16
    return np.bincount(hashes % DIMENSION, weights, minlength=DIMENSION).astype(np.float32)


def words(argument: str = "") -> WordEmbedder:
    return WordEmbedder()


class WordReranker:
    """Scores a text by its likeness to the query."""

    name = "words"
    weight = 1.0

    def scores(self, query: str, texts: Sequence[str]) -> Vectors:
        likeness: Vectors = rows(list(texts)) @ rows([query])[0]
        return likeness


def reranker(argument: str = "") -> WordReranker:
    return WordReranker()
