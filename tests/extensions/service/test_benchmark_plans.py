from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from karat.errors import InputError, UnknownName
from karat.experiments.plan import ExperimentRequest
from karat.extensions.service.benchmarks import (
    TIMED,
    BenchmarkConfig,
    benchmark_request,
    offered_models,
)
from karat.extensions.service.collections import AllowedFolders
from karat.extensions.service.settings import ModelChoices
from karat.extensions.service.store import Collection
from karat.model import Dataset, Query, Target
from karat.model.spec import Spec

NOW = datetime(2025, 1, 2, tzinfo=UTC)
INDEX = {"dense": True, "sparse": True, "chunker": "lines:20", "model": "static"}
COLLECTION = Collection(
    *("1", "ann", "Docs", "", {"kind": "upload"}, INDEX, "ready", "", "", {}, None, NOW, NOW)
)
MATRIX = {"search_modes": ["dense", "sparse"], "primary_k": 5, "k_values_for_metrics": [10, 1]}
GOLD = Dataset.of(Query(f"q{number}", "x", (Target("a.md"),)) for number in range(30))


RequestOf = Callable[..., ExperimentRequest]


@pytest.fixture
def request_of(tmp_path: Path) -> RequestOf:
    """Return what makes the experiment of a benchmark on the collection, which was uploaded."""
    (tmp_path / COLLECTION.id).mkdir()

    def make(
        config: BenchmarkConfig, offered: Mapping[str, Spec] | None = None
    ) -> ExperimentRequest:
        return benchmark_request(
            config,
            GOLD,
            name="x",
            collection=COLLECTION,
            folders=AllowedFolders((), tmp_path),
            offered=offered or {},
        )

    return make


def test_it_comes_back_from_json() -> None:
    config = BenchmarkConfig(MATRIX, top_k=7, metrics=("ndcg",))
    assert BenchmarkConfig.from_json(config.to_json()) == config


def test_what_is_measured() -> None:
    config = BenchmarkConfig(MATRIX)
    assert (config.primary, config.cuts) == ("ndcg@5", (1, 5, 10))
    at_k = [f"{name}@{k}" for name in ("precision", "recall", "ndcg") for k in (1, 5, 10)]
    assert set(config.measures()) == {*at_k, "mrr", "ap"}
    assert config.measures()[0] == "ndcg@5"
    own = replace(config, metrics=("MAP", "hit@3", "rr", "set-f1"))
    assert own.measures() == ("ndcg@5", "MAP", "hit@3", "rr", "set-f1")  # as typed
    with pytest.raises(UnknownName, match="did you mean 'recall'"):
        replace(config, metrics=("recal",)).measures()


def test_an_experiment_is_made_of_it(request_of: RequestOf, tmp_path: Path) -> None:
    request = request_of(BenchmarkConfig(MATRIX))
    assert request.where.corpus == str(tmp_path / COLLECTION.id)
    assert [entry.name for entry in request.configurations] == ["dense @10", "sparse @10"]
    assert dict(request.configurations[0].spec.params) == {"model": "static", "chunker": "lines:20"}
    assert (request.timed, request.scoring.measures[0]) == (20, "ndcg@5")
    assert request.scores_first


@pytest.mark.parametrize(("timing", "timed"), TIMED.items())
def test_whose_latency_is_measured(request_of: RequestOf, timing: str, timed: int | None) -> None:
    config = BenchmarkConfig(MATRIX, timing=timing)
    assert BenchmarkConfig.from_json(config.to_json()) == config
    assert request_of(config).timed == timed


def test_a_benchmark_of_an_earlier_version_times_a_sample() -> None:
    config = BenchmarkConfig(MATRIX).to_json()
    del config["timing"]
    assert BenchmarkConfig.from_json(config).timing == "sample"


