"""A matrix from a file: alone or below its key, as YAML or as JSON."""

from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.experiments.matrix_file import read_matrix


def test_values_that_mean_nothing_are_told_with_all_others(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(
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
        read_matrix(path)
    assert str(refused.value).replace(f"{path}:", "").splitlines() == [
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


@pytest.mark.parametrize("switch", ["", "use_reranker: false\n", "use_reranker: [false]\n"])
def test_a_reranker_that_no_run_has_is_refused(tmp_path: Path, switch: str) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(f"{switch}rerankers: [maxsim]\n")
    with pytest.raises(FormatError, match="rerankers: no run has a reranker"):
        read_matrix(path)
    path.write_text("use_reranker: [false, true]\nrerankers: [maxsim]\n")
    assert read_matrix(path).rerankers == ("maxsim",)


def test_engines_stand_beside_modes(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("engine: command\ncommand: [rg, '{query}']\noutput: rg\n")
    path = tmp_path / "karat.yaml"
    path.write_text(
        "engines:\n  - {name: words, engine: keyword}\n"
        "  - {name: own, class: 'karat.engines.keyword:KeywordEngine'}\n"
        "matrix:\n  search_modes: [sparse]\n  top_k_values: [5, 10]\n"
        "  engines: [fast, mine.yaml, words, own, 'bm25(k1=2)']\n"
    )
    matrix = read_matrix(path)
    assert {name: spec.name for name, spec in matrix.engines.items()} == {
        "fast": "hybrid",
        "mine": "command",
        "words": "keyword",
        "own": "python",
        "bm25(k1=2)": "bm25",
    }
    assert matrix.engines["fast"].params == {"model": "static", "dense_weight": 0.3}
    assert matrix.count() == 2 * (1 + 5) == len(matrix.configurations())


def test_values_out_of_range_are_rejected_with_the_range(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(
        "search_modes: [hybrid]\ndense_weight: [0.3, 7]\nk1: -1\nb: 1.5\nfusion: rff\n"
        "rerank_depth: 0\nengines: [hybrd, 'hybrid(dense_weight=7)', fast, fast]\ndense_wieght: 1\n"
    )
    with pytest.raises(FormatError) as refused:
        read_matrix(path)
    lines = str(refused.value).replace(f"{path}:", "").splitlines()
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


def test_a_run_is_named_by_the_model_of_its_context(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_text(
        'search_modes: [bm25]\ncontext: [null, "http://localhost:1/v1#qwen?price=0,0"]\n'
    )
    names = [one.name for one in read_matrix(path).configurations()]
    assert names == ["sparse @10", "sparse context=qwen @10"]
