"""sentence-transformers, on a model that the test itself makes and saves."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from karat.engines.embedding import Embedder, create_embedder
from karat.errors import InputError, MissingExtra
from karat.testing.engines import EmbedderSuite
from tests.docs.pages import page


@pytest.fixture(scope="module")
def model(libraries: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words += ["the", "cat", "sat", "on", "mat", "read", "file", "word", "def"]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder / "bert")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    # A folder without a word about pooling: the library takes the mean.
    made = SentenceTransformer(
        str(folder / "bert"), prompts={"query": "read ", "document": ""}, device="cpu"
    )
    made.max_seq_length = 32
    made.save(str(folder / "st"))
    return folder / "st"


class TestTransformer(EmbedderSuite):
    @pytest.fixture
    def embedder(self, model: Path) -> Embedder:
        return create_embedder(f"st:{model}?device=cpu")

    def test_the_model_decides(self, embedder: Embedder, model: Path) -> None:
        assert (embedder.dimension, embedder.max_tokens) == (16, 32)
        assert embedder.digest == create_embedder(f"st:{model}?device=cpu").digest

    def test_a_prompt_is_part_of_a_query(self, embedder: Embedder) -> None:
        query = embedder.embed(["file"], kind="query")
        assert np.allclose(query, embedder.embed(["read file"]), atol=1e-6)
        assert not np.allclose(query, embedder.embed(["file"]), atol=1e-3)


def test_half_precision_has_vectors_of_its_own(model: Path) -> None:
    full = create_embedder(f"st:{model}?device=cpu")
    half = create_embedder(f"st:{model}?device=cpu&precision=bfloat16")
    assert full.digest != half.digest
    texts = ["read file", "cat sat on mat"]
    assert (full.embed(texts) * half.embed(texts)).sum(axis=1) == pytest.approx(1, abs=0.01)
    assert not np.array_equal(full.embed(texts), half.embed(texts))


@pytest.mark.usefixtures("libraries")
def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot load the model"):
        create_embedder(f"st:{tmp_path}/nowhere")


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[transformers\]'"):
        create_embedder("st:some/model")


def test_no_model_is_named() -> None:
    with pytest.raises(InputError, match="expected st:<hub id or folder>"):
        create_embedder("st")


def test_the_script_of_the_docs_trains_a_model(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here, because this file has the library loaded and a model of a few kilobytes."""
    import re

    from sentence_transformers import SentenceTransformer

    guide = page("training")
    script = re.search(
        r"^```python\n(import json\n.*?)^```$", guide.read_text(), re.DOTALL | re.MULTILINE
    )
    assert script
    text = script[1].replace("sentence-transformers/all-MiniLM-L6-v2", str(model))
    rows = [
        {"anchor": "read file", "positive": "def read the file", "negative": "the cat sat"},
        {"anchor": "cat on mat", "positive": "cat sat on the mat", "negative": "def word"},
    ]
    (tmp_path / "training").mkdir()
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "training" / "train.jsonl").write_text(lines)
    monkeypatch.chdir(tmp_path)
    exec(compile(text, str(page), "exec"), {})  # noqa: S102 - a script of our own docs
    before = SentenceTransformer(str(model), device="cpu").encode("read file")
    after = SentenceTransformer(str(tmp_path / "trained"), device="cpu").encode("read file")
    assert not np.allclose(before, after, atol=1e-5)


def test_a_model_that_is_nowhere_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")

    def unreachable(*_: object, **__: object) -> None:
        raise RuntimeError("no route to host")

    monkeypatch.setattr(hub.HfApi, "model_info", unreachable)
    expected = "st:models/mine: no folder models/mine here, and the model hub cannot be reached"
    with pytest.raises(InputError, match=expected):
        create_embedder("st:models/mine")
