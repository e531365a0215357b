"""Models by name: what is unknown, misspelt or cannot be used is rejected before it is loaded."""

import sys
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from karat.corpus import create_chunker
from karat.engines.embedding import create_embedder
from karat.engines.embedding.base import check_model, embedder_named, is_endpoint
from karat.engines.engine_group import embeds_locally
from karat.engines.rerank import check_reranker, create_reranker
from karat.engines.spec import build, model_text, parse_spec
from karat.errors import InputError, MissingExtra, UnknownName


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("dense(model=nope)", "no embedder named 'nope'; known: cohere, granite, jina, minilm"),
        ("rerank(over=bm25, model=cross)", "expected cross:<hub id or folder>"),
        ("rerank(over=bm25, model=onnx-cross:nowhere)", "onnx-cross:nowhere: no such folder"),
        ("rerank(over=bm25, model=maxsim:static)", "has no token vectors"),
    ],
)
def test_an_engine_with_a_wrong_model(spec: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        build(spec)
    assert message in str(caught.value)


def test_misspelt_names() -> None:
    with pytest.raises(UnknownName, match="no embedder named 'granit'; did you mean 'granite'"):
        create_embedder("granit")
    with pytest.raises(UnknownName, match="no reranker named 'maxsin'; did you mean 'maxsim'"):
        create_reranker("maxsin")
    with pytest.raises(UnknownName, match="no embedder named 'granit'; did you mean 'granite'"):
        check_reranker("maxsim:granit")
    with pytest.raises(UnknownName, match="no tokenizer named 'granit'; did you mean 'granite'"):
        create_chunker("window(unit=tokens, tokenizer=granit)")


@pytest.mark.parametrize("check", [check_model, check_reranker])
def test_an_address_is_checked_before_anything_is_loaded(check: object) -> None:
    expected = "tei:localhost: expected tei:<url>, such as tei:http://localhost:8080"
    with pytest.raises(InputError, match=expected):
        check("tei:localhost")  # type: ignore[operator]


def test_names_of_the_hub() -> None:
    names = ["sentence-transformers/all-MiniLM-L6-v2", "BAAI/bge-m3", "minilm:512"]
    assert [embedder_named(name) for name in names] == ["minilm", "st:BAAI/bge-m3", "minilm:512"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("granite", False), ("http:e5@http://host/v1", True), ("module:factory", False)],
)
def test_which_embedders_are_elsewhere(name: str, expected: bool) -> None:
    assert is_endpoint(name) is expected
    assert embeds_locally(parse_spec(f"dense(model={name})")) is not expected


def test_a_mapping_names_an_endpoint() -> None:
    model: dict[str, object] = {"provider": "openai", "model": "e5", "url": "http://host/v1"}
    assert not embeds_locally(parse_spec({"engine": "dense", "model": model}))
    served = {"provider": "tei", "url": "http://gpu:8080", "batch": 16}
    assert model_text(served) == "tei:http://gpu:8080?batch=16"
    assert model_text({"provider": "cohere", "model": "rerank-v3.5"}) == "cohere:rerank-v3.5"
    with pytest.raises(InputError, match="expected one of openai, jina, cohere, voyage, vllm, tei"):
        model_text({"provider": "nobody"})


def test_a_model_is_named_as_on_the_hub(
    monkeypatch: pytest.MonkeyPatch, karat: Callable[..., CompletedProcess[str]]
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match="the model st:BAAI/bge-small-en"):
        create_embedder("BAAI/bge-small-en-v1.5")
    done = karat("search", "cart", ".", "-e", "dense(model=bge-small)")
    assert done.returncode == 2
    assert "a model of the Hugging Face hub is written owner/model: BAAI/bge-m3" in done.stderr
