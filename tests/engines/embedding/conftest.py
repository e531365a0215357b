"""A tiny encoder with chance weights, small enough to check against plain numpy."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.engines.embedding.encoder import Encoder, Layer, Linear, Norm, WordTable, quantised

WIDTH, HEADS, VOCABULARY, LENGTH = 16, 2, 40, 32


def chance(*shape: int, seed: int, scale: float = 0.5) -> NDArray[np.float32]:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def norm(seed: int) -> Norm:
    return Norm(1 + chance(WIDTH, seed=seed, scale=0.1), chance(WIDTH, seed=seed + 1, scale=0.1))


def linear(outputs: int, inputs: int, seed: int, apart: tuple[int, ...] = ()) -> Linear:
    return quantised(chance(outputs, inputs, seed=seed), chance(outputs, seed=seed + 1), apart)


@pytest.fixture(scope="session")
def tiny_encoder() -> Encoder:
    words = np.random.default_rng(1).integers(-127, 128, (VOCABULARY, 2, WIDTH // 2), np.int8)
    layers = tuple(
        Layer(
            linear(3 * WIDTH, WIDTH, seed),
            linear(WIDTH, WIDTH, seed + 2),
            norm(seed + 4),
            linear(4 * WIDTH, WIDTH, seed + 6, apart=(3,)),
            linear(WIDTH, 4 * WIDTH, seed + 8, apart=(1, 60)),
            norm(seed + 10),
        )
        for seed in (100, 200)
    )
    scales = np.asarray(np.abs(chance(VOCABULARY, 2, seed=2)) / 100 + 0.001, np.float32)
    return Encoder(
        WordTable(words, scales), chance(LENGTH, WIDTH, seed=3), norm(4), layers, HEADS, 1e-12
    )


@pytest.fixture(scope="session")
def tiny_tokenizer() -> str:
    """Return the JSON of a tokenizer that knows a few words and begins a text with [CLS]."""
    tokenizers = pytest.importorskip("tokenizers")
    words = ["[UNK]", "[CLS]", "the", "cat", "sat", "on", "mat", "read", "file", "word"]
    numbers = {word: number for number, word in enumerate(words)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token=words[0]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", 1)]
    )
    text: str = made.to_str()
    return text


@pytest.fixture
def cache_file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite"
