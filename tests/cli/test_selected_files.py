"""The files that an evaluation searches: the kind of the gold set, options, karat.yaml."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.formats import write
from karat.model import Dataset, Query, Target

Karat = Callable[..., CompletedProcess[str]]

GOLD = "query_key,query_text,path,relevance_grade\n1,log in,docs/login.md,1\n2,scan,scan.raw,1\n"
QUIET = ("--timed", "none", "-m", "hit@5", "--draws", "99")


@pytest.fixture
def shop(folder: Path) -> Path:
    shop = folder / "shop"
    (shop / "docs").mkdir(parents=True)
    (shop / "docs" / "login.md").write_text("# Log in\n")
    (shop / "login.py").write_text("def log_in(): ...\n")
    (shop / "scan.raw").write_bytes(b"\0")
    (folder / "both.csv").write_text(GOLD)
    (folder / "docs.csv").write_text("\n".join(GOLD.splitlines()[:2]) + "\n")
    return shop


def test_a_kind_is_proposed_with_both_figures(karat: Karat, shop: Path) -> None:
    (shop / "docs" / "login.md").write_text("# Log in\nOpen the page, enter a name and a word.\n")
    options = ("evaluate", "docs.csv", "--corpus", "shop", "--timed", "none", "-m", "mrr")
    done = karat(*options)
    assert (
        "all targets are documentation: --kind docs would leave out 1 file of other kinds; "
        "without their hits, mrr of bm25 is about 1.000 instead of 0.500"
    ) in " ".join(done.stdout.split())
    chosen = karat(*options, "--kind", "docs", "--details").stdout
    assert "candidates: documentation (--kind), tests included" in chosen
    assert "all targets are" not in chosen
    assert "1.0000" in chosen
    assert "all targets are" not in karat(*options, "--kind", "all").stdout


def test_no_kind_is_proposed_if_it_changes_nothing(karat: Karat, shop: Path) -> None:
    options = ("evaluate", "docs.csv", "--corpus", "shop", *QUIET)
    assert "all targets are" not in karat(*options).stdout


def test_the_kind_of_a_gold_set_is_announced(karat: Karat, shop: Path, folder: Path) -> None:
    gold = Dataset.of([Query("q", "log in", (Target("docs/login.md"),))], metadata={"kind": "docs"})
    write(gold, folder / "made.json", format="gold")
    done = karat(
        "evaluate", "made.json", "--corpus", "shop", "-o", "report.md", *QUIET, "--details"
    )
    assert (
        "the gold set is for documentation: 1 other file is not searched (--kind all includes it)\n"
    ) in done.stderr
    assert "candidates: documentation (declared by the gold set), tests included" in done.stdout
    report = (folder / "report.md").read_text()
    assert "| Kind of file | docs (declared by the gold set) |" in report


def test_a_target_in_a_skipped_file_is_explained(karat: Karat, shop: Path, folder: Path) -> None:
    options = ("evaluate", "both.csv", "--corpus", "shop", *QUIET)
    done = karat(*options, "-o", "report.md")
    assert (
        "1 of 2 targets is not searched: scan.raw is binary; it counts as missed\n" in done.stdout
    )
    details = karat(*options, "--details").stdout
    assert "1 of 2 targets exists, is not searched and counts as missed\n" in details
    assert "not searched: scan.raw is binary" in details
    assert "do not exist" not in done.stdout
    assert "scan.raw is binary" in (folder / "report.md").read_text()
    searched = json.loads(karat(*options, "--json").stdout)["searched"]
    assert (searched["left_out"], searched["skipped_targets"]) == (1, {"scan.raw": "binary"})


def test_the_method_names_selection_and_skipped_files(
    karat: Karat, shop: Path, folder: Path
) -> None:
    options = ("--kind", "docs", "--exclude", "old/", "-o", "report.md")
    assert karat("evaluate", "docs.csv", "--corpus", "shop", *options, *QUIET).returncode == 0
    report = (folder / "report.md").read_text()
    assert "| Kind of file | docs (--kind) |" in report
    assert "| Excluded files | old/ |" in report
    assert "| Skipped files | 1 file: 1 binary (scan.raw) |" in report


def test_the_command_line_overrides_the_file(karat: Karat, shop: Path, folder: Path) -> None:
    (folder / "karat.yaml").write_text(
        "dataset: {gold_set: docs.csv}\nengines: [{name: bm25, engine: bm25}]\n"
        "corpus: {kind: all, exclude: ['*.py']}\n"
    )
    common = ("evaluate", "--config", "karat.yaml", "--corpus", "shop", *QUIET)
    assert "without *.py" in karat(*common, "--details").stdout
    other = karat(*common, "--kind", "docs", "--exclude", "x", "--details")
    assert "documentation (--kind), tests included; without x" in other.stdout, other.stderr


def test_run_files_take_no_selection(karat: Karat, folder: Path) -> None:
    done = karat("compare", "gold.qrels", "old.run", "new.run", "--kind", "docs")
    assert (done.returncode, "--kind: only for engines" in done.stderr) == (2, True)
