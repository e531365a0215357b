import numpy as np
import pytest

from karat.errors import InputError
from karat.extensions.models.encoder import Encoder, encoder_graph
from karat.extensions.models.onnx import OnnxEmbedder, Pooling
from karat.testing.engines import EmbedderSuite

pytest.importorskip("onnxruntime")


def tiny(
    encoder: Encoder,
    tokenizer: str,
    *,
    pooling: Pooling = "mean",
    max_tokens: int = 16,
    threads: int = 2,
) -> OnnxEmbedder:
    return OnnxEmbedder(
        encoder_graph(encoder),
        tokenizer,
        name="tiny",
        identity="tiny weights",
        pooling=pooling,
        max_tokens=max_tokens,
        prefixes={"query": "read "},
        threads=threads,
    )


class TestTinyEncoder(EmbedderSuite):
    @pytest.fixture
    def embedder(self, tiny_encoder: Encoder, tiny_tokenizer: str) -> OnnxEmbedder:
        return tiny(tiny_encoder, tiny_tokenizer)


def test_pooling_of_token_vectors(tiny_encoder: Encoder, tiny_tokenizer: str) -> None:
    first = tiny(tiny_encoder, tiny_tokenizer, pooling="first")
    (tokens,) = first.token_vectors(["the cat sat"])
    assert len(tokens) == 4  # [CLS] and three words
    assert np.allclose(first.embed(["the cat sat"])[0], tokens[0], atol=1e-6)
    assert not np.allclose(tiny(tiny_encoder, tiny_tokenizer).embed(["the cat sat"])[0], tokens[0])


def test_a_prefix_is_part_of_a_query(tiny_encoder: Encoder, tiny_tokenizer: str) -> None:
    embedder = tiny(tiny_encoder, tiny_tokenizer)
    query = embedder.embed(["file"], kind="query")
    assert np.array_equal(query, embedder.embed(["read file"]))


def test_what_is_past_the_limit_is_not_looked_at(
    tiny_encoder: Encoder, tiny_tokenizer: str
) -> None:
    embedder = tiny(tiny_encoder, tiny_tokenizer, max_tokens=4)
    one, other, shorter = embedder.embed(["the cat sat on", "the cat sat mat", "the cat"])
    assert np.array_equal(one, other)
    assert not np.array_equal(one, shorter)


def test_threads_change_nothing(tiny_encoder: Encoder, tiny_tokenizer: str) -> None:
    texts = [f"the cat sat {'mat ' * n}" for n in range(12)]
    one, four = (tiny(tiny_encoder, tiny_tokenizer, threads=n).embed(texts) for n in (1, 4))
    assert np.array_equal(one, four)


def test_settings_are_part_of_the_digest(tiny_encoder: Encoder, tiny_tokenizer: str) -> None:
    digests = {
        tiny(tiny_encoder, tiny_tokenizer).digest,
        tiny(tiny_encoder, tiny_tokenizer, max_tokens=8).digest,
        tiny(tiny_encoder, tiny_tokenizer, pooling="first").digest,
    }
    assert len(digests) == 3


def test_damage_is_named(tiny_encoder: Encoder, tiny_tokenizer: str) -> None:
    with pytest.raises(InputError, match="tiny: cannot read the tokenizer"):
        tiny(tiny_encoder, "{}")
    with pytest.raises(InputError, match="x: not a readable ONNX model"):
        OnnxEmbedder(
            b"\0damaged", tiny_tokenizer, name="x", identity="", pooling="mean", max_tokens=8
        )
