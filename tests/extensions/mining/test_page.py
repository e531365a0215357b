"""The page on mining names every option and rule, and what it shows can be typed."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from karat.cli import main
from karat.extensions.mining.commands.generate import command
from karat.extensions.mining.filters import rule_table
from karat.formats import read_dataset
from tests.docs.pages import page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.git_history import Builder

MERGE = "Merge pull request #1 from a/side\n\nWarn customers when new articles arrive"
PAGE = page("mining").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_every_option() -> None:
    options = [
        option
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden
    ]
    assert len(options) > 20
    for option in options:
        spellings = "`, `".join(option.opts)
        assert f"| `{spellings}` | {option.help} |\n" in PAGE


def test_every_rule() -> None:
    for name, why in rule_table().items():
        assert re.search(rf"^{name} +{re.escape(why)}$", PAGE, re.MULTILINE)


@pytest.fixture
def beside(
    project: "Builder",
    new_history: "Callable[[], Builder]",
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """Return an empty current folder with ../flask and ../click beside it."""
    base = project.git("rev-parse", "main")
    change = {"shop/stock.py": "x = 9\n"}
    side = project.commit(change, "wip", branch="side", parents=[base])
    project.commit(change, MERGE, parents=[base, side])
    click = new_history()
    click.commit({"a.py": "x = 1\n"}, "Start")
    click.commit({"a.py": "x = 2\n"}, "Count visitors twice in reports")
    project.folder.rename(tmp_path / "flask")
    click.folder.rename(tmp_path / "click")
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.together_with("inspect")
def test_its_commands(beside: Path) -> None:
    (beside / "karat.yaml").write_text(blocks("yaml karat.yaml")[0], encoding="utf-8")
    for line in "".join(blocks("sh")).splitlines():
        with pytest.raises(SystemExit) as caught:
            main(shlex.split(line)[1:])
        assert not caught.value.code, line


def test_its_python(beside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("python")
    exec(code, {})  # noqa: S102 - it is our own page
    assert capsys.readouterr().out == "show the monthly report by country in get_report 6\n"
    assert len(read_dataset("gold.json")) == 6
