"""One configuration file with sections, and files that hold one section alone."""

from pathlib import Path

import pytest

from karat.app.benchmark_config import read_benchmark_config, read_gate_config
from karat.errors import FormatError, InputError
from karat.experiments.matrix_file import read_matrix
from karat.experiments.suites import suites

CONFIG = """\
dataset: {gold_set: gold.json}
engines:
  - {name: words, engine: keyword}
  - {name: bm25, engine: bm25}
metrics: [ndcg@10, mrr]
matrix: {search_modes: [sparse], top_k_values: [5, 10]}
suites:
  sizes:
    - {name: small, chunk_size: 64, embedding_model: static, use_reranker: false}
gate:
  min: {hit@5: 0.7, ndcg@10: 0.6}
  max_regression: 0.02
  max_latency: {p90: 200ms}
  max_lost_hits: 1
  min_queries: 20
  strict: true
  baseline: before.json
output: {directory: out}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "karat.yaml"
    path.write_text(CONFIG)
    return path


def test_each_reader_takes_its_section(config: Path, tmp_path: Path) -> None:
    content = read_benchmark_config(config)
    assert [agent.name for agent in content.agents] == ["words", "bm25"]
    assert (content.metrics, content.folder) == (("ndcg@10", "mrr"), str(tmp_path / "out"))
    assert {"matrix", "suites", "gate"} <= content.sections
    assert read_matrix(config).top_k_values == (5, 10)
    assert [each.name for each in suites(config)["sizes"]] == ["small"]
    gate = read_gate_config(config)
    assert gate.gold_set == str(tmp_path / "gold.json")
    assert gate.options == {
        "minimums": ["hit@5=0.7", "ndcg@10=0.6"],
        "regressions": ["0.02"],
        "latencies": ["p90=200ms"],
        "min_queries": "20",
        "lost_hits": "1",
        "strict": True,
        "baseline": str(tmp_path / "before.json"),
        "metrics": ("ndcg@10", "mrr"),
    }


def test_a_file_of_one_section_needs_no_heading(tmp_path: Path) -> None:
    matrix, own = tmp_path / "matrix.yaml", tmp_path / "suites.yaml"
    matrix.write_text("search_modes: [sparse]\ntop_k_values: 7\n")
    row = "[{name: a, chunk_size: 9, embedding_model: static, use_reranker: no}]"
    # The name of a section is a possible name of a suite too.
    own.write_text(f"suites: {row}\nmatrix: {row}\n")
    assert read_matrix(matrix).top_k_values == (7,)
    assert list(suites(own)) == ["suites", "matrix"]


def test_a_missing_section_is_named(tmp_path: Path) -> None:
    config = tmp_path / "karat.yaml"
    config.write_text("dataset: {gold_set: gold.json}\nmetrics: mrr\n")
    with pytest.raises(InputError, match="no section 'matrix'; the file has 'dataset', 'metrics'"):
        read_matrix(config)
    with pytest.raises(InputError, match="no section 'suites'"):
        suites(config)
    assert read_benchmark_config(config).metrics == ("mrr",)
    assert read_gate_config(config).options == {"metrics": ("mrr",)}


def test_unknown_keys_of_every_section_are_listed_with_the_valid_ones(tmp_path: Path) -> None:
    config = tmp_path / "karat.yaml"
    config.write_text(
        "matrix: {modes: [sparse]}\n"
        "gate: {least: 3, min: [hit@5]}\n"
        "suites: {a: [{name: b, size: 3}]}\n"
        "engine: bm25\n"
        "engines: []\n"
        "agents: []\n"
    )
    with pytest.raises(FormatError) as caught:
        read_benchmark_config(config)
    messages = [problem.message for problem in caught.value.problems]
    assert any(each.startswith("matrix.modes: unknown key") for each in messages)
    assert (
        "gate.least: unknown key; valid keys: min, max_regression, max_latency, max_lost_hits, "
        "min_queries, strict, baseline"
    ) in messages
    assert "gate.min: expected an object, found a list" in messages
    assert any("valid keys: name, chunk_size, embedding_model" in each for each in messages)
    assert any("engine: unknown key; did you mean 'engines'?" in each for each in messages)
    assert "agents: 'agents' and 'engines' mean the same; give one of them" in messages
