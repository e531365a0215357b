"""The commands in README and docs run as printed, and print what is shown."""

import doctest
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Shown(NamedTuple):
    """A command in a page, and the output printed below it."""

    page: str
    command: str
    output: str


def shown(page: Path) -> list[Shown]:
    """Return the `$ karat ...` commands of *page*."""
    found = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in block.split("$ ")[1:]:
            command, _, output = part.partition("\n")
            if command.startswith("karat "):
                found.append(Shown(page.relative_to(ROOT).as_posix(), command, output))
    return found


COMMANDS = [command for page in PAGES for command in shown(page)]


def test_the_readme_shows_commands() -> None:
    assert any(command.page == "README.md" for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.command)
def test_a_command_prints_what_is_shown(command: Shown, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    done = subprocess.run(
        [sys.executable, "-m", "karat", *shlex.split(command.command)[1:]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if command.output.strip():
        assert doctest.OutputChecker().check_output(command.output, done.stdout, FLAGS), done.stdout
