"""--executor and KARAT_EXECUTOR choose where worker processes run."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

COMMANDS = [
    ("evaluate", "names.csv"),
    ("compare", "names.csv", "--agents", "bm25"),
    ("sweep", "names.csv", "--suite", "quick_test"),
]
SMALL = ("--corpus", "project", "--timed", "none", "--draws", "99")


@pytest.fixture(autouse=True)
def project(folder: Path) -> None:
    (folder / "project").mkdir()
    (folder / "project" / "login.py").write_text("def login(): ...\n", encoding="utf-8")
    (folder / "names.csv").write_text(
        "query,result1\nwhere is login,login.py:1-1:1\n", encoding="utf-8"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_executor_lists_the_valid_ones(karat: Karat, command: tuple[str, ...]) -> None:
    done = karat(*command, *SMALL, "--executor", "dusk://head:8786")
    assert done.returncode == 2
    assert "no executor 'dusk'; valid: local" in done.stderr
    assert not Path(".karat").exists()


def test_the_environment_names_an_executor(karat: Karat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_EXECUTOR", "local:none")
    done = karat(*COMMANDS[0], *SMALL)
    assert done.returncode == 2
    assert "executor local:none" in done.stderr
    done = karat(*COMMANDS[0], *SMALL, "--executor", "local:2")
    assert done.returncode == 0, done.stderr


def test_run_files_need_no_executor(karat: Karat) -> None:
    done = karat("compare", "gold.qrels", "old.run", "new.run", "--executor", "local")
    assert done.returncode == 2
    assert "--executor: only for engines, not for run files" in done.stderr
