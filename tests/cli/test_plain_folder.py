"""A folder of Markdown files and a table of questions, some of whose paths are wrong."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

NAMES = ("warranty", "errors", "grinder", "app", "energy", "milk")
EVALUATE = ("--corpus", "docs", "-m", "hit@5", "--timed", "none", "--draws", "99")


@pytest.fixture(autouse=True)
def docs(folder: Path) -> Path:
    """Return a folder of six documents."""
    docs = folder / "docs"
    docs.mkdir()
    for name in NAMES:
        (docs / f"{name}.md").write_text(f"# {name}\n\nAll about {name}.\n", encoding="utf-8")
    return docs


@pytest.fixture
def table(folder: Path) -> Callable[..., str]:
    """Return a function that writes a table with one question for each cell."""

    def write(*cells: str) -> str:
        rows = "".join(f'"what about {Path(cell).stem}","{cell}"\n' for cell in cells)
        (folder / "questions.csv").write_text(f"query,documents\n{rows}", encoding="utf-8")
        return "questions.csv"

    return write


@pytest.mark.parametrize("command", [("evaluate", "-e"), ("compare", "--agents", "keyword")])
def test_rows_without_a_question_are_named_and_left_out(
    command: tuple[str, ...], karat: Karat, folder: Path
) -> None:
    rows = "query,documents\nthe app,app.md\n,milk.md\nthe grinder,grinder.md\n"
    (folder / "questions.csv").write_text(rows, encoding="utf-8")
    written = ("--run-out", "{engine}.jsonl")
    for words in (
        (command[0], "questions.csv", *command[1:], "bm25", *EVALUATE, *written),
        ("score", "questions.csv", "bm25.jsonl"),
    ):
        done = karat(*words)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("warning: ") == 1
        assert "warning: questions.csv:3: the query is empty; the row is left out\n" in done.stderr
        assert "2 queries" in done.stdout


def test_a_row_without_a_question_is_a_problem_of_the_file_alone(
    karat: Karat, folder: Path
) -> None:
    rows = "query,documents\nthe app,app.md\n,milk.md\nthe grinder,none.md\n"
    (folder / "questions.csv").write_text(rows, encoding="utf-8")
    done = karat("validate", "questions.csv", "--corpus", "docs")
    assert done.returncode == 2
    first, second, *_ = done.stderr.splitlines()
    assert first == "questions.csv:3: the query is empty"
    assert second.startswith("questions.csv: query '3': none.md is not in docs")
    assert "2 queries, 2 targets" in done.stdout
    done = karat("convert", "questions.csv", "gold.json")
    assert done.returncode == 0
    assert "gold.json: 2 queries" in done.stdout
    assert "warning: questions.csv:3: the query is empty; the row is left out\n" in done.stderr


def test_an_option_that_works_comes_before_the_scores(
    karat: Karat, table: Callable[..., str]
) -> None:
    gold = table("docs/app.md", "docs/errors.md", "docs/milk.md", "energy.md")
    done = karat("evaluate", gold, *EVALUATE)
    assert done.returncode == 0
    warning = next(line for line in done.stderr.splitlines() if line.startswith("warning: "))
    assert warning == (
        "warning: 3 of 4 targets (75.0%) do not exist in docs and count as missed: docs/app.md, "
        "docs/errors.md, docs/milk.md; all of them exist without docs/: add --root docs"
    )
    better = karat("evaluate", gold, *EVALUATE, "--root", "docs", "--details")
    assert "warning" not in better.stderr
    assert "all 4 targets exist" in better.stdout


def test_no_option_is_given_that_breaks_other_targets(
    karat: Karat, table: Callable[..., str], docs: Path
) -> None:
    (docs / "more").mkdir()
    (docs / "more" / "beans.md").write_text("beans", encoding="utf-8")
    done = karat("evaluate", table("more/beans.md", "more/app.md"), *EVALUATE)
    assert "--root" not in done.stderr
    assert "1 of 2 targets (50.0%) does not exist in docs" in done.stderr
    assert "it exists in another folder: add --match suffix" in done.stderr


def test_few_missing_targets_need_no_warning(karat: Karat, table: Callable[..., str]) -> None:
    done = karat("evaluate", table("app.md", "milk.md", "errors.md", "gone.md"), *EVALUATE)
    assert "warning" not in done.stderr


def test_the_error_has_the_option_too(karat: Karat, table: Callable[..., str]) -> None:
    done = karat("evaluate", table("docs/app.md", "docs/milk.md"), *EVALUATE)
    assert done.returncode == 2
    assert "is in docs; all of them exist without docs/: add --root docs" in done.stderr


@pytest.mark.parametrize(
    ("cell", "hint"),
    [
        ("waranty.md", "did you mean warranty.md?"),
        ("App.md", "did you mean app.md?"),
        ("energy", "did you mean energy.md?"),
    ],
)
def test_a_similar_name_is_suggested(
    karat: Karat, table: Callable[..., str], cell: str, hint: str
) -> None:
    gold = table("milk.md", cell)
    done = karat("evaluate", gold, *EVALUATE)
    assert f"{cell} ({hint})" in done.stderr
    assert f"{cell} ({hint})" in done.stdout
    assert f"path {cell!r}; {hint}\n" in karat("resolve", gold, "docs").stderr
    assert f"{cell}: {hint}" in karat("evaluate", table(cell), *EVALUATE).stderr


def test_documents_that_are_separated_by_commas(karat: Karat, table: Callable[..., str]) -> None:
    gold = table("milk.md", "errors.md,grinder.md")
    hint = "separate documents with | or ;"
    assert f"errors.md,grinder.md ({hint})" in karat("evaluate", gold, *EVALUATE).stderr
    assert f"path 'errors.md,grinder.md'; {hint}" in karat("resolve", gold, "docs").stderr
    checked = karat("validate", gold)
    assert checked.returncode == 0
    assert f"note: 'errors.md,grinder.md' is one document; {hint}" in checked.stdout
    assert "note" not in karat("validate", table("Hello, world.md", "milk.md|app.md")).stdout


def test_targets_are_validated_in_a_folder(karat: Karat, table: Callable[..., str]) -> None:
    good = karat("validate", table("milk.md", "app.md"), "--corpus", "docs")
    assert (good.returncode, good.stderr) == (0, "")
    assert "looked up: targets (2)" in good.stdout
    gold = table("milk.md", "waranty.md", "docs/app.md", "docs/errors.md")
    bad = karat("validate", gold, "--corpus", "docs")
    assert bad.returncode == 2
    assert "missing: targets (3)" in bad.stdout
    assert bad.stderr.splitlines() == [
        "questions.csv: 3 of 4 targets not in docs; 2 of them exist without docs/: add --root docs",
        "questions.csv: query '2': waranty.md is not in docs; did you mean warranty.md?",
        "questions.csv: query '3': docs/app.md is not in docs",
        "questions.csv: query '4': docs/errors.md is not in docs",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("new.run", "--corpus", "docs"), "new.run is a run; --corpus checks only the targets"),
        (("code.csv", "--corpus", "docs", "--repo", "."), "both look up targets"),
        (("code.csv", "--corpus", "absent"), "'absent' does not exist"),
    ],
)
def test_what_cannot_be_validated(karat: Karat, arguments: tuple[str, ...], message: str) -> None:
    done = karat("validate", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
