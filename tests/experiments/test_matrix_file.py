"""A matrix from a file: alone or below its key, as YAML or as JSON."""

from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.experiments.matrix import Matrix
from karat.experiments.matrix_file import read_matrix, read_service_matrix

YAML = """\
config_matrix:
  search_modes: [dense, hybrid]
  use_reranker: [true, no]
  top_k_values: [5, 10]
  rrf_k_values: 40
  score_thresholds: [null, 0.5]
  chunkers: [auto, "lines:20"]
  primary_k: 10
"""
JSON = """{
  "search_modes": ["dense", "hybrid"],
  "use_reranker": [true, false],
  "top_k_values": [5, 10],
  "rrf_k_values": [40],
  "score_thresholds": [null, 0.5],
  "chunkers": ["auto", "lines:20"],
  "primary_k": 10
}"""
MATRIX = Matrix(
    search_modes=("dense", "hybrid"),
    use_reranker=(True, False),
    top_k_values=(5, 10),
    rrf_k_values=(40,),
    score_thresholds=(None, 0.5),
    chunkers=("auto", "lines:20"),
    primary_k=10,
)


@pytest.mark.parametrize(("name", "text"), [("m.yaml", YAML), ("m.json", JSON)])
def test_both_formats(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_matrix(tmp_path / name) == MATRIX


def test_all_problems_at_once(tmp_path: Path) -> None:
    place = tmp_path / "m.yaml"
    place.write_text(
        "search_mode: [dense]\nuse_reranker: [maybe]\ntop_k_values: [5, ten]\n"
        "score_thresholds: [low]\nprimary_k: x\n"
    )
    with pytest.raises(FormatError) as refused:
        read_matrix(place)
    assert str(refused.value).replace(str(place), "m.yaml").splitlines() == [
        "m.yaml:1: search_mode: unknown key; did you mean 'search_modes'? valid keys: "
        "search_modes, use_reranker, top_k_values, rrf_k_values, score_thresholds, chunkers, "
        "models, sparse_models, late_models, rerankers, fusion, dense_weight, k1, b, "
        "code_ranking, context, rerank_depth, "
        "k_values_for_metrics, primary_k, engines",
        "m.yaml:2: use_reranker[0]: 'maybe' is neither true nor false",
        "m.yaml:3: top_k_values[1]: 'ten' is not a whole number",
        "m.yaml:4: score_thresholds[0]: 'low' is not a number; expected 0 to 1, or null",
        "m.yaml:5: primary_k: 'x' is not a whole number",
    ]


def test_what_means_nothing_names_the_file(tmp_path: Path) -> None:
    place = tmp_path / "m.json"
    place.write_text('{"config_matrix": {"search_modes": []}}')
    with pytest.raises(FormatError, match=r"m\.json:1: config_matrix.search_modes: the list is em"):
        read_matrix(place)
    place.write_text('{"config_matrix": {}, "name": "a"}')
    with pytest.raises(FormatError, match="name: unknown key"):
        read_matrix(place)


def test_names_of_a_service_are_not_checked_here(tmp_path: Path) -> None:
    place = tmp_path / "m.yaml"
    place.write_text(
        "engines: [mysearch, other]\nmodels: gpu\nuse_reranker: true\nrerankers: [ours]\n"
        "primary_k: 5\n"
    )
    assert read_service_matrix(place) == {
        "search_modes": [],
        "engines": ["mysearch", "other"],
        "models": ["gpu"],
        "use_reranker": [True],
        "rerankers": ["ours"],
        "primary_k": 5,
    }
    place.write_text("top_k_values: [5, 10]\n")
    assert read_service_matrix(place) == {"search_modes": ["dense"], "top_k_values": [5, 10]}
    place.write_text("top_k_values: [0]\nengines: [{name: x}]\n")
    with pytest.raises(FormatError) as refused:
        read_service_matrix(place)
    assert [line.split(": ")[1] for line in str(refused.value).splitlines()] == [
        "top_k_values[0]",
        "engines[0]",
    ]


def test_engines_need_no_mode(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("engines: lexical\n")
    [one] = read_matrix(tmp_path / "m.yaml").configurations()
    assert (one.name, one.spec.name) == ("lexical @10", "bm25")


def test_values_to_tune(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(
        "search_modes: [hybrid]\ndense_weight: [null, 0.3]\nk1: 1.2\nb: [0.5]\n"
        "fusion: [min-max]\ncode_ranking: [true, false]\nuse_reranker: true\nrerank_depth: 50\n"
    )
    assert read_matrix(tmp_path / "m.yaml") == Matrix(
        search_modes=("hybrid",),
        dense_weight=(None, 0.3),
        k1=(1.2,),
        b=(0.5,),
        fusion=("min-max",),
        code_ranking=(True, False),
        use_reranker=(True,),
        rerank_depth=(50,),
    )


def test_an_axis_that_no_mode_uses_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("search_modes: [dense]\nk1: [1, 2]\n")
    with pytest.raises(
        FormatError, match="k1: no search mode uses it; expected one of: sparse, hy"
    ):
        read_matrix(tmp_path / "m.yaml")


def test_a_constant_without_its_fusion_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("search_modes: hybrid\nrrf_k_values: 40\nfusion: min-max\n")
    with pytest.raises(FormatError, match=r"m\.yaml:2: rrf_k_values: fusion has no rrf"):
        read_matrix(tmp_path / "m.yaml")


OWN = """\
engine: command
command: [python3, "{here}/find.py", "{size}", "--config={config}", "{query}"]
parameters: {config: "{here}/large.json"}
"""


def test_keys_of_own_engines_are_parameters(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(OWN)
    (tmp_path / "m.yaml").write_text(
        "engines: [lexical, mine.yaml]\nsize: [256, 512]\n"
        'config: ["{here}/small.json", "{here}/large.json"]\n'
    )
    matrix = read_matrix(tmp_path / "m.yaml")
    assert [one.name for one in matrix.configurations()] == [
        "lexical @10",
        *(
            f"mine size={size} config={config}.json @10"
            for size in (256, 512)
            for config in ("large", "small")
        ),
    ]
    large, small = matrix.configurations()[1:3]
    assert large.spec.params["parameters"] == {
        "size": "256",
        "config": str(tmp_path / "large.json"),
    }
    assert small.options["config"] == "small.json"


def test_parameters_that_nothing_uses_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(OWN)
    place = tmp_path / "m.yaml"
    place.write_text(
        "engines: mine.yaml\nsize: [256, null]\nwidth: [1]\ntop_k_value: 5\nchunkers: [auto]\n"
    )
    with pytest.raises(FormatError) as refused:
        read_matrix(place)
    problems = [line.split(": ", 1)[1] for line in str(refused.value).splitlines()]
    assert problems[0] == "size[1]: None is not a text, a number or a truth value"
    assert problems[1].startswith("width: no engine uses it; write {width} into its command, env")
    assert problems[2].startswith("top_k_value: unknown key; did you mean 'top_k_values'?")
    assert problems[3] == "chunkers: no search mode uses it; expected search_modes beside it"
    place.write_text("engines: mine.yaml\nsizes: [256]\n")
    with pytest.raises(FormatError, match="sizes: unknown key; did you mean 'size'"):
        read_matrix(place)
    # A service would start programs with values of strangers.
    place.write_text("engines: mine\nsize: [256, 512]\n")
    with pytest.raises(FormatError, match=r"m\.yaml:2: size: unknown key"):
        read_service_matrix(place)


def test_an_engine_needs_all_of_its_values(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(OWN)
    (tmp_path / "m.yaml").write_text("engines: mine.yaml\n")
    with pytest.raises(FormatError, match=r"engines: command: command: \{size\} is unknown"):
        read_matrix(tmp_path / "m.yaml")


def test_null_is_no_reranker(tmp_path: Path) -> None:
    place = tmp_path / "matrix.yaml"
    place.write_text("search_modes: [bm25]\nrerankers: [null, maxsim]\n")
    with pytest.raises(FormatError, match=r"null is not a reranker; use_reranker: \[false, true\]"):
        read_matrix(place)
