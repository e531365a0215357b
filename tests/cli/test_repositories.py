"""A gold set that was mined from two repositories, in every command that reads them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.cli import main
from karat.formats import read_dataset, write
from karat.model import Dataset

Git = Callable[..., str]

# What each commit asks for, and the file that it changes.
CHANGES = {
    "click": [
        ("refuse blank passwords during interactive login", "login"),
        ("retry delivery of queued mail after timeout", "mail"),
    ],
    "gin": [
        ("escape quotes within rendered template values", "render"),
        ("close database connections when requests finish", "store"),
    ],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: repositories click and gin, and two.json mined from both."""
    monkeypatch.chdir(tmp_path)
    for name, changes in CHANGES.items():
        place = tmp_path / name
        place.mkdir()
        git(place, "init", "--quiet")
        for _, file in changes:
            (place / f"{file}.py").write_text(f"def {file[0]}(value):\n    return value\n")
        git(place, "add", ".")
        git(place, "commit", "--quiet", "-m", "start")
        for message, file in changes:
            (place / f"{file}.py").write_text(f"def {file[0]}(value):\n    return check(value)\n")
            git(place, "commit", "--quiet", "-am", message)
    assert karat("generate", "--repo", "click", "--repo", "gin", "-o", "two.json") == 0
    return tmp_path


@pytest.fixture
def moved(folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return the folder that both repositories have moved to."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    for name in CHANGES:
        shutil.move(folder / name, elsewhere / name)
    capsys.readouterr()
    return elsewhere


NAMED = ("--repo", "click=elsewhere/click", "--repo", "gin=elsewhere/gin")


def karat(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


def ids() -> list[str]:
    return list(read_dataset("two.json", format="gold").query_ids)


COMMANDS = {
    "validate": ("validate", "two.json"),
    "carry": ("carry", "two.json", "--to", "HEAD", "--strict"),
    "evaluate": ("evaluate", "two.json", "--timed", "none"),
    "compare": ("compare", "two.json", "--agents", "bm25(k1=1)", "bm25", "--timed", "none"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.usefixtures("moved")
def test_repositories_that_have_moved(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    alone = ("--repo",) if command[0] == "validate" else ()
    assert karat(*command, *alone) == 2
    error = capsys.readouterr().err
    assert error.count("error:") == 1
    assert "does not have its commits; name them (--repo click=DIR --repo gin=DIR)" in error
    assert karat(*command, *NAMED) == 0
    # Without names, by the names of the folders.
    assert karat(*command, "--repo", "elsewhere/click", "--repo", "elsewhere/gin") == 0
    capsys.readouterr()
    assert karat(*command, "--repo", "clik=elsewhere/click") == 2
    assert (
        capsys.readouterr().err == "error: click + gin: no repository 'clik'; it has click, gin\n"
    )


def test_two_revisions_for_one_repository_are_rejected(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert karat("carry", "two.json", "--to", "HEAD", "--to", "HEAD~1") == 2
    assert "--to names two revisions: 'HEAD' and 'HEAD~1'" in capsys.readouterr().err


def test_where_they_were_mined(capsys: pytest.CaptureFixture[str]) -> None:
    assert karat("validate", "two.json", "--repo") == 0
    assert "looked up: commits (4), paths (4)" in capsys.readouterr().out
    assert karat("carry", "two.json", "--to", "HEAD", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["commit"], set(told["commits"]), told["lost"]) == (None, {"click", "gin"}, [])


@pytest.mark.usefixtures("moved")
def test_one_folder_for_two_repositories(capsys: pytest.CaptureFixture[str]) -> None:
    assert karat("validate", "two.json", "--repo", "elsewhere/click") == 2
    (problem,) = capsys.readouterr().err.splitlines()
    assert (
        "none of the commits of its 2 cases of the repository 'gin' exists in elsewhere" in problem
    )
    assert karat("evaluate", "two.json", "--repo", "elsewhere/click") == 2
    error = capsys.readouterr().err
    assert (
        "of the repository 'gin'; click + gin has several repositories: --repo click=DIR --repo"
        in error
    )


@pytest.mark.usefixtures("moved")
def test_a_sample_without_a_case_of_one_repository() -> None:
    assert karat("evaluate", "two.json", "--timed", "none", "--sample", "1", *NAMED) == 0


@pytest.mark.usefixtures("moved")
def test_a_sample_of_a_set_that_describes_no_repository(
    capsys: pytest.CaptureFixture[str],
) -> None:
    mined = read_dataset("two.json", format="gold")
    write(Dataset.of(mined.queries(), name="bare"), "two.json", format="gold")
    sample = ("evaluate", "two.json", "--timed", "none", "--sample", "1")
    assert karat(*sample, *NAMED) == 0
    capsys.readouterr()
    assert karat(*sample, "--repo", "clik=elsewhere/click") == 2
    assert "no repository 'clik'; it has click, gin" in capsys.readouterr().err


@pytest.mark.usefixtures("moved")
def test_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    case = next(name for name in ids() if name.startswith("gin-"))
    assert karat("inspect", "two.json", case, *NAMED) == 0
    shown = capsys.readouterr()
    assert "+    return check(value)" in shown.out
    assert shown.err == ""
    assert karat("inspect", "two.json", case, "--repo", "click=elsewhere/click") == 0
    assert "does not have its commits; name it (--repo gin=DIR)" in capsys.readouterr().err


def test_a_wrong_key_is_one_problem(capsys: pytest.CaptureFixture[str]) -> None:
    value = json.loads(Path("two.json").read_text(encoding="utf-8"))
    for case in value["test_cases"]:
        case["repositry"] = "click"
    Path("wrong.json").write_text(json.dumps(value, indent=1), encoding="utf-8")
    capsys.readouterr()
    assert karat("evaluate", "wrong.json") == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert error.endswith("test_cases[0].repositry: unknown key (and in 3 more)")
