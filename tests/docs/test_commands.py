"""The commands in README and docs run as printed, page by page, and print what is shown."""

import doctest
import re
import shlex
import shutil
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import pytest

from karat.cli import main
from tests.docs.pages import PAGES, ROOT

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


# Runs `karat` with these arguments in this folder.
Karat = Callable[[list[str], Path], CompletedProcess[str]]


def in_this_process(capsys: pytest.CaptureFixture[str]) -> Karat:
    """Return a function that runs `karat` without the start of another interpreter."""

    def run(arguments: list[str], folder: Path) -> CompletedProcess[str]:
        with chdir(folder), pytest.raises(SystemExit) as caught:
            main(arguments)
        printed = capsys.readouterr()
        code = caught.value.code or 0
        assert isinstance(code, int), code
        return CompletedProcess(arguments, code, printed.out, printed.err)

    return run


def check_commands(page: Path, folder: Path, karat: Karat) -> None:
    """Run the commands of *page* in *folder* by *karat*; each must print what the page shows."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    for command in shown(page):
        done = karat(shlex.split(command.command)[1:], folder)
        assert done.returncode == 0, f"{command.command}\n{done.stderr}"
        same = doctest.OutputChecker().check_output(command.output, done.stdout, FLAGS)
        assert same or not command.output.strip(), f"{command.command}\n{done.stdout}"


def test_the_readme_shows_commands() -> None:
    assert shown(ROOT / "README.md")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if shown(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_the_commands_of_a_page_print_what_is_shown(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_commands(page, tmp_path, in_this_process(capsys))
