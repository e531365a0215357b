"""A gold set that is mined from two repositories, carried and inspected."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.formats import read_dataset
from tests.two_repositories import NAMED, build, karat, move

Git = Callable[..., str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: repositories click and gin, and two.json mined from both."""
    monkeypatch.chdir(tmp_path)
    expected = build(tmp_path, git)
    assert karat("generate", "--repo", "click", "--repo", "gin", "-o", "two.json") == 0
    mined = read_dataset("two.json", format="gold")
    assert sorted(mined.query_ids) == sorted(expected.query_ids)
    assert sorted(mined.texts) == sorted(expected.texts)
    return tmp_path


@pytest.fixture
def moved(folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return the folder that both repositories have moved to."""
    elsewhere = move(folder)
    capsys.readouterr()
    return elsewhere


def ids() -> list[str]:
    return list(read_dataset("two.json", format="gold").query_ids)


@pytest.mark.usefixtures("moved")
def test_carry_where_they_have_moved(capsys: pytest.CaptureFixture[str]) -> None:
    command = ("carry", "two.json", "--to", "HEAD", "--strict")
    assert karat(*command) == 2
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


def test_carry_where_they_were_mined(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert karat("carry", "two.json", "--to", "HEAD", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["commit"], set(told["commits"]), told["lost"]) == (None, {"click", "gin"}, [])


def test_two_revisions_for_one_repository_are_rejected(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert karat("carry", "two.json", "--to", "HEAD", "--to", "HEAD~1") == 2
    assert "--to names two revisions: 'HEAD' and 'HEAD~1'" in capsys.readouterr().err


@pytest.mark.together_with("inspect")
@pytest.mark.usefixtures("moved")
def test_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    case = next(name for name in ids() if name.startswith("gin-"))
    assert karat("inspect", "two.json", case, *NAMED) == 0
    printed = capsys.readouterr()
    assert "+    return check(value)" in printed.out
    assert printed.err == ""
    assert karat("inspect", "two.json", case, "--repo", "click=elsewhere/click") == 0
    assert "does not have its commits; name it (--repo gin=DIR)" in capsys.readouterr().err
