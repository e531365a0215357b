import json
from pathlib import Path

import numpy as np
import pytest

from karat.engines.embedding import create_embedder
from karat.errors import InputError
from karat.extensions.models.onnx import OnnxEmbedder
from karat.testing.engines import EmbedderSuite

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

WIDTH = 8


def masked_graph() -> bytes:
    """Return a model as exporters make them: a table of words, and a mask that it takes."""
    from onnx import TensorProto, helper, numpy_helper

    table = np.random.default_rng(5).standard_normal((10, WIDTH)).astype(np.float32)
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["b", "s"])
    mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["b", "s"])
    out = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["b", "s", WIDTH])
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Unsqueeze", ["attention_mask", "last"], ["wide"]),
        helper.make_node("Cast", ["wide"], ["on"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["rows", "on"], ["last_hidden_state"]),
    ]
    constants = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([2]), "last"),
    ]
    graph = helper.make_graph(nodes, "g", [ids, mask], [out], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    content: bytes = model.SerializeToString()
    return content


@pytest.fixture
def folder(tmp_path: Path, tiny_tokenizer: str) -> Path:
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(masked_graph())
    (tmp_path / "tokenizer.json").write_text(tiny_tokenizer, encoding="utf-8")
    return tmp_path


class TestFolder(EmbedderSuite):
    @pytest.fixture
    def embedder(self, folder: Path) -> OnnxEmbedder:
        embedder = create_embedder(f"onnx:{folder}", threads=2)
        assert isinstance(embedder, OnnxEmbedder)
        return embedder


def test_padding_is_not_pooled(folder: Path) -> None:
    embedder = create_embedder(f"onnx:{folder}")
    texts = [f"the cat {'mat ' * n}" for n in range(40)]
    together = embedder.embed(texts)
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.allclose(together, alone, atol=1e-6)


def test_the_files_beside_the_model_count(folder: Path) -> None:
    plain = create_embedder(f"onnx:{folder}")
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 8, "pooling_mode_cls_token": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling), encoding="utf-8")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 9}', encoding="utf-8")
    prompts = {"prompts": {"query": "read ", "document": ""}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts), encoding="utf-8")
    told = create_embedder(f"onnx:{folder}")
    assert (plain.max_tokens, told.max_tokens) == (512, 9)
    assert plain.digest != told.digest
    # The first token is always [CLS] here, so all texts look alike.
    one, other = told.embed(["cat", "mat"])
    assert np.array_equal(one, other)


def test_what_is_no_model(folder: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        create_embedder(f"onnx:{folder}/nowhere")
    with pytest.raises(InputError, match="no such folder"):
        create_embedder("onnx")
    (folder / "1_Pooling").mkdir()
    settings = folder / "1_Pooling" / "config.json"
    settings.write_text('{"pooling_mode_max_tokens": true}', encoding="utf-8")
    with pytest.raises(InputError, match="'pooling_mode_max_tokens' is unknown"):
        create_embedder(f"onnx:{folder}")
    settings.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"config\.json: not valid JSON"):
        create_embedder(f"onnx:{folder}")
    (folder / "onnx" / "model.onnx").unlink()
    with pytest.raises(InputError, match=r"has no model_quantized\.onnx or model\.onnx"):
        create_embedder(f"onnx:{folder}")
