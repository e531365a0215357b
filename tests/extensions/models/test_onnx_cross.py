"""A cross-encoder as a graph: one that sums the numbers of the text's tokens."""

from pathlib import Path

import numpy as np
import pytest

from karat.corpus import from_texts
from karat.engines.builtin import bm25
from karat.engines.engine_group import build_group
from karat.engines.rerank import RerankEngine, Reranker, create_reranker
from karat.engines.spec import build, parse_spec
from karat.errors import InputError
from karat.extensions.models.rerankers import OnnxCross
from karat.testing import EngineSuite
from karat.testing.engines import RerankerSuite

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

CORPUS = from_texts({"a.txt": "login", "b.txt": "login message", "c.txt": "zebra password"})
WORDS = ["[UNK]", "[CLS]", "login", "password", "message", "zebra"]


def graph(labels: int = 1) -> bytes:
    """Return a graph that gives 100 for each word of the query, and a word's number in the text."""
    from onnx import TensorProto, helper, numpy_helper

    names = ("input_ids", "attention_mask", "token_type_ids")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "s"]) for name in names]
    out = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", labels])
    nodes = [
        helper.make_node("Equal", ["token_type_ids", "zero"], ["asked"]),
        helper.make_node("Where", ["asked", "hundred", "input_ids"], ["values"]),
        helper.make_node("Mul", ["values", "attention_mask"], ["real"]),
        helper.make_node("Cast", ["real"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["floats", "last"], ["sum"]),
        helper.make_node("Expand", ["sum", "shape"], ["logits"]),
    ]
    numbers = {"zero": 0, "hundred": 100, "last": [1], "shape": [1, labels]}
    constants = [numpy_helper.from_array(np.array(n), name) for name, n in numbers.items()]
    made = helper.make_graph(nodes, "g", inputs, [out], constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    content: bytes = model.SerializeToString()
    return content


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    import tokenizers

    numbers = {word: number for number, word in enumerate(WORDS)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token=WORDS[0]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A", pair="[CLS] $A $B:1", special_tokens=[("[CLS]", 1)]
    )
    (tmp_path / "model.onnx").write_bytes(graph())
    (tmp_path / "tokenizer.json").write_text(made.to_str(), encoding="utf-8")
    return tmp_path


class TestReranker(RerankerSuite):
    @pytest.fixture
    def reranker(self, folder: Path) -> Reranker:
        return create_reranker(f"onnx-cross:{folder}")

    def test_worked_by_hand(self, reranker: Reranker) -> None:
        scores = reranker.scores("login zebra", ["login", "password message", "", "nothing"])
        assert scores.tolist() == [302, 307, 300, 300]

    def test_too_long_a_pair_loses_the_end_of_the_text(
        self, folder: Path, reranker: Reranker
    ) -> None:
        (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 5}', encoding="utf-8")
        short = create_reranker(f"onnx-cross:{folder}")
        assert short.scores("login", ["zebra " * 9]).tolist() == [200 + 3 * 5]


class TestEngine(EngineSuite):
    @pytest.fixture
    def engine(self, folder: Path) -> RerankEngine:
        return RerankEngine(bm25(), create_reranker(f"onnx-cross:{folder}"))


def test_a_pair_is_read_once_for_all_who_ask(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = f"onnx-cross:{folder}"
    specs = [
        parse_spec({"engine": "rerank", "over": over, "model": model, "weight": weight})
        for over in ("bm25", "bm25(k1=0.5)")
        for weight in (0.3, 1.0)
    ]
    alone = [build(spec) for spec in specs]
    for engine in alone:
        engine.index(CORPUS)
    expected = [engine.search("login zebra", 5) for engine in alone]
    family = build_group(specs)
    family.show(CORPUS)
    read: list[object] = []
    run = OnnxCross._run

    def counted(self: OnnxCross, pair: object) -> object:
        read.append(pair)
        return run(self, pair)  # type: ignore[arg-type]

    monkeypatch.setattr(OnnxCross, "_run", counted)
    assert [engine.search("login zebra", 5) for engine in family.engines] == expected
    assert len(read) == len(CORPUS)
    family.forget()
    family.engines[0].search("login zebra", 5)
    assert len(read) == 2 * len(CORPUS)


def test_what_is_no_cross_encoder(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(graph(labels=3))
    with pytest.raises(InputError, match=r"shape \(1, 3\) for a pair; expected one score"):
        create_reranker(f"onnx-cross:{folder}")
    (folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(InputError, match="not a readable ONNX model"):
        create_reranker(f"onnx-cross:{folder}")
    (folder / "model.onnx").unlink()
    with pytest.raises(InputError, match=r"the folder has no model_quantized\.onnx"):
        create_reranker(f"onnx-cross:{folder}")
