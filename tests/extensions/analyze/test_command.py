"""karat analyze looks behind the scores, in words and as JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]


@pytest.fixture(autouse=True)
def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a small project beside FILES, and a gold set for it."""
    monkeypatch.setenv("KARAT_CACHE", str(folder / "cache"))
    path = folder / "project"
    path.mkdir()
    for name in ("login", "mail", "canvas"):
        (path / f"{name}.py").write_text(f"def {name}(user):\n    return {name}_of(user)\n")
    (path / "blank.py").write_text("\n")
    (path / "scan.raw").write_bytes(b"\0")
    cases = [
        {"id": name, "query": f"where is {name}", "ground_truth_files": [f"{name}.py"]}
        for name in ("login", "mail")
    ]
    (folder / "small.json").write_text(json.dumps({"test_cases": cases, "metadata": {}}))
    return path


@pytest.mark.together_with("models")
def test_topics(karat: Karat) -> None:
    done = karat("analyze", "topics", "code.csv", "code.jsonl", "--model", "static", "-m", "hit@5")
    assert done.returncode == 0, done.stderr
    assert "hit@5 by topic" in done.stdout
    assert "similarity of queries: static" in done.stdout
    printed = karat("analyze", "topics", "code.csv", "code.jsonl", "--model", "static", "--json")
    assert json.loads(printed.stdout)["topics"][0]["query_ids"] == ["1", "2", "3"]


@pytest.mark.together_with("models")
def test_embedding(karat: Karat) -> None:
    done = karat("analyze", "embedding", "small.json", "project", "--model", "static", "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert (printed["model"], printed["queries"], printed["chunks"]) == ("static", 2, 3)
    assert (printed["skipped"], printed["skipped_files"]) == (
        {"binary": 1},
        {"binary": ["scan.raw"]},
    )
    assert "separation" in karat("analyze", "embedding", "small.json", "project").stdout


def test_index(karat: Karat) -> None:
    done = karat("analyze", "index", "project", "--gold", "small.json", "-k", "1", "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert (printed["skipped"], printed["skipped_files"]) == (
        {"binary": 1},
        {"binary": ["scan.raw"]},
    )
    flaws = {flaw["kind"]: flaw for flaw in printed["flaws"]}
    assert flaws["file without a chunk"]["places"] == ["blank.py"]
    assert flaws["never retrieved"]["places"] == ["canvas.py:1-2"]
    assert "file without a chunk" in karat("analyze", "index", "project").stdout


def test_trend(karat: Karat, experiment_id: str) -> None:
    done = karat("analyze", "trend", "-m", "mrr")
    assert done.returncode == 0, done.stderr
    assert "mrr over time" in done.stdout
    assert f"{experiment_id}.1" in done.stdout
    printed = json.loads(karat("analyze", "trend", f"{experiment_id}.1", "--json").stdout)
    (trend,) = printed["trends"]
    assert trend["points"][0]["verdict"] == "first"


def test_without_a_store_there_is_no_trend(karat: Karat) -> None:
    done = karat("analyze", "trend")
    assert done.returncode == 2
    assert "no results stored yet" in done.stderr


def test_the_engine_needs_its_option(karat: Karat) -> None:
    done = karat("analyze", "index", ".", "bm25", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[:2] == [
        "error: Unexpected bm25: the engine needs --engine; type",
        "  karat analyze index . --engine bm25 --json",
    ]


def test_an_unknown_analysis_names_those_that_exist(karat: Karat) -> None:
    done = karat("analyze", "foo")
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such command 'foo'. Commands: embedding, index, topics, trend." in done.stderr