def test_engines_that_the_service_offers(request_of: RequestOf) -> None:
    own = Spec("engine", "bm25", {"k1": "0.5"})
    config = BenchmarkConfig({**MATRIX, "engines": ["own"], "top_k_values": [5, 10]})
    assert BenchmarkConfig.from_json(config.to_json()) == config
    request = request_of(config, {"own": own, "other": Spec("engine", "keyword")})
    fifth, tenth, *_ = request.configurations
    assert [entry.name for entry in (fifth, tenth)] == ["own @5", "own @10"]
    assert (fifth.spec, fifth.k, fifth.options) == (own, 5, {"engine": "own", "top_k": 5})
    with pytest.raises(InputError, match="no engine 'own' on this service; offered: none"):
        config.matrix_for(COLLECTION)


def test_engines_need_no_index() -> None:
    lacking = replace(COLLECTION, index={**INDEX, "dense": False, "sparse": False})
    config = BenchmarkConfig({"search_modes": [], "engines": ["own"]})
    matrix = config.matrix_for(lacking, offered={"own": Spec("engine", "bm25")})
    assert [entry.name for entry in matrix.configurations()] == ["own @10"]


@pytest.mark.parametrize("index", ["dense", "sparse"])
def test_an_index_that_is_not_there(index: str) -> None:
    lacking = replace(COLLECTION, index={**INDEX, index: False})
    with pytest.raises(InputError, match=f"has no {index} index"):
        BenchmarkConfig(MATRIX).matrix_for(lacking)


CHOICES = ModelChoices(
    models={"gpu": "tei:http://gpu:8080"},
    rerankers={"gpu": "vllm:bge@http://gpu:8000/v1"},
    contexts={"small": "http://gpu:9000/v1#qwen"},
)


def test_models_that_the_service_offers() -> None:
    pytest.importorskip("litellm")
    axes = {"models": ["static", "gpu"], "use_reranker": [True], "rerankers": ["maxsim", "gpu"]}
    matrix = {"search_modes": ["dense"], **axes, "context": ["small"]}
    config = BenchmarkConfig(matrix)
    configurations = config.matrix_for(COLLECTION, choices=CHOICES).configurations()
    # Names of runs and their options show no address; one name may be of two kinds.
    assert [entry.name for entry in configurations] == [
        "dense static +maxsim @10",
        "dense static +gpu @10",
        "dense gpu +maxsim @10",
        "dense gpu +gpu @10",
    ]
    named = {name: configurations[-1].options[name] for name in ("model", "reranker", "context")}
    assert named == {"model": "gpu", "reranker": "gpu", "context": "small"}
    assert configurations[-1].spec.params == {
        "over": {
            "engine": "dense",
            "chunker": "lines:20",
            "model": CHOICES.models["gpu"],
            "context": CHOICES.contexts["small"],
        },
        "model": CHOICES.rerankers["gpu"],
    }


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"models": ["gpu"]}, "no model 'gpu' on this service; offered: granite, minilm, static"),
        ({"models": ["tei:http://evil"]}, "no model 'tei:http://evil' on this service"),
        ({"rerankers": ["cohere:rerank-v3.5"]}, "no reranker .* on this service; offered: maxsim"),
        ({"context": ["openai/gpt-4o"]}, "offered: none, it was started without --context"),
    ],
)
def test_no_other_model_can_be_named(axes: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BenchmarkConfig({**MATRIX, **axes}).matrix_for(COLLECTION)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rerankers": ["maxsim=cross:x"]}, "reranker 'maxsim': a built-in one has this name"),
        ({"rerankers": ["a=maxsim", "a=maxsim"]}, "reranker 'a' is given twice"),
        ({"rerankers": ["cohere:rerank-v3.5"]}, "reranker .*: expected NAME="),
        ({"rerankers": ["co=cohere:rerank-v3.5"]}, "set COHERE_API_KEY"),
        ({"models": ["gpu=tei:gpu"]}, "expected tei:<url>"),
    ],
)
def test_what_a_service_cannot_offer(
    given: dict[str, list[str]], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COHERE_API_KEY", raising=False)
    with pytest.raises(InputError, match=message):
        offered_models(**given)
