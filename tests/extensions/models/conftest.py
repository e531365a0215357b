"""A tiny encoder with chance weights, and a transformer in plain numpy to check it against."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.extensions.models.encoder import Encoder, Layer, Linear, Norm, WordTable, quantise

Floats = NDArray[np.float64]

WIDTH, HEADS, VOCABULARY, LENGTH = 16, 2, 40, 32


def chance(*shape: int, seed: int, scale: float = 0.5) -> NDArray[np.float32]:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def norm(seed: int) -> Norm:
    return Norm(1 + chance(WIDTH, seed=seed, scale=0.1), chance(WIDTH, seed=seed + 1, scale=0.1))


def linear(outputs: int, inputs: int, seed: int, apart: tuple[int, ...] = ()) -> Linear:
    return quantise(chance(outputs, inputs, seed=seed), chance(outputs, seed=seed + 1), apart)


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


def as_bytes(state: Floats) -> Floats:
    """Return what is left of *state* after ONNX's DynamicQuantizeLinear: 256 levels with a zero."""
    low, high = min(0.0, state.min()), max(0.0, state.max())
    step = (high - low) / 255
    zero = np.rint(-low / step)
    return np.asarray((np.clip(np.rint(state / step) + zero, 0, 255) - zero) * step)


def apply(linear: Linear, state: Floats, bytes_only: bool) -> Floats:
    apart = list(linear.apart)
    rest = state.copy()
    rest[:, apart] = 0
    rest = as_bytes(rest) if bytes_only else rest
    product = rest @ (linear.codes * linear.scales) + linear.bias
    return np.asarray(product if linear.exact is None else product + state[:, apart] @ linear.exact)


def normalise(norm: Norm, state: Floats) -> Floats:
    centred = state - state.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True))
    return np.asarray(centred / deviation * norm.gain + norm.bias)


def gelu(state: Floats) -> Floats:
    return np.asarray(state * 0.5 * (1 + np.vectorize(math.erf)(state / math.sqrt(2))))


def attention(together: Floats, heads: int) -> Floats:
    length, width = together.shape[0], together.shape[1] // 3
    query, key, value = (
        part.reshape(length, heads, -1).transpose(1, 0, 2) for part in np.split(together, 3, axis=1)
    )
    weights = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(width / heads))
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights @ value).transpose(1, 0, 2).reshape(length, width)


def transformed(encoder: Encoder, ids: list[int], *, bytes_only: bool) -> Floats:
    """Return the token vectors by the definition of a transformer, in double precision."""
    state = encoder.words.rows()[ids].astype(np.float64) + encoder.positions[: len(ids)]
    state = normalise(encoder.norm, state)
    for layer in encoder.layers:
        attended = attention(apply(layer.attend_in, state, bytes_only), encoder.heads)
        state = normalise(layer.attend_norm, apply(layer.attend_out, attended, bytes_only) + state)
        wide = gelu(apply(layer.wide, state, bytes_only))
        state = normalise(layer.norm, apply(layer.narrow, wide, bytes_only) + state)
    return state


@pytest.fixture(scope="session")
def by_definition() -> Callable[..., Floats]:
    """Return the function from an encoder and token numbers to token vectors."""
    return transformed


@pytest.fixture(scope="session")
def libraries() -> None:
    """Import what the extra ``transformers`` brings, whose first import warns of much."""
    pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")
