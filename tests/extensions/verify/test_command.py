"""karat verify: a report is run again by what it keeps."""

import json
import shutil
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.cli import main

Karat = Callable[..., CompletedProcess[str]]

NAMES = ("login", "logout", "reset")
EVALUATE = (
    *("evaluate", "names.csv", "--corpus", "project", "-e", "bm25", "-e", "keyword"),
    *("--timed", "none", "--draws", "99"),
)


def write_project(folder: Path) -> Path:
    """Write a project of three files, and `names.csv` beside it."""
    project = folder / "project"
    project.mkdir()
    for name in NAMES:
        (project / f"{name}.py").write_text(f"def {name}(): ...\n", encoding="utf-8")
    rows = "".join(f"where is {name},{name}.py:1-1:1\n" for name in NAMES)
    (folder / "names.csv").write_text(f"query,result1\n{rows}", encoding="utf-8")
    return project


@pytest.fixture
def project(folder: Path) -> Path:
    """Return a folder of three files; `names.csv` lies beside it."""
    return write_project(folder)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a project, a report on it and the store of its runs."""
    folder = tmp_path_factory.mktemp("evaluated")
    write_project(folder)
    with chdir(folder), pytest.raises(SystemExit) as caught:
        main([*EVALUATE, "-o", "report.json"])
    assert not caught.value.code
    return folder


@pytest.fixture
def report(evaluated: Path, folder: Path) -> Path:
    """Return a report in the current folder, among copies of all that it needs."""
    shutil.copytree(evaluated, folder, dirs_exist_ok=True)
    return folder / "report.json"


@pytest.mark.parametrize("name", ["report.html", "report.json"])
def test_the_same_comes_out(karat: Karat, project: Path, name: str) -> None:
    written = karat(*EVALUATE, "-o", name)
    assert written.returncode == 0, written.stderr
    done = karat("verify", name)
    assert (done.returncode, done.stdout) == (0, "identical: 2 runs, 6 answers\n")
    assert done.stderr == ""


def test_what_differs(karat: Karat, project: Path, folder: Path) -> None:
    karat(*EVALUATE)
    assert karat("report", "latest", "-o", "report.json").returncode == 0
    (project / "login.py").write_text("def enter(): ...\n", encoding="utf-8")
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    report["origin"]["records"][0]["versions"]["karat"] = "0.0.1"
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")
    done = karat("verify", "report.json")
    assert done.returncode == 1
    first, *others = done.stdout.splitlines()
    assert first == "different: 2 runs, 6 answers"
    assert others[0].startswith("  the documents changed: their digest was ")
    assert others[1:] == ["  bm25: 1 of 3 answers: 1", "  keyword: 1 of 3 answers: 1"]
    assert "note: karat was 0.0.1 and is now" in done.stderr
    verification = json.loads(karat("verify", "report.json", "--json").stdout)
    assert (verification["identical"], len(verification["differences"])) == (False, 3)


def test_on_another_machine(karat: Karat, project: Path, folder: Path) -> None:
    karat(*EVALUATE, "-o", "report.html")
    project.rename(folder / "moved")
    (folder / ".karat" / "karat.db").unlink()
    lost = karat("verify", "report.html")
    assert lost.returncode == 2
    assert "no results stored yet" in lost.stderr
    done = karat("verify", "report.html", "--gold-set", "names.csv", "--place", "moved")
    assert (done.returncode, done.stdout) == (0, "identical: 2 runs, 6 answers\n")
    other = karat("verify", "report.html", "--gold-set", "code.csv", "--place", "moved")
    assert other.returncode == 2
    assert "is not the gold set of the report" in other.stderr


def test_a_report_runs_no_program_that_nobody_trusts(
    karat: Karat, report: Path, folder: Path
) -> None:
    content = json.loads(report.read_text(encoding="utf-8"))
    program = {"name": "command", "options": {"command": ["touch", str(folder / "harm")]}}
    content["origin"]["records"][0]["engine"] = program
    report.write_text(json.dumps(content), encoding="utf-8")
    refused = karat("verify", "report.json")
    assert refused.returncode == 2
    assert "engines that are not built in: bm25 (command)" in refused.stderr
    assert not (folder / "harm").exists()
    assert karat("verify", "report.json", "--trust").returncode == 1
    assert (folder / "harm").exists()


MODULE = "from pathlib import Path\n\nPath('harm').touch()\n"


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("dense", {"model": "harmful:Embedder"}),
        ("rerank", {"over": "bm25", "model": "harmful:Reranker"}),
        ("rerank", {"over": {"engine": "bm25", "chunker": "harmful:Chunker"}}),
    ],
)
def test_a_report_imports_nothing_that_nobody_trusts(
    karat: Karat, report: Path, folder: Path, engine: str, options: dict[str, object]
) -> None:
    (folder / "harmful.py").write_text(MODULE, encoding="utf-8")
    content = json.loads(report.read_text(encoding="utf-8"))
    content["origin"]["records"][0]["engine"] = {"name": engine, "options": options}
    report.write_text(json.dumps(content), encoding="utf-8")
    refused = karat("verify", "report.json")
    assert refused.returncode == 2
    assert "engines that are not built in: bm25 (" in refused.stderr
    assert "=harmful:" in refused.stderr
    assert not (folder / "harm").exists()
    # Trusted, it is imported, and lacks what it should hold.
    assert karat("verify", "report.json", "--trust").returncode in (1, 2)
    assert (folder / "harm").exists()


def test_a_report_that_matches_by_a_module(karat: Karat, report: Path, folder: Path) -> None:
    (folder / "harmful.py").write_text(MODULE, encoding="utf-8")
    content = json.loads(report.read_text(encoding="utf-8"))
    for record in content["origin"]["records"]:
        record["match"] = "harmful:matcher"
    report.write_text(json.dumps(content), encoding="utf-8")
    refused = karat("verify", "report.json", "--trust")
    assert refused.returncode == 2
    assert "no matcher named 'harmful:matcher'" in refused.stderr
    assert not (folder / "harm").exists()


@pytest.mark.parametrize("where", [{}, {"corpus": 7}, {"shell": "sh"}])
def test_a_report_that_says_no_place(
    karat: Karat, report: Path, folder: Path, where: dict[str, object]
) -> None:
    content = json.loads(report.read_text(encoding="utf-8"))
    for record in content["origin"]["records"]:
        record["where"] = {**record["where"], **where} if where else {}
    report.write_text(json.dumps(content), encoding="utf-8")
    refused = karat("verify", "report.json")
    assert refused.returncode == 2
    assert "the searched corpus is recorded as" in refused.stderr


@pytest.mark.parametrize("name", ["out.html", "out.json"])
def test_run_files_cannot_be_run_again(karat: Karat, folder: Path, name: str) -> None:
    karat("report", "gold.qrels", "old.run", "-o", name, "--draws", "99")
    done = karat("verify", name)
    assert done.returncode == 2
    assert f"{name} has no run records" in done.stderr


def test_a_report_that_keeps_no_runs_by_its_kind(karat: Karat, folder: Path) -> None:
    karat("report", "gold.qrels", "old.run", "-o", "out.md", "--draws", "99")
    done = karat("verify", "out.md")
    assert done.returncode == 2
    assert "out.md: karat verify reads only .html and .json reports" in done.stderr
