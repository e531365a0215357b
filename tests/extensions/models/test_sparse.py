"""An encoder of terms that the test itself makes and saves."""

import re
import sys
from pathlib import Path

import pytest

from karat.engines.builtin import sparse
from karat.engines.chunked import ChunkEngine
from karat.engines.spec import build
from karat.errors import InputError, MissingExtra
from karat.extensions.models.sparse import sparse_encoder
from karat.testing import EngineSuite
from karat.testing.engines import CHAIN_QUERIES, DOCUMENTS, PIECES

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def save_model(folder: Path) -> None:
    """Save a masked language model whose only guess at a word is that word.

    Each word has a direction of its own, which neither the layer nor the head changes; so the
    terms of a text are its words, and the suite can ask for what stands there.
    """
    import torch
    from sentence_transformers import SparseEncoder
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    texts = " ".join([*DOCUMENTS, *DOCUMENTS.values(), *PIECES, *CHAIN_QUERIES]).lower()
    words = [*SPECIAL, *sorted(set(re.findall(r"[^\W_]+|[^\w\s]|_", texts)))]
    size = -(-len(words) // 2) * 2
    bert = folder / "bert"
    bert.mkdir(parents=True)
    (bert / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=size,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=4,
        max_position_embeddings=512,
        initializer_range=1e-4,
    )
    model = BertForMaskedLM(config)
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight.copy_(torch.eye(len(words), size))
        model.cls.predictions.transform.dense.weight.copy_(torch.eye(size))
        # Without a bias every word would be guessed a little.
        model.cls.predictions.bias.fill_(-3.0)
        model.cls.predictions.bias[: len(SPECIAL)] = -1000.0
        punctuation = [n for n, word in enumerate(words) if not word.isalnum()]
        model.cls.predictions.bias[punctuation] = -1000.0
    model.save_pretrained(bert)
    tokenizer = BertTokenizerFast(
        str(bert / "vocab.txt"), model_max_length=512, strip_accents=False
    )
    tokenizer.save_pretrained(bert)
    SparseEncoder(str(bert), device="cpu").save(str(folder / "splade"))


@pytest.fixture(scope="module")
def model(libraries: None, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("sparse")
    save_model(folder)
    return str(folder / "splade")


@pytest.mark.filterwarnings("ignore")
class TestEncoder(EngineSuite):
    chains = 3

    @pytest.fixture
    def engine(self, model: str) -> ChunkEngine:
        return sparse(model=model)


@pytest.mark.filterwarnings("ignore")
def test_the_terms_of_a_text_are_those_of_the_model(model: str) -> None:
    from sentence_transformers import SparseEncoder

    texts = ["login password", "", "zebra login \ud800", " \n"]
    encoded = sparse_encoder(model).terms(texts)
    assert sorted({*encoded.texts.tolist()}) == [0, 2]
    library = SparseEncoder(model, device="cpu")
    for row, text in ((0, texts[0]), (2, "zebra login ?")):
        (decoded,) = library.decode(library.encode_document([text]))
        of_row = encoded.texts == row
        numbers = library.tokenizer.convert_tokens_to_ids([token for token, _ in decoded])
        expected = dict(zip(numbers, (weight for _, weight in decoded), strict=True))
        mine = dict(
            zip(encoded.terms[of_row].tolist(), encoded.weights[of_row].tolist(), strict=True)
        )
        assert mine == pytest.approx(expected, abs=1e-5)
        assert len(mine) == 2


@pytest.mark.filterwarnings("ignore")
def test_a_folder_that_is_no_model(libraries: None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot load the model"):
        build(f"sparse(model={tmp_path}/nowhere)")


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[transformers\]'"):
        build("sparse(model=some/model)")
