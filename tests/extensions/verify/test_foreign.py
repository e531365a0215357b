"""What does not come with Karat is known by its name, and not by loading it."""

import pytest

from karat.engines.embedding.base import EMBEDDERS
from karat.engines.registry import ENGINES
from karat.engines.spec import parse_spec
from karat.extensions.verify.verify import foreign
from karat.model.spec import Spec


@pytest.mark.parametrize(
    "engine",
    [
        "bm25(k1=1.2, chunker=lines:20)",
        "bm25(chunker=window(unit=tokens, size=128,overlap=8, tokenizer=minilm))",
        "keyword(window=20)",
        "sparse",
        "dense(model=granite)",
        "dense(model=Granite:512, chunker=Definitions)",
        "hybrid(model=static)",
        "rerank(over=hybrid(model=minilm), model=maxsim)",
        "rerank(model=late-interaction:granite:128)",
        "quality",
    ],
)
def test_what_comes_with_karat(engine: str) -> None:
    assert list(foreign(parse_spec(engine))) == []


@pytest.mark.parametrize(
    ("engine", "parts"),
    [
        ("dense(model=openai:small@http://host/v1)", ["model=openai:small@http://host/v1"]),
        ("hybrid(model=onnx:/tmp/weights)", ["model=onnx:/tmp/weights"]),
        ("dense(model=512:granite)", ["model=512:granite"]),
        ("dense(model=maxsim)", ["model=maxsim"]),
        ("sparse(model=granite)", ["model=granite"]),
        ("bm25(chunker=own:Chunker)", ["chunker=own:Chunker"]),
        ("bm25(chunker=lines:Chunker)", ["chunker=lines:Chunker"]),
        ("bm25(chunker=window(tokenizer=own))", ["chunker=window(tokenizer=own)"]),
        ("bm25(chunker=window(tokenizer=file:/t))", ["chunker=window(tokenizer=file:/t)"]),
        ("rerank(model=maxsim:512:granite)", ["model=maxsim:512:granite"]),
        ("rerank(model=cross:some/model)", ["model=cross:some/model"]),
        ("rerank(over=own:Search)", ["own:Search"]),
        ("own:Search", ["own:Search"]),
    ],
)
def test_what_does_not(engine: str, parts: list[str]) -> None:
    assert list(foreign(parse_spec(engine))) == parts


@pytest.mark.parametrize("name", ["command", "http", "mcp", "process", "python"])
def test_the_way_to_a_search_of_somebody_else(name: str) -> None:
    assert name in ENGINES.built_in()
    assert list(foreign(Spec("engine", name))) == [name]


@pytest.mark.together_with("models")
def test_of_the_embedders_only_those_with_packaged_weights_are_ours() -> None:
    ours = [
        name
        for name in EMBEDDERS.built_in()
        if not list(foreign(Spec("engine", "dense", {"model": name})))
    ]
    assert ours == ["granite", "minilm", "static"]


def test_what_is_no_text_is_not_ours() -> None:
    spec = Spec("engine", "dense", {"model": {"engine": "granite"}})
    assert list(foreign(spec)) == ["model={'engine': 'granite'}"]
