"""The names of engines that share one."""

from pathlib import Path

import pytest

from karat.app.evaluate import Where
from karat.cli.options.agents import select_engines
from karat.cli.options.shared import Inputs
from karat.scoring.settings import Scoring

ENGINE = "engine: command\nname: {name}\ncommand: [rg, '{{query}}']\noutput: rg\n"


@pytest.mark.parametrize(
    ("names", "selected", "note"),
    [
        (
            ("mine", "mine"),
            ["bm25", "mine-2", "mine-3"],
            "note: mine-2 is 0.yaml, mine-3 is 1.yaml: each has the name mine; change "
            "name: in a file to tell them apart\n",
        ),
        (("one", "two"), ["bm25", "one", "two"], ""),
    ],
)
def test_a_note_says_which_file_is_which(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    names: tuple[str, ...],
    selected: list[str],
    note: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gold.csv").write_text("query,document\nwho,a.md\n")
    for number, name in enumerate(names):
        Path(f"{number}.yaml").write_text(ENGINE.format(name=name))
    setup = select_engines(
        gold="gold.csv",
        agents=["bm25", "0.yaml", "1.yaml"],
        config=None,
        k=None,
        inputs=Inputs(columns={}),
        scoring=Scoring(),
        where=Where(),
    )
    assert [each.name for each in setup.configurations] == selected
    assert capsys.readouterr().err == note
