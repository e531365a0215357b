"""Every combination that makes a difference is one configuration, and no other is."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.engines.registry import modes
from karat.engines.spec import build
from karat.errors import InputError
from karat.experiments.matrix import Matrix
from karat.model.spec import Spec
from tests.experiments.test_matrix import names


def test_engines_by_hand() -> None:
    [sparse, dense, hybrid] = Matrix(
        search_modes=("sparse", "dense", "hybrid"),
        use_reranker=(True,),
        rrf_k_values=(40,),
        score_thresholds=(0.25,),
        chunkers=("window:128",),
        models=("minilm",),
    ).configurations()
    chunker = {"chunker": "window:128"}
    assert sparse.spec == Spec("engine", "rerank", {"over": {"engine": "bm25", **chunker}})
    assert (sparse.k, sparse.threshold) == (10, 0.25)
    assert sparse.options == {
        "search_mode": "sparse",
        "use_reranker": True,
        "top_k": 10,
        "score_threshold": 0.25,
        "chunker": "window:128",
        "reranker": "maxsim",
    }
    over = {"engine": "dense", "model": "minilm", **chunker}
    assert dense.spec == Spec("engine", "rerank", {"over": over})
    joined = {"engine": "hybrid", "fusion": "rrf", "rrf_k": 40, "model": "minilm", **chunker}
    assert hybrid.spec == Spec("engine", "rerank", {"over": joined})
    assert (hybrid.options["rrf_k"], hybrid.options["model"]) == (40, "minilm")


def test_several_models_chunkers_and_rerankers_are_told_apart() -> None:
    assert names(
        search_modes=("sparse", "dense"),
        use_reranker=(False, True),
        models=("granite", "static"),
        chunkers=("auto", "lines:20"),
        rerankers=("maxsim", "maxsim:minilm"),
        top_k_values=(10,),
    )[3:8] == [
        "dense auto granite @10",
        "dense auto granite +maxsim @10",
        "dense auto granite +maxsim:minilm @10",
        "dense auto static @10",
        "dense auto static +maxsim @10",
    ]


@given(
    modes=st.lists(st.sampled_from(list(modes())), min_size=1, unique=True),
    switches=st.lists(st.booleans(), min_size=1, unique=True),
    depths=st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True),
    constants=st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True),
    thresholds=st.lists(st.sampled_from([None, 0.1, 0.25, 1.0]), min_size=1, unique=True),
)
def test_the_count_is_that_of_what_differs(
    modes: list[str],
    switches: list[bool],
    depths: list[int],
    constants: list[int],
    thresholds: list[float | None],
) -> None:
    configurations = Matrix(
        search_modes=tuple(modes),
        use_reranker=tuple(switches),
        top_k_values=tuple(depths),
        rrf_k_values=tuple(constants),
        score_thresholds=tuple(thresholds),
        sparse_models=("some/splade",),
        late_models=("some/colbert",),
    ).configurations()
    everything = product(modes, switches, depths, constants, thresholds)
    different = {
        (mode, switch, depth, constant if mode == "hybrid" else None, threshold)
        for mode, switch, depth, constant, threshold in everything
    }
    assert len(configurations) == len(different)
    assert len({configuration.name for configuration in configurations}) == len(configurations)
    assert len(
        {
            (configuration.spec, configuration.k, configuration.threshold)
            for configuration in configurations
        }
    ) == len(configurations)


def test_every_mode_is_an_engine() -> None:
    # The others need a model, and are built in the tests of their engines.
    alone = tuple(mode for mode in modes() if mode not in ("splade", "colbert"))
    for configuration in Matrix(search_modes=alone, chunkers=("lines:20",)).configurations():
        assert build(configuration.spec).name == configuration.spec.name


def test_all_that_is_refused_is_told_at_once() -> None:
    with pytest.raises(InputError) as refused:
        Matrix(search_modes=("lexical",), top_k_values=(0, 5, 5), models=("granit",), primary_k=-1)
    assert str(refused.value).splitlines() == [
        "search_modes: 'lexical' is not a search mode; expected one of: bm25, sparse, dense, "
        "hybrid, splade, colbert; a profile, an engine or its file goes into engines: [lexical]",
        "top_k_values: 0 is out of range; expected 1 or more",
        "top_k_values: 5 appears more than once",
        "models: no embedder named 'granit'; did you mean 'granite'?",
        "primary_k: -1 is out of range; expected 1 or more",
    ]


def test_names_that_nothing_has() -> None:
    for axes, message in (
        ({"chunkers": ("window:few",)}, "size 'few' is not a whole number"),
        ({"models": ("granit",)}, "no embedder named 'granit'; did you mean 'granite'"),
        ({"rerankers": ("maxsin",)}, "no reranker named 'maxsin'; did you mean 'maxsim'"),
        ({"rerankers": ("maxsim:granit",)}, "rerankers: no embedder named 'granit'"),
        ({"rerankers": ("maxsim:static",)}, "rerankers: maxsim:static: this embedder has no"),
    ):
        with pytest.raises(InputError, match=message):
            names(**axes)
    [configuration] = Matrix(models=("sentence-transformers/all-MiniLM-L6-v2",)).configurations()
    assert configuration.spec == Spec("engine", "dense", {"model": "minilm"})


def test_tuned_values_become_options_of_the_engine() -> None:
    configurations = Matrix(
        search_modes=("sparse", "dense", "hybrid"),
        dense_weight=(None, 0.3),
        k1=(1.2, 2.0),
        fusion=("rrf", "min-max"),
        rrf_k_values=(40, 60),
        code_ranking=(False,),
        use_reranker=(True,),
        rerank_depth=(10, 50),
    ).configurations()
    # dense has no fusion, no weight and no k1; min-max has no constant.
    assert len(configurations) == 2 * (2 + 1 + 2 * 2 * 3)
    by_name = {one.name: one for one in configurations}
    assert len(by_name) == len(configurations)
    one = by_name["hybrid min-max dense_weight=0.3 k1=1.2 +rerank depth=50 @10"]
    assert one.spec.params == {
        "over": {
            "engine": "hybrid",
            "dense_weight": 0.3,
            "k1": 1.2,
            "code_ranking": False,
        },
        "depth": 50,
    }
    assert one.options["dense_weight"] == 0.3
    assert one.options["fusion"] == "min-max"
    assert one.options["rerank_depth"] == 50
    assert "dense_weight" not in by_name["sparse k1=2.0 +rerank depth=10 @10"].options
    assert build(one.spec).name == "hybrid+maxsim:granite"


def test_models_of_one_mode_are_an_axis_of_that_mode(tmp_path: Path) -> None:
    splade, colbert = tmp_path / "splade", tmp_path / "colbert"
    splade.mkdir()
    colbert.mkdir()
    matrix = Matrix(
        search_modes=("sparse", "splade", "colbert"),
        sparse_models=(f"splade:{splade}", "naver/splade-v3"),
        late_models=(str(colbert),),
    )
    assert matrix.count() == 4
    specs = [configuration.spec for configuration in matrix.configurations()]
    assert [(spec.name, dict(spec.params)) for spec in specs] == [
        ("bm25", {}),
        ("sparse", {"model": f"splade:{splade}"}),
        ("sparse", {"model": "naver/splade-v3"}),
        ("colbert", {"model": str(colbert)}),
    ]
    names = [configuration.name for configuration in matrix.configurations()]
    assert names[2:] == ["splade naver/splade-v3 @10", "colbert @10"]


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"search_modes": ("splade",)}, "splade needs a model; expected sparse_models"),
        ({"search_modes": ("colbert",)}, "colbert needs a model; expected late_models"),
        (
            {"sparse_models": ("./nowhere",)},
            r"splade:\./nowhere: cannot load the model: no such folder",
        ),
        ({"models": ("jina:m?batch=0",)}, "batch: Input should be greater than or equal to 1"),
        ({"rerankers": ("cohere:m",)}, "needs an API key; set COHERE_API_KEY"),
        ({"rerankers": ("vllm:m",)}, "expected vllm:<model>@<url>"),
    ],
)
def test_wrong_models_are_reported_before_anything_runs(
    axes: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COHERE_API_KEY", raising=False)
    with pytest.raises(InputError, match=message):
        Matrix(**axes)


def test_remote_models_are_values_of_the_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JINA_API_KEY", "k")
    model = "vllm:some-model@http://localhost:8000/v1"
    matrix = Matrix(models=(model,), use_reranker=(True,), rerankers=("maxsim", "jina:m"))
    first, second = (configuration.spec for configuration in matrix.configurations())
    assert first.params == {"over": {"engine": "dense", "model": model}}
    assert second.params["model"] == "jina:m"
