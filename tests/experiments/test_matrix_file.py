"""A matrix from a file: alone or below its key, as YAML or as JSON."""

from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.experiments.matrix import Matrix, read_matrix, read_service_matrix

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


def test_values_that_mean_nothing_are_told_with_all_others(tmp_path: Path) -> None:
    place = tmp_path / "m.yaml"
    place.write_text(
        "config_matrix:\n"
        "  search_modes: [dense, lexical]\n"
        "  top_k_values:\n    - 5\n    - ten\n    - 0\n    - 5\n"
        "  score_thresholds: [null, 0]\n"
        "  chunkers: ['lines:20', lnes]\n"
        "  models: granit\n"
        "  rerankers: [maxsin]\n"
        "  primary_k: [5, 10]\n"
    )
    with pytest.raises(FormatError) as refused:
        read_matrix(place)
    assert str(refused.value).replace(f"{place}:", "").splitlines() == [
        (
            "2: config_matrix.search_modes[1]: 'lexical' is not a "
            "search mode; expected one of: bm25, sparse, dense, hybrid, splade, colbert; "
            "a profile, an engine or its file goes into engines: [lexical]"
        ),
        "5: config_matrix.top_k_values[1]: 'ten' is not a whole number",
        "6: config_matrix.top_k_values[2]: 0 is out of range; expected 1 or more",
        "7: config_matrix.top_k_values[3]: 5 appears more than once",
        "8: config_matrix.score_thresholds: null and 0 both drop nothing; expected one of them",
        "9: config_matrix.chunkers[1]: no chunker named 'lnes'; did you mean 'lines'?",
        "10: config_matrix.models: no embedder named 'granit'; did you mean 'granite'?",
        "11: config_matrix.rerankers[0]: no reranker named 'maxsin'; did you mean 'maxsim'?",
        "11: config_matrix.rerankers: no run has a reranker; expected true in use_reranker",
        "12: config_matrix.primary_k: ['5', '10'] is not a whole number",
    ]


def test_what_means_nothing_names_the_file(tmp_path: Path) -> None:
    place = tmp_path / "m.json"
    place.write_text('{"config_matrix": {"search_modes": []}}')
    with pytest.raises(FormatError, match=r"m\.json:1: config_matrix.search_modes: the list is em"):
        read_matrix(place)
    place.write_text('{"config_matrix": {}, "name": "a"}')
    with pytest.raises(FormatError, match="name: unknown key"):
        read_matrix(place)


@pytest.mark.parametrize("switch", ["", "use_reranker: false\n", "use_reranker: [false]\n"])
def test_a_reranker_that_no_run_has_is_refused(tmp_path: Path, switch: str) -> None:
    place = tmp_path / "m.yaml"
    place.write_text(f"{switch}rerankers: [maxsim]\n")
    with pytest.raises(FormatError, match="rerankers: no run has a reranker"):
        read_matrix(place)
    place.write_text("use_reranker: [false, true]\nrerankers: [maxsim]\n")
    assert read_matrix(place).rerankers == ("maxsim",)


def test_engines_stand_beside_modes(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("engine: command\ncommand: [rg, '{query}']\noutput: rg\n")
    place = tmp_path / "karat.yaml"
    place.write_text(
        "engines:\n  - {name: words, engine: keyword}\n"
        "  - {name: own, class: 'karat.engines.keyword:KeywordEngine'}\n"
        "matrix:\n  search_modes: [sparse]\n  top_k_values: [5, 10]\n"
        "  engines: [fast, mine.yaml, words, own, 'bm25(k1=2)']\n"
    )
    matrix = read_matrix(place)
    assert {name: spec.name for name, spec in matrix.engines.items()} == {
        "fast": "hybrid",
        "mine": "command",
        "words": "keyword",
        "own": "python",
        "bm25(k1=2)": "bm25",
    }
    assert matrix.engines["fast"].params == {"model": "static", "dense_weight": 0.3}
    assert matrix.count() == 2 * (1 + 5) == len(matrix.configurations())


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


def test_values_out_of_range_are_rejected_with_the_range(tmp_path: Path) -> None:
    place = tmp_path / "m.yaml"
    place.write_text(
        "search_modes: [hybrid]\ndense_weight: [0.3, 7]\nk1: -1\nb: 1.5\nfusion: rff\n"
        "rerank_depth: 0\nengines: [hybrd, 'hybrid(dense_weight=7)', fast, fast]\ndense_wieght: 1\n"
    )
    with pytest.raises(FormatError) as refused:
        read_matrix(place)
    lines = str(refused.value).replace(f"{place}:", "").splitlines()
    assert lines[-1].startswith("8: dense_wieght: unknown key; did you mean 'dense_weight'? valid ")
    assert lines[:-1] == [
        "2: dense_weight[1]: 7.0 is out of range; expected 0 to 1",
        "3: k1: -1.0 is out of range; expected 0 or more",
        "4: b: 1.5 is out of range; expected 0 to 1",
        "5: fusion: no fusion named 'rff'; known: rrf, min-max",
        "6: rerank_depth: 0 is out of range; expected 1 or more",
        "6: rerank_depth: no run has a reranker; expected true in use_reranker",
        "7: engines[0]: no engine named 'hybrd'; did you mean 'hybrid'?",
        "7: engines[1]: dense_weight=7.0; expected 0 to 1",
        "7: engines[3]: 'fast' appears more than once",
    ]


def test_an_axis_that_no_mode_uses_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("search_modes: [dense]\nk1: [1, 2]\n")
    with pytest.raises(
        FormatError, match="k1: no search mode uses it; expected one of: sparse, hy"
    ):
        read_matrix(tmp_path / "m.yaml")


def test_null_is_no_reranker(tmp_path: Path) -> None:
    place = tmp_path / "matrix.yaml"
    place.write_text("search_modes: [bm25]\nrerankers: [null, maxsim]\n")
    with pytest.raises(FormatError, match=r"null is not a reranker; use_reranker: \[false, true\]"):
        read_matrix(place)


def test_a_run_is_named_by_the_model_of_its_context(tmp_path: Path) -> None:
    place = tmp_path / "matrix.yaml"
    place.write_text(
        'search_modes: [bm25]\ncontext: [null, "http://localhost:1/v1#qwen?price=0,0"]\n'
    )
    names = [one.name for one in read_matrix(place).configurations()]
    assert names == ["sparse @10", "sparse context=qwen @10"]
