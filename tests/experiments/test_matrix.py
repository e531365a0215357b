"""Every combination that makes a difference is one configuration, and no other is."""

from typing import Any

import pytest

from karat.errors import InputError
from karat.experiments.matrix import Matrix
from karat.model.spec import Spec


def names(**axes: Any) -> list[str]:
    return [configuration.name for configuration in Matrix(**axes).configurations()]


def test_the_examples_of_a_dashboard() -> None:
    two = {"search_modes": ("dense", "hybrid"), "top_k_values": (10,), "rrf_k_values": (60,)}
    assert names(**two) == ["dense @10", "hybrid @10"]
    assert names(search_modes=("dense",), use_reranker=(False, True), top_k_values=(10, 20)) == [
        "dense @10",
        "dense +rerank @10",
        "dense @20",
        "dense +rerank @20",
    ]
    assert names(top_k_values=(5, 10, 20, 50)) == [
        "dense @5",
        "dense @10",
        "dense @20",
        "dense @50",
    ]


def test_forty_eight() -> None:
    configurations = Matrix(
        search_modes=("dense", "sparse", "hybrid"),
        use_reranker=(False, True),
        top_k_values=(5, 10, 20),
        rrf_k_values=(40, 60),
        score_thresholds=(None, 0.5),
    ).configurations()
    assert len(configurations) == 48
    assert "hybrid rrf60 +rerank @20 ≥0.5" in {
        configuration.name for configuration in configurations
    }
    assert len({configuration.spec for configuration in configurations}) == 8


def test_one_default_of_fusion_unless_constants_are_named() -> None:
    def specs(**axes: Any) -> list[dict[str, object]]:
        matrix = Matrix(search_modes=("hybrid",), **axes)
        return [dict(one.spec.params) for one in matrix.configurations()]

    # The same engine as hybrid without options, and so the same stored run.
    assert specs() == specs(fusion=("min-max",)) == [{}]
    rrf = [{"fusion": "rrf", "rrf_k": constant} for constant in (40, 60)]
    assert specs(rrf_k_values=(40, 60)) == rrf
    assert specs(fusion=("rrf",)) == rrf[1:]
    assert specs(fusion=("min-max", "rrf"), rrf_k_values=(40, 60)) == [{}, *rrf]
    with pytest.raises(InputError, match="rrf_k_values: fusion has no rrf"):
        specs(fusion=("min-max",), rrf_k_values=(40,))


def test_further_engines() -> None:
    own = {"own": Spec("engine", "http", {"url": "x"}), "other": Spec("engine", "bm25")}
    axes: dict[str, Any] = {"top_k_values": (5, 10), "use_reranker": (False, True), "engines": own}
    found = names(search_modes=("sparse",), **axes)
    # The first configuration is the baseline.
    assert found[:4] == ["own @5", "own @10", "other @5", "other @10"]
    assert len(found) == Matrix(search_modes=("sparse",), **axes).count() == 4 + 4
    alone = Matrix(search_modes=(), **axes)
    assert [configuration.name for configuration in alone.configurations()] == found[:4]
    assert alone.count() == 4
    assert alone.configurations()[0].options == {"engine": "own", "top_k": 5}
    with pytest.raises(InputError, match="search_modes: the list is empty"):
        Matrix(search_modes=())


def own(**parameters: str) -> Spec:
    options = {"parameters": parameters} if parameters else {}
    return Spec("engine", "command", {"command": ["x", "{size}", "{mode}", "{query}"], **options})


def test_parameters_of_own_engines() -> None:
    """The engine's own values come first: its first configuration is the baseline."""
    engines = {"bm25": Spec("engine", "bm25"), "mine": own(size="512")}
    parameters: dict[str, tuple[object, ...]] = {"size": (128, 512), "mode": ("fast",)}
    matrix = Matrix(search_modes=(), engines=engines, parameters=parameters)
    assert matrix.count() == 3
    found = matrix.configurations()
    assert [one.name for one in found] == ["bm25 @10", "mine size=512 @10", "mine size=128 @10"]
    assert found[1].spec.params["parameters"] == {"size": 512, "mode": "fast"}
    assert found[2].options == {"engine": "mine", "top_k": 10, "size": 128, "mode": "fast"}
    assert len({one.spec.digest for one in found}) == 3


def test_a_parameter_can_have_an_alias() -> None:
    matrix = Matrix(
        search_modes=(),
        engines={"mine": own(mode="fast")},
        parameters={"size": ("small.json", "large.json")},
        aliases={"size": {"small.json": "/search/small.json", "large.json": "/search/large.json"}},
    )
    first, second = matrix.configurations()
    assert (first.name, second.name) == ("mine size=small.json @10", "mine size=large.json @10")
    assert first.spec.params["parameters"] == {"mode": "fast", "size": "/search/small.json"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"depth": (1, 2)}, "depth: no engine uses it; write {depth} into its command"),
        ({"size": (), "mode": ("a",)}, "size: the list is empty"),
        ({"size": (1, 1), "mode": ("a",)}, "size: 1 appears more than once"),
        ({"size": (1,)}, r"size: command: command: \{mode\} is unknown"),
    ],
)
def test_parameters_that_are_refused(
    parameters: dict[str, tuple[object, ...]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Matrix(search_modes=(), engines={"mine": own()}, parameters=parameters)


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"search_modes": ()}, "search_modes: the list is empty"),
        (
            {"search_modes": ("dense", "sparse", "dense")},
            "search_modes: 'dense' appears more than once",
        ),
        (
            {"search_modes": ("lexical",)},
            "'lexical' is not a search mode; expected one of: bm25, sparse, dense, hybrid, splade",
        ),
        ({"top_k_values": (10, 0)}, "top_k_values: 0 is out of range; expected 1 or more"),
        ({"rrf_k_values": (60, 60)}, "rrf_k_values: 60 appears more than once"),
        ({"score_thresholds": (1.5,)}, "1.5 is out of range; expected 0 to 1, or null"),
        ({"score_thresholds": (float("nan"),)}, "nan is out of range"),
        ({"score_thresholds": (None, 0.0)}, "null and 0 both drop nothing"),
        ({"primary_k": 0}, "primary_k: 0 is out of range"),
        ({"k_values_for_metrics": (-1,)}, "k_values_for_metrics: -1 is out of range"),
    ],
)
def test_what_is_refused(axes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Matrix(**axes)


def test_what_is_measured() -> None:
    assert Matrix().measures() == ()
    assert Matrix(primary_k=5).measures() == ("ndcg@5", "mrr", "ap", "precision@5", "recall@5")
    assert Matrix(k_values_for_metrics=(1, 10)).measures()[0] == "ndcg@1"
