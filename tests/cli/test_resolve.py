"""karat resolve on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.formats import read_dataset

Karat = Callable[..., CompletedProcess[str]]

GOLD = {
    "test_cases": [
        {
            "id": "login",
            "query": "How do I log in?",
            "targets": [
                {"path": "file:///srv/docs/login.md", "ref": "uri", "grade": 3},
                {"path": "gone.md", "ref": "file_name", "grade": 2},
            ],
        }
    ]
}


@pytest.fixture
def docs(folder: Path) -> Path:
    """Return a folder with one document, and the gold set `docs.json` beside it."""
    (folder / "docs.json").write_text(json.dumps(GOLD), encoding="utf-8")
    folder_of_docs = folder / "project" / "docs"
    folder_of_docs.mkdir(parents=True)
    (folder_of_docs / "login.md").write_text("# Login\nHow to log in.", encoding="utf-8")
    return folder_of_docs.parent


def test_what_was_found(karat: Karat, docs: Path) -> None:
    done = karat("resolve", "docs.json", "project")
    assert done.returncode == 0
    assert done.stdout == (
        "docs.json: 1 of 2 references found\n  not_found: 1\n  written: nothing (-o FILE)\n"
    )
    assert done.stderr == "not_found: query 'login': file_name 'gone.md'\n"


def test_the_set_with_paths_is_written(karat: Karat, docs: Path, folder: Path) -> None:
    done = karat("resolve", "docs.json", "project", "-o", "new.json", "--strict", "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert (document["status"], document["mapped_count"], document["total_count"]) == (
        "partial",
        1,
        2,
    )
    assert document["unresolved"][0]["doc_ref"] == {"file_name": "gone.md"}
    targets = read_dataset(folder / "new.json", format="gold").targets(0)
    assert [(target.path, target.ref) for target in targets] == [
        ("docs/login.md", "path"),
        ("gone.md", "file_name"),
    ]


def test_a_file_is_not_replaced_by_accident(karat: Karat, docs: Path) -> None:
    done = karat("resolve", "docs.json", "project", "-o", "docs.json", "--force")
    assert done.returncode == 2
    assert "is the input" in done.stderr


def test_an_evaluation_finds_the_documents(karat: Karat, docs: Path) -> None:
    done = karat("evaluate", "docs.json", "--corpus", "project", "--timed", "none")
    assert done.returncode == 0
    assert "1 of 2 targets does not exist in project: " in done.stdout
    assert "not found in the corpus, counted as missed; query 'login': file_name" in done.stderr
    Path("project/docs/login.md").rename("project/docs/other.md")
    done = karat("evaluate", "docs.json", "--corpus", "project")
    assert done.returncode == 2
    assert "none of the 2 targets of docs.json is in project" in done.stderr


def test_evaluate_finds_quotes_by_itself(karat: Karat, docs: Path) -> None:
    (docs / "docs" / "copy.md").write_text("A copy.\n# Login", encoding="utf-8")
    Path("gold.csv").write_text("question,quote\nlogin,# Login\ngone,It is gone.\n")
    options = ("--corpus", "project", "--timed", "none")
    done = karat("evaluate", "gold.csv", *options, "-m", "recall@1")
    assert done.returncode == 0
    assert "1 of 2 references: found in several places; a hit on any of them" in done.stderr
    assert "1 of 2 references: not found in the corpus, counted as missed; quer" in done.stderr
    assert "1 of 2 targets does not exist in project: " in done.stdout


def test_sweep_finds_uris_by_itself(karat: Karat, docs: Path) -> None:
    targets = [{"path": "file:///srv/docs/login.md", "ref": "uri"}]
    case = {"id": "q", "query": "login", "targets": targets}
    Path("gold.json").write_text(json.dumps({"test_cases": [case]}), encoding="utf-8")
    options = ("--corpus", str(docs), "--timed", "none")
    Path("matrix.yaml").write_text("search_modes: [sparse]\n")
    done = karat("sweep", "gold.json", *options, "--matrix", "matrix.yaml", "--details")
    assert done.returncode == 0, done.stderr
    assert "the only target exists in" in done.stdout


def test_difficulty_of_a_set_without_it(karat: Karat, docs: Path) -> None:
    (docs / "docs" / "login.md").write_text("How users log in with a password.\n")
    rows = ("users log in password", "users log out slowly today", "how to begin", "the")
    Path("gold.csv").write_text(
        "query,path\n" + "".join(f"{text},docs/login.md\n" for text in rows) + "x,gone.md\n"
    )
    options = ("--corpus", "project", "--timed", "none", "-m", "hit@1")
    done = karat("evaluate", "gold.csv", *options, "--by", "difficulty", "--by", "file_type")
    assert done.returncode == 0, done.stderr
    _, by_difficulty, by_type = (part.split() for part in done.stdout.split("\n\n")[-3:])
    assert {"easy", "medium", "hard", "unknown"} <= set(by_difficulty)
    assert ".md" in by_type
    Path("a.run").write_text("1 Q0 docs/login.md 1 1 t\n")
    done = karat("score", "gold.csv", "a.run", "--by", "difficulty")
    assert done.returncode == 2
    assert "available: file-type; karat evaluate derives it from the documents" in done.stderr


def test_a_skipped_file_is_not_called_missing(karat: Karat, docs: Path, folder: Path) -> None:
    (docs / "docs" / "gone.md").write_bytes(b"\0")
    done = karat("resolve", "docs.json", "project")
    assert "  skipped: 1" in done.stdout
    assert "skipped 1 file: 1 binary (docs/gone.md)" in done.stderr
    assert "docs/gone.md exists but was skipped (binary)" in done.stderr
    value = json.loads(karat("resolve", "docs.json", "project", "--json").stdout)
    assert value["skipped"] == {"binary": 1}
    assert value["skipped_files"] == {"binary": ["docs/gone.md"]}
    (lost,) = value["unresolved"]
    assert (lost["reason"], lost["candidates"], lost["detail"]) == (
        "skipped",
        ["docs/gone.md"],
        "binary",
    )


def test_a_page_becomes_its_lines(karat: Karat, docs: Path, folder: Path) -> None:
    (docs / "manual.txt").write_text("one\n\ftwo\nthree\n", encoding="utf-8")
    targets = [{"path": "manual.txt#page=2", "ref": "uri"}]
    case = {"id": "a", "query": "two", "targets": targets}
    (folder / "pages.json").write_text(json.dumps({"test_cases": [case]}), encoding="utf-8")
    done = karat("resolve", "pages.json", "project", "-o", "found.json")
    assert done.returncode == 0, done.stderr
    assert "1 of 1 reference found" in done.stdout
