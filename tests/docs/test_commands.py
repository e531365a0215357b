"""The commands in README and docs run as printed, page by page, and print what is shown."""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Shown(NamedTuple):
    """A command in a page, and the output printed below it."""

    command: str
    output: str


def shown(page: Path) -> list[Shown]:
    """Return the `$ karat ...` commands of *page*."""
    found = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in block.split("$ ")[1:]:
            command, _, output = part.partition("\n")
            if command.startswith("karat "):
                found.append(Shown(command, output))
    return found


def check_commands(
    page: Path,
    folder: Path,
    *,
    karat: Sequence[str] = (sys.executable, "-m", "karat"),
    environment: Mapping[str, str] = os.environ,
) -> None:
    """Run the commands of *page* in *folder* by *karat*; each must print what the page shows."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    for command in shown(page):
        done = subprocess.run(
            [*karat, *shlex.split(command.command)[1:]],
            cwd=folder,
            env=dict(environment),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"{command.command}\n{done.stderr}"
        same = doctest.OutputChecker().check_output(command.output, done.stdout, FLAGS)
        assert same or not command.output.strip(), f"{command.command}\n{done.stdout}"


def test_the_readme_shows_commands() -> None:
    assert shown(ROOT / "README.md")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if shown(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_the_commands_of_a_page_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    check_commands(page, tmp_path)
