"""A gold set about two repositories, in every command that reads them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.formats import read_dataset, write
from karat.model import Dataset
from tests.two_repositories import NAMED, build, karat, move

Git = Callable[..., str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: repositories click and gin, and two.json about both."""
    monkeypatch.chdir(tmp_path)
    write(build(tmp_path, git), "two.json", format="gold")
    return tmp_path


@pytest.fixture
def moved(folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return the folder that both repositories have moved to."""
    elsewhere = move(folder)
    capsys.readouterr()
    return elsewhere


COMMANDS = {
    "validate": ("validate", "two.json"),
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


def test_where_they_were_mined(capsys: pytest.CaptureFixture[str]) -> None:
    assert karat("validate", "two.json", "--repo") == 0
    assert "looked up: commits (4), paths (4)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("click", "gin"),
    [
        ("click", "gin"),
        ("pallets__click", "gin.git"),
        ("pallets/click", "gin"),
        ("pallets-click", "gin"),
    ],
)
@pytest.mark.parametrize(
    "command", [COMMANDS[name] for name in ("validate", "evaluate", "compare")]
)
def test_a_folder_of_clones(
    click: str, gin: str, command: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "pallets" in click:
        text = Path("two.json").read_text(encoding="utf-8")
        Path("two.json").write_text(text.replace('"click"', '"pallets__click"'), encoding="utf-8")
    for name, clone in (("click", click), ("gin", gin)):
        (folder / "clones" / clone).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder / name, folder / "clones" / clone)
    assert karat(*command, "--repos", "clones") == 0, capsys.readouterr().err
    # One that is named comes first.
    capsys.readouterr()
    assert karat(*command, "--repos", "clones", "--repo", "gin=two.json") == 2
    assert "two.json" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_cases_whose_repository_is_there(
    command: str, moved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(moved / "click")
    words = COMMANDS[command]
    assert karat(*words, "--repos", "elsewhere") == 2
    assert "name it (--repo click=DIR)" in capsys.readouterr().err
    assert karat(*words, "--repos", "elsewhere", "--only-given") == 0
    told = capsys.readouterr()
    assert "note: 2 of 4 cases; no repository for click (2)" in told.err
    assert "2 queries" in told.out
    assert karat(*words, "--only-given") == 2
    assert "no repository of click + gin is here: click and gin; give" in capsys.readouterr().err
    assert karat(*words, "--only-given", "--corpus", "elsewhere") == 2
    assert "--corpus cannot be combined" in capsys.readouterr().err


@pytest.mark.usefixtures("moved")
def test_a_folder_without_clones(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    for words in (COMMANDS["evaluate"], ("validate", "two.json")):
        assert karat(*words, "--repos", "empty") == 2
        assert "empty: no clone of click and gin in there" in capsys.readouterr().err
    assert karat("validate", "two.json", "--repos", "empty", "--corpus", "empty") == 2
    assert "--corpus and --repos both look up targets" in capsys.readouterr().err


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


def test_a_wrong_key_is_one_problem(capsys: pytest.CaptureFixture[str]) -> None:
    value = json.loads(Path("two.json").read_text(encoding="utf-8"))
    for case in value["test_cases"]:
        case["repositry"] = "click"
    Path("wrong.json").write_text(json.dumps(value, indent=1), encoding="utf-8")
    capsys.readouterr()
    assert karat("evaluate", "wrong.json") == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert error.endswith("test_cases[0].repositry: unknown key (and in 3 more)")
