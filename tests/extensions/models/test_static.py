import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.extensions.models.static import StaticEmbedder, frequency_weights, words_apart
from karat.extensions.models.tokenizer import ModelTokenizer

pytest.importorskip("tokenizers")

TABLE = np.eye(10, 4, dtype=np.float32)
TABLE[7] = [0, 3, 4, 0]  # read


def made(tokenizer: str, projection: np.ndarray | None = None) -> StaticEmbedder:
    weights = np.ones(10, np.float32)
    weights[0] = 0  # [UNK]
    return StaticEmbedder(
        TABLE,
        ModelTokenizer(tokenizer, max_tokens=None, special=False, where="tiny"),
        weights=weights,
        projection=projection,
        name="tiny",
        identity="tiny",
    )


def test_by_hand(tiny_tokenizer: str) -> None:
    # the = [0, 0, 1, 0], cat = [0, 0, 0, 1], read = [0, 3, 4, 0].
    rows = made(tiny_tokenizer).embed(["the cat", "read", "the the cat", "nowhere"])
    half, third = 1 / np.sqrt(2), 1 / np.sqrt(5)
    expected = [[0, 0, half, half], [0, 0.6, 0.8, 0], [0, 0, 2 * third, third], [0, 0, 0, 0]]
    assert np.allclose(rows, expected)


def test_a_projection_changes_the_dimension(tiny_tokenizer: str) -> None:
    embedder = made(tiny_tokenizer, np.array([[1, 0], [1, 0], [0, 1], [0, 1]], np.float32))
    assert embedder.dimension == 2
    assert np.allclose(embedder.embed(["read"]), [[0.6, 0.8]])
    with pytest.raises(InputError, match="projection takes 3 dimensions; the table has 4"):
        made(tiny_tokenizer, np.zeros((3, 2), np.float32))


def test_rare_tokens_count_more() -> None:
    names = ["<special>"] * 259 + ["▁the", "▁(", "▁cat", "é", "猫", "__"]
    weights = frequency_weights(names)
    assert not weights[:259].any()
    assert weights[260] == weights[264] == 0
    assert 0 < weights[259] < weights[261] < weights[262] < weights[263] <= 1


@given(st.text())
def test_words_apart_loses_no_letter(text: str) -> None:
    letters = [c for c in words_apart(text) if c.isalpha()]
    assert letters == [c for c in text.lower() if c.isalpha()]
