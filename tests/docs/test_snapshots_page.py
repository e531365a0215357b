"""The commands of the page on snapshots run, and tell the trees apart, on a small history."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.pages import page
from tests.docs.test_commands import in_this_process

PAGE = page("snapshots").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines() if line.startswith("karat ")]

# Each question, the file that it changes, and the words that the change brings.
CHANGES = [
    ("refuse blank passwords during interactive login", "login", "blank passwords are refused"),
    ("retry delivery of queued mail after timeout", "mail", "retry delivery after a timeout"),
    ("escape quotes within a rendered template value", "render", "escape quotes of values"),
    ("close database connections when requests finish", "store", "close idle connections"),
]


@pytest.fixture
def folder(tmp_path: Path, git: Callable[..., str]) -> Path:
    """Return a folder with a history called flask, whose files move in the end, and questions."""
    project = tmp_path / "flask"
    (project / "app").mkdir(parents=True)

    def commit(message: str) -> None:
        git(project, "add", "--all")
        git(project, "commit", "--quiet", f"--message={message}")

    git(project, "init", "--quiet")
    for _, name, _ in CHANGES:
        (project / "app" / f"{name}.py").write_text(f"def {name[0]}(value):\n    return value\n")
    commit("start")
    for question, name, words in CHANGES:
        body = f'def {name[0]}(value):\n    """{words}"""\n    return check(value)\n'
        (project / "app" / f"{name}.py").write_text(body)
        commit(question)
    (project / "app").rename(project / "src")
    commit("move everything")
    (tmp_path / "questions.csv").write_text(
        "query,result1\nblank passwords,src/login.py:1-3:2\ntimeout,src/mail.py:1-3:1\n"
    )
    return tmp_path


def test_the_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(COMMANDS) == 7
    printed = {}
    karat = in_this_process(capsys)
    for command in COMMANDS:
        done = karat([*shlex.split(command)[1:], "--json"], folder)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        printed[command] = json.loads(done.stdout)
    contest = next(value for command, value in printed.items() if "karat compare" in command)
    hits = {run["name"]: run["metrics"]["mrr@10"]["mean"] for run in contest["runs"]}
    assert hits["child"] == 1.0
    assert hits["child"] > hits["parent"] > hits["head"] == 0.0
