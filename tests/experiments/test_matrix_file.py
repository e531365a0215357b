"""A matrix from a file: alone or below its key, as YAML or as JSON."""

from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.experiments.matrix import Matrix, read_matrix

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
        "models, rerankers, k_values_for_metrics, primary_k",
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
            "search mode; expected one of: sparse, dense, hybrid"
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
