"""Cross-encoders of sentence-transformers, on a model that the test itself makes and saves."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from karat.engines.builtin import bm25
from karat.engines.engine_group import Current
from karat.engines.rerank import RerankEngine, Reranker, create_reranker
from karat.errors import InputError, MissingExtra
from karat.extensions.models.device import FULL, Placement
from karat.extensions.models.rerankers import CrossEncoderReranker
from karat.extensions.models.transformer import LoadedModel
from karat.testing import EngineSuite
from karat.testing.engines import RerankerSuite


def save_model(folder: Path, *, labels: int) -> None:
    """Save a small BERT with chance weights that reads pairs."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "login", "password", "message", "zebra"]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        # With the usual 0.02 all scores of so small a model are alike.
        initializer_range=1.0,
        num_labels=labels,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)


@pytest.fixture(scope="module")
def folder(libraries: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cross") / "tiny"
    save_model(folder, labels=1)
    return folder


@pytest.fixture(scope="module")
def loaded(folder: Path) -> Reranker:
    return create_reranker(f"cross:{folder}")


@pytest.mark.filterwarnings("ignore")
class TestReranker(RerankerSuite):
    @pytest.fixture
    def reranker(self, loaded: Reranker) -> Reranker:
        return loaded

    def test_agrees_with_the_bare_model(self, reranker: Reranker, folder: Path) -> None:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
        tokenizer = AutoTokenizer.from_pretrained(folder)
        texts = ["login zebra", "message", "password " * 99]
        expected = []
        with torch.no_grad():
            for text in texts:
                pair = tokenizer("login", text, truncation=True, return_tensors="pt")
                expected.append(torch.sigmoid(model(**pair).logits).item())
        assert len(set(expected)) == 3
        assert reranker.scores("login", texts).tolist() == pytest.approx(expected, abs=1e-5)


@pytest.mark.filterwarnings("ignore")
class TestEngine(EngineSuite):
    chains = 5

    @pytest.fixture
    def engine(self, loaded: Reranker) -> RerankEngine:
        return RerankEngine(bm25(), loaded)


@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_used(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InputError, match="nowhere: cannot load the model"):
        create_reranker(f"cross:{tmp_path}/nowhere")
    save_model(tmp_path / "three", labels=3)
    with pytest.raises(InputError, match="the model has 3 labels; expected one score"):
        create_reranker(f"cross:{tmp_path}/three")
    damaged = tmp_path / "damaged"
    shutil.copytree(folder, damaged)
    weights = damaged / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(InputError, match="damaged: cannot load the model"):
        create_reranker(f"cross:{damaged}")


@pytest.mark.filterwarnings("ignore")
def test_its_order_is_the_order(loaded: Reranker) -> None:
    from karat.corpus import from_texts

    texts = {"a.txt": "login zebra", "b.txt": "login message", "c.txt": "login password"}
    engine = RerankEngine(bm25(), loaded)
    engine.index(from_texts(texts))
    scores = loaded.scores("login", [f"{path}\n{text}" for path, text in texts.items()])
    best_first = [list(texts)[index] for index in np.argsort(-scores)]
    assert [hit.path for hit in engine.search("login", 3)] == best_first


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[transformers\]'"):
        create_reranker("cross:some/model")


class LengthModel:
    """A model that scores texts by their length, and notes what it has read."""

    num_labels = 1

    def __init__(self) -> None:
        self.read: list[list[tuple[str, str]]] = []

    def predict(self, pairs: list[tuple[str, str]], **_: object) -> object:
        torch = pytest.importorskip("torch")
        self.read.append(pairs)
        return torch.tensor([float(len(text)) for _, text in pairs])


def test_the_same_texts_are_read_once_for_all_who_ask() -> None:
    model = LengthModel()
    reranker = CrossEncoderReranker(LoadedModel(model, Placement("cpu", FULL)), name="lengths")
    reranker.current = Current()
    for texts in (["a", "bb"], ["a", "bb"], ["bb", "a"]):
        assert reranker.scores("login", texts).tolist() == [len(text) for text in texts]
    # Another order is another batch, whose scores may differ in the last bit.
    assert len(model.read) == 2
    reranker.scores("logout", ["a", "bb"])
    assert len(model.read) == 3
