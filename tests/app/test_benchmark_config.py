"""A benchmark in one YAML file."""

from pathlib import Path

import pytest

from karat.app.benchmark_config import read_benchmark_config
from karat.errors import FormatError
from karat.experiments.matrix_file import read_matrix
from tests.extension_kit import install_gold_source

AGENT = """
class Agent:
    def __init__(self, depth: int = 1): ...
    def initialize(self, repo_path): ...
    def retrieve(self, query): ...
    def reset(self): ...
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "benchmark.yaml"


def test_everything(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_search.py").write_text(AGENT)
    config.write_text(
        """
dataset: {gold_set: gold.json}
evaluation: {num_runs: 5, timeout_seconds: 2.5, randomize_order: yes}
agents:
  - {name: words, class: KeywordSearchAgent, config: {case_sensitive: true, top_k: 7}}
  - {name: bm25, engine: "bm25(k1=1.2)", config: {b: 0.5}}
  - {name: own, class: "own_search:Agent", config: {depth: 3}}
output: {directory: out, formats: [csv], generate_visualizations: true}
"""
    )
    content = read_benchmark_config(config)
    assert (content.gold_set, content.source) == (str(tmp_path / "gold.json"), "")
    assert content.settings == {}
    assert (content.repetitions, content.timeout_s) == (5, 2.5)
    words, bm25, own = content.agents
    assert (words.spec.name, words.k) == ("keyword", 7)
    assert dict(words.spec.params) == {"case_sensitive": "true"}
    assert dict(bm25.spec.params) == {"k1": "1.2", "b": "0.5"}
    assert (bm25.configuration(9).k, words.configuration(9).k) == (9, 7)
    assert own.spec.name == "python"
    assert own.spec.params == {"class": "own_search:Agent", "options": {"depth": "3"}}
    assert (content.folder, content.formats, content.charts) == (
        str(tmp_path / "out"),
        ("csv",),
        True,
    )


def test_what_is_not_said(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_gold_source(monkeypatch)
    config.write_text("dataset: {origin: there, amount: 2}\n")
    content = read_benchmark_config(config)
    assert (content.gold_set, content.source) == (None, "empty")
    assert content.settings == {"repositories": ["there"], "amount": "2"}
    assert (content.agents, content.repetitions, content.timeout_s) == ((), None, None)
    assert (content.folder, content.charts) == (None, False)
    config.write_text("output:\n")
    assert read_benchmark_config(config).folder == str(tmp_path / "benchmark_results")


def test_here_is_the_folder_of_the_file(config: Path, tmp_path: Path) -> None:
    config.write_text(
        "engines: [{name: own, engine: command, config: {command: [sh, '{here}/find.sh']}}]\n"
        "matrix: {engines: [own]}\n"
    )
    expected = ["sh", f"{tmp_path}/find.sh"]
    (own,) = read_benchmark_config(config).agents
    assert own.spec.params["command"] == expected
    assert read_matrix(config).engines["own"].params["command"] == expected


def test_all_problems_at_once(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_gold_source(monkeypatch)
    config.write_text(
        """\
dataset:
  gold_set: gold.json
  amount: 2
evaluation:
  num_runs: none
  timeout_seconds: 0
  randomize_order: false
  repeat: 3
agents:
  - name: a
    class: KeywordSearch
  - name: b
    class: HybridAgent
    engine: bm25
  - name: c
    engine: keyword
    config: {windw: 3}
  - name: c
    engine: bm25
    config: {top_k: 0, model: granit, k2: 3}
  - engine: bm25
output:
  formats: [pdf]
  generate_visualizations: maybe
"""
    )
    with pytest.raises(FormatError) as caught:
        read_benchmark_config(config)
    lines = [(problem.line, problem.message) for problem in caught.value.problems]
    problems = {
        line: [message.partition(": ")[2] for at, message in lines if at == line]
        for line, _ in lines
    }
    assert problems[2] == ["cannot be combined with mining settings; expected it alone"]
    assert problems[5] == ["'none' is not a whole number above 0"]
    assert problems[6] == ["'0' is not a number above 0"]
    assert problems[7] == ["the order is always random, with a stored seed; expected true"]
    assert problems[8] == ["unknown key; valid keys: num_runs, timeout_seconds, randomize_order"]
    assert "KeywordSearchAgent, or module:Class" in problems[10][0]
    assert problems[12] == ["expected either 'class' or 'engine'"]
    assert "did you mean 'window'" in problems[15][0]
    assert [message.partition(";")[0] for message in problems[18]] == [
        "name 'c' appears more than once",
        "top_k '0' is not a whole number above 0",
        "no embedder named 'granit'",
        "bm25: no option 'k2'",
    ]
    assert problems[21] == ["'name' is missing"]
    assert problems[23] == [
        "'pdf' is not a valid format; expected one of: json, csv, markdown, html"
    ]
    assert problems[24] == ["'maybe' is neither true nor false"]


def test_files_to_search(config: Path) -> None:
    config.write_text("corpus: {kind: docs, include: [docs/], exclude: ['*.lock', old/]}\n")
    content = read_benchmark_config(config)
    assert (content.kind, content.include, content.exclude) == (
        "docs",
        ("docs/",),
        ("*.lock", "old/"),
    )
    config.write_text("corpus: {kind: prose, includes: [docs/]}\n")
    with pytest.raises(FormatError) as caught:
        read_benchmark_config(config)
    assert "kind 'prose' is not valid; expected one of: docs, code, all" in str(caught.value)
    assert "corpus.includes: unknown key; did you mean 'include'?" in str(caught.value)
