"""The file that `karat init` writes, and its gate."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

Karat = Callable[..., CompletedProcess[str]]


def test_the_gate_of_the_file(karat: Karat, folder: Path) -> None:
    (folder / "gold.qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
    (folder / "new.run").write_text("q1 Q0 a 1 2.0 x\nq2 Q0 c 1 2.0 x\n")
    config = folder / "karat.yaml"
    config.write_text("dataset: {gold_set: gold.qrels}\ngate: {min: {hit@5: 0.9}}\n")
    done = karat("gate", "new.run", "--config", "karat.yaml")
    assert done.returncode == 1, done.stderr
    assert "hit@5 must be at least 0.9" in done.stdout
    # An option overrides the file.
    assert karat("gate", "new.run", "--config", "karat.yaml", "--min", "hit@5=0.5").returncode == 0
    config.write_text("gate: {min_queries: few}\n")
    done = karat("gate", "gold.qrels", "new.run", "--config", "karat.yaml")
    assert done.returncode == 2
    assert done.stderr.startswith("error: karat.yaml:1: gate: 'few' is not a valid")


def test_a_folder_without_a_history_is_told_what_to_set(karat: Karat, folder: Path) -> None:
    done = karat("init")
    assert done.returncode == 0
    assert "is not in a Git repository: first set repository_path or gold_set" in done.stdout


def test_a_file_is_not_replaced_by_accident(karat: Karat, folder: Path) -> None:
    (folder / "mine.yaml").write_text("mine")
    done = karat("init", "mine.yaml")
    assert done.returncode == 2
    assert "mine.yaml exists already; --force replaces it" in done.stderr
    assert karat("init", "mine.yaml", "--force").returncode == 0
    assert "--config mine.yaml" in (folder / "mine.yaml").read_text(encoding="utf-8")
