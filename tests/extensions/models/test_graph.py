"""The graph computes what a transformer is defined to compute."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.extensions.models.encoder import Encoder, encoder_graph

Floats = NDArray[np.float64]


@pytest.mark.parametrize("length", [1, 2, 17, 32])
def test_agrees_with_the_definition(
    tiny_encoder: Encoder, by_definition: Callable[..., Floats], length: int
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    ids = np.random.default_rng(length).integers(0, 40, length).tolist()
    session = runtime.InferenceSession(
        encoder_graph(tiny_encoder), providers=["CPUExecutionProvider"]
    )
    (tokens,) = session.run(["tokens"], {"input_ids": np.array([ids], np.int64)})
    expected = by_definition(tiny_encoder, ids, bytes_only=True)
    cosine = (tokens[0] * expected).sum(1) / np.linalg.norm(tokens[0], axis=1)
    cosine /= np.linalg.norm(expected, axis=1)
    # Single precision now and then rounds to the next of the 256 levels.
    assert cosine.min() > 0.9995
    assert cosine.mean() > 0.9999
