"""ColBERT-style models that the test itself makes and saves, in the layouts that are known."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from karat.corpus import Corpus, from_texts
from karat.engines.base import Engine
from karat.engines.chunked import ChunkEngine
from karat.engines.rerank import RerankEngine, Reranker, check_reranker, create_reranker
from karat.engines.spec import build
from karat.errors import InputError, MissingExtra
from karat.extensions.models.late import (
    LateStage,
    as_bytes,
    colbert,
    colbert_encoder,
    mean_max_similarity,
)
from karat.testing import EngineSuite
from karat.testing.engines import RerankerSuite
from tests.extensions.models.test_sparse import save_model


def save_stanford(bert: Path, folder: Path) -> None:
    """Save the encoder in *bert* as Stanford's ColBERT does, the projection with it."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(bert)
    torch.manual_seed(1)
    weights = {f"bert.{name}": tensor.clone() for name, tensor in model.state_dict().items()}
    weights["linear.weight"] = torch.randn(16, model.config.hidden_size)
    folder.mkdir()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((bert / "config.json").read_text()) | {"architectures": ["HF_ColBERT"]}
    (folder / "config.json").write_text(json.dumps(config))
    AutoTokenizer.from_pretrained(bert).save_pretrained(folder)


def save_pylate(bert: Path, folder: Path) -> None:
    """Save the encoder in *bert* as PyLate does: a Dense module, and its settings beside it."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(bert)
    size = model.config.hidden_size
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(bert).save_pretrained(folder)
    torch.manual_seed(1)
    (folder / "1_Dense").mkdir()
    weights = {"linear.weight": torch.randn(16, size)}
    save_file(weights, folder / "1_Dense" / "model.safetensors", metadata={"format": "pt"})
    identity = "torch.nn.modules.linear.Identity"
    types = ("sentence_transformers.models.Transformer", "pylate.models.Dense.Dense")
    files = {
        "1_Dense/config.json": {
            "in_features": size,
            "out_features": 16,
            "bias": False,
            "activation_function": identity,
        },
        "modules.json": [
            {"idx": index, "name": str(index), "path": path, "type": kind}
            for index, (path, kind) in enumerate(zip(("", "1_Dense"), types, strict=True))
        ],
        "sentence_bert_config.json": {"max_seq_length": 64, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "model_type": "ColBERT",
            "query_prefix": "[Q] ",
            "document_prefix": "[D] ",
            "query_length": 32,
            "document_length": 64,
            "attend_to_expansion_tokens": False,
            "skiplist_words": ["."],
            "similarity_fn_name": "MaxSim",
        },
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))


@pytest.fixture(scope="module")
def models(libraries: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from sentence_transformers import MultiVectorEncoder

    folder = tmp_path_factory.mktemp("late")
    save_model(folder)
    torch.manual_seed(1)
    MultiVectorEncoder(str(folder / "bert"), device="cpu").save(str(folder / "colbert"))
    save_stanford(folder / "bert", folder / "stanford")
    save_pylate(folder / "bert", folder / "pylate")
    return folder


@pytest.fixture(scope="module")
def model(models: Path) -> str:
    return str(models / "colbert")


@pytest.mark.filterwarnings("ignore")
class TestEngine(EngineSuite):
    chains = 3

    @pytest.fixture
    def engine(self, model: str) -> ChunkEngine:
        return colbert(model=model)

    def test_index_replaces(self, engine: Engine, corpus: Corpus) -> None:
        """Any two texts are a little alike, so that every query finds the only document."""
        engine.index(corpus)
        other = from_texts({"zoo.txt": "zebra crossing\n"}, name="other")
        engine.index(other)
        for query in ("zebra", "password"):
            assert [hit.path for hit in self.search(engine, other, query, 5)] == ["zoo.txt"]


@pytest.mark.filterwarnings("ignore")
class TestReranker(RerankerSuite):
    # Beside others a text is padded.
    tolerance = 1e-2

    @pytest.fixture(scope="class")
    def reranker(self, model: str) -> Reranker:
        return create_reranker(f"colbert:{model}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layout", ["colbert", "stanford", "pylate"])
def test_scores_are_those_of_the_library(models: Path, layout: str) -> None:
    from sentence_transformers import MultiVectorEncoder

    folder = str(models / layout)
    texts = ["login password", "zebra", "send the message by mail"]
    library = MultiVectorEncoder(folder, device="cpu", similarity_fn_name="meanmaxsim")
    asked = library.encode_query(["login mail"], normalize_embeddings=True)
    held = library.encode_document(texts, normalize_embeddings=True)
    expected = library.similarity(asked, held)[0].tolist()
    assert len(set(expected)) == 3
    for spec in (f"colbert:{folder}", f"maxsim:colbert:{folder}"):
        reranker = create_reranker(spec)
        assert reranker.weight == 1.0
        # The vectors of documents are rounded to bytes.
        assert reranker.scores("login mail", texts).tolist() == pytest.approx(expected, abs=0.01)


@pytest.mark.filterwarnings("ignore")
def test_retrieval_and_reranking_agree(model: str) -> None:
    corpus = from_texts({"a.md": "login password\n", "b.md": "zebra\n", "c.md": "login zebra\n"})
    engine: Any = build({"engine": "colbert", "model": model})
    reranked: Any = build({"engine": "rerank", "over": "bm25", "model": f"colbert:{model}"})
    assert isinstance(reranked, RerankEngine)
    for each in (engine, reranked):
        each.index(corpus)
    paths = [hit.path for hit in engine.search("login password", 3)]
    assert paths[0] == "a.md"
    assert paths[:2] == [hit.path for hit in reranked.search("login password", 3)][:2]
    assert engine.index_bytes() > 0


def test_mean_max_similarity_as_a_loop_would() -> None:
    rng = np.random.default_rng(0)
    texts = [rng.standard_normal((length, 4)).astype(np.float32) for length in (3, 0, 1, 7)]
    asked = rng.standard_normal((2, 4)).astype(np.float32)
    expected = [
        np.mean([max(float(row @ token) for row in text) for token in asked]) if len(text) else 0
        for text in texts
    ]
    scores = mean_max_similarity([as_bytes(text) for text in texts], asked)
    assert scores.tolist() == pytest.approx(expected, abs=0.05)
    assert mean_max_similarity([], asked).tolist() == []


def test_blocks_change_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    class Letters:
        """A vector for each letter."""

        def token_vectors(self, texts: Any, kind: str = "document") -> Any:
            return [np.eye(128, dtype=np.float32)[[ord(c) % 128 for c in text]] for text in texts]

    corpus = from_texts({f"{name}.md": f"{name * 3}\n" for name in "abcde"})
    results = []
    for rows in (65_536, 1):
        monkeypatch.setattr("karat.extensions.models.late.ROWS_A_BLOCK", rows)
        engine = ChunkEngine([LateStage(Letters(), name="letters")], name="letters")
        engine.index(corpus)
        results.append(engine.search("ccc", 5))
    assert results[0] == results[1]
    assert results[0][0].path == "c.md"


def test_texts_of_earlier_snapshots_are_forgotten() -> None:
    encoded: list[str] = []

    class Lengths:
        """Four numbers for each text."""

        def token_vectors(self, texts: Any, kind: str = "document") -> Any:
            if kind == "document":
                encoded.extend(text.strip()[-1] for text in texts)
            return [np.full((1, 4), len(text), np.float32) for text in texts]

    # A text takes four bytes and a scale of four bytes: two that are not shown stay.
    stage = LateStage(Lengths(), name="lengths", spare_bytes=16)
    engine = ChunkEngine([stage], name="lengths")
    expected = {"ab": "ab", "bc": "c", "de": "de", "bf": "f", "ac": "ac"}
    encoded_by_step = {}
    for names in expected:
        before = len(encoded)
        engine.show(from_texts({f"{name}.md": f"{name}\n" for name in names}))
        encoded_by_step[names] = "".join(encoded[before:])
        assert stage.index_bytes() <= 8 * (2 + 2)
        assert {hit.path[0] for hit in engine.search("query", 5)} == set(names)
    assert encoded_by_step == expected


@pytest.mark.filterwarnings("ignore")
def test_models_without_a_projection_are_rejected(models: Path) -> None:
    from sentence_transformers import SentenceTransformer

    SentenceTransformer(str(models / "bert"), device="cpu").save(str(models / "ordinary"))
    # The library would give both a projection of random numbers.
    for name in ("bert", "ordinary"):
        with pytest.raises(InputError, match="no trained projection of its tokens"):
            colbert_encoder(str(models / name))


def test_wrong_models() -> None:
    with pytest.raises(
        InputError, match=r"colbert:\./nowhere: cannot load the model: no such folder"
    ):
        check_reranker("colbert:./nowhere")
    with pytest.raises(
        InputError, match=r"colbert:\./nowhere: cannot load the model: no such folder"
    ):
        check_reranker("maxsim:colbert:./nowhere")
    with pytest.raises(InputError, match="colbert: no model is named"):
        check_reranker("colbert")
    with pytest.raises(InputError, match="the option 'model' is missing"):
        build("colbert")


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[transformers\]'"):
        build("colbert(model=some/model)")
