"""The files that an evaluation searches: the kind of the targets, options, karat.yaml."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

GOLD = "query_key,query_text,path,relevance_grade\n1,log in,docs/login.md,1\n2,scan,scan.raw,1\n"
QUIET = ("--timed", "none", "-m", "hit@5", "--draws", "99")


@pytest.fixture
def shop(folder: Path) -> Path:
    place = folder / "shop"
    (place / "docs").mkdir(parents=True)
    (place / "docs" / "login.md").write_text("# Log in\n")
    (place / "login.py").write_text("def log_in(): ...\n")
    (place / "scan.raw").write_bytes(b"\0")
    (folder / "both.csv").write_text(GOLD)
    (folder / "docs.csv").write_text("\n".join(GOLD.splitlines()[:2]) + "\n")
    return place


def test_the_kind_of_the_targets_is_announced(karat: Karat, shop: Path) -> None:
    done = karat("evaluate", "docs.csv", "--corpus", "shop", *QUIET)
    assert done.returncode == 0, done.stderr
    assert (
        "all targets are documentation: 1 other file is not searched (--kind all includes it)\n"
        "skipped 1 file: 1 binary (scan.raw)\n"
    ) in done.stderr
    assert "candidates: documentation, tests included" in done.stdout
    every = karat("evaluate", "docs.csv", "--corpus", "shop", "--kind", "all", *QUIET)
    assert "all targets are" not in every.stderr
    assert "2 documents" in every.stdout


def test_a_target_in_a_skipped_file_is_explained(karat: Karat, shop: Path) -> None:
    done = karat("evaluate", "both.csv", "--corpus", "shop", *QUIET)
    assert "target scan.raw exists and was not searched: binary" in done.stdout


def test_the_method_names_selection_and_skipped_files(
    karat: Karat, shop: Path, folder: Path
) -> None:
    options = ("--kind", "docs", "--exclude", "old/", "-o", "report.md")
    assert karat("evaluate", "docs.csv", "--corpus", "shop", *options, *QUIET).returncode == 0
    report = (folder / "report.md").read_text()
    assert "| Kind of file | docs |" in report
    assert "| Excluded files | old/ |" in report
    assert "| Skipped files | 1 file: 1 binary (scan.raw) |" in report


def test_the_command_line_overrides_the_file(karat: Karat, shop: Path, folder: Path) -> None:
    (folder / "karat.yaml").write_text(
        "dataset: {gold_set: docs.csv}\nengines: [{name: bm25, engine: bm25}]\n"
        "corpus: {kind: all, exclude: ['*.py']}\n"
    )
    common = ("evaluate", "--config", "karat.yaml", "--corpus", "shop", *QUIET)
    assert "without *.py" in karat(*common).stdout
    other = karat(*common, "--kind", "docs", "--exclude", "x")
    assert "documentation, tests included; without x" in other.stdout, other.stderr


def test_run_files_take_no_selection(karat: Karat, folder: Path) -> None:
    done = karat("compare", "gold.qrels", "old.run", "new.run", "--kind", "docs")
    assert (done.returncode, "--kind: only for engines" in done.stderr) == (2, True)
