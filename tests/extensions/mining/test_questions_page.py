"""The page on gold sets from texts names every rule, and its examples run."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.cli import main
from karat.extensions.mining.questions.asking import KINDS
from karat.extensions.mining.questions.generate import FROM
from karat.extensions.mining.questions.selection import RULES
from karat.formats import read_dataset
from tests.docs.pages import page

PAGE = page("questions").read_text(encoding="utf-8")
CODE = '''
def remind(visitor):
    """Write to visitors who abandoned their basket yesterday."""
    if visitor.absent:
        send(visitor)
    return True
'''
DOC = """\
# Send reminders by post

Customers who left goods behind get a letter after one night, unless they opted out of all mail.
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}[^\n]*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines()]


@pytest.fixture
def beside(tmp_path: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty current folder with the repository ../flask beside it."""
    flask = tmp_path / "flask"
    (flask / "docs").mkdir(parents=True)
    (flask / "mail.py").write_text(CODE)
    (flask / "docs" / "post.md").write_text(DOC)
    git(flask, "init", "--quiet")
    git(flask, "add", ".")
    git(flask, "commit", "--quiet", "-m", "Start")
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def run(command: str) -> int:
    program, *arguments = shlex.split(command)
    assert program == "karat"
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


def test_every_rule_source_and_kind() -> None:
    for name in (*RULES, *FROM, *KINDS):
        assert f"`{name}`" in PAGE, name


@pytest.mark.usefixtures("beside")
def test_the_commands() -> None:
    assert len(COMMANDS) >= 7
    for command in COMMANDS:
        asks = "--model" in command and "--dry-run" not in command
        assert run(f"{command} --dry-run" if asks else command) == 0, command


def test_the_configuration(beside: Path) -> None:
    (text,) = blocks("yaml")
    (beside / "karat.yaml").write_text(text)
    assert run("karat generate --config karat.yaml -o gold.json") == 0
    assert len(read_dataset(beside / "gold.json")) == 1


def test_python(beside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (text,) = blocks("python")
    exec(text, {})  # noqa: S102 - the example of the page
    assert capsys.readouterr().out.startswith("Write to visitors who abandoned their basket")
    assert (beside / "gold.json").exists()
