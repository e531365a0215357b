"""The graph computes what a transformer is defined to compute."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.engines.embedding.encoder import Encoder, Linear, Norm
from karat.engines.embedding.graph import encoder_graph

Floats = NDArray[np.float64]


def as_bytes(state: Floats) -> Floats:
    """Return what is left of *state* after ONNX's DynamicQuantizeLinear: 256 levels with a zero."""
    low, high = min(0.0, state.min()), max(0.0, state.max())
    step = (high - low) / 255
    zero = np.rint(-low / step)
    return np.asarray((np.clip(np.rint(state / step) + zero, 0, 255) - zero) * step)


def apply(linear: Linear, state: Floats) -> Floats:
    apart = list(linear.apart)
    rest = state.copy()
    rest[:, apart] = 0
    product = as_bytes(rest) @ (linear.codes * linear.scales) + linear.bias
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


def by_definition(encoder: Encoder, ids: list[int]) -> Floats:
    state = encoder.words.rows()[ids].astype(np.float64) + encoder.positions[: len(ids)]
    state = normalise(encoder.norm, state)
    for layer in encoder.layers:
        attended = attention(apply(layer.attend_in, state), encoder.heads)
        state = normalise(layer.attend_norm, apply(layer.attend_out, attended) + state)
        wide = gelu(apply(layer.wide, state))
        state = normalise(layer.norm, apply(layer.narrow, wide) + state)
    return state


@pytest.mark.parametrize("length", [1, 2, 17, 32])
def test_agrees_with_the_definition(tiny_encoder: Encoder, length: int) -> None:
    runtime = pytest.importorskip("onnxruntime")
    ids = np.random.default_rng(length).integers(0, 40, length).tolist()
    session = runtime.InferenceSession(
        encoder_graph(tiny_encoder), providers=["CPUExecutionProvider"]
    )
    (found,) = session.run(["tokens"], {"input_ids": np.array([ids], np.int64)})
    expected = by_definition(tiny_encoder, ids)
    cosine = (found[0] * expected).sum(1) / np.linalg.norm(found[0], axis=1)
    cosine /= np.linalg.norm(expected, axis=1)
    # Single precision now and then rounds to the next of the 256 levels.
    assert cosine.min() > 0.9995
    assert cosine.mean() > 0.9999
