"""The set of several repositories on the page about formats works in every command."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.cli import main
from tests.docs.pages import page

PAGE = page("formats").read_text(encoding="utf-8")
NAME = "gold.several.json"
EXAMPLE = re.search(rf"^```json {NAME}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(rf"^karat (.* {NAME} .*)$", PAGE, re.MULTILINE)

# The files of each repository at the revisions that the example names, one after the other.
HISTORY = {
    "click": [
        ("8.0.0", {"src/click/types.py": "def convert_to_number(text_of_option): ...\n"}),
        (
            "8.1.0",
            {
                "src/click/termui.py": "def hidden_password_prompt(terminal): ...\n",
                "src/click/types.py": "def convert_to_number(option): ...\n",
                "docs/prompts.py": "# how is a hidden password read from the terminal\n",
            },
        ),
    ],
    "gin": [("v1.9.0", {"tree.go": "package gin\n\nfunc matchRoute(path string) {}\n"})],
}


@pytest.fixture
def folder(tmp_path: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder with the example; the repositories are beside it."""
    for name, versions in HISTORY.items():
        place = tmp_path / name
        place.mkdir()
        git(place, "init", "--quiet")
        for tag, files in versions:
            for path, text in files.items():
                (place / path).parent.mkdir(parents=True, exist_ok=True)
                (place / path).write_text(text, encoding="utf-8")
            git(place, "add", ".")
            git(place, "commit", "--quiet", "-m", tag)
            git(place, "tag", tag)
    here = tmp_path / "here"
    here.mkdir()
    assert EXAMPLE
    (here / NAME).write_text(EXAMPLE[1], encoding="utf-8")
    monkeypatch.chdir(here)
    return here


def karat(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("folder")
def test_the_commands_of_the_page(command: str) -> None:
    assert karat(*shlex.split(command)) == 0


def test_each_case_is_searched_on_its_own_tree(folder: Path) -> None:
    output = ("--timed", "none", "-m", "hit@1", "--run-out", "run.jsonl", "--candidates", "all")
    assert karat("evaluate", NAME, "--repo", "gin=../gin", *output) == 0
    rows = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()[1:]]
    found = {row["query_id"]: {hit["path"] for hit in row["hits"]} for row in rows}
    # At 8.1.0 only files below the root, at 8.0.0 only what was there.
    assert "src/click/termui.py" in found["click-1"]
    assert "docs/prompts.py" not in found["click-1"]
    assert found["click-2"] == {"src/click/types.py"}
    assert found["gin-1"] == {"tree.go"}


def test_a_set_that_was_carried_is_searched_where_it_was_carried_to(
    folder: Path, git: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    git(folder / "../click", "mv", "src/click/types.py", "src/click/kinds.py")
    git(folder / "../click", "commit", "--quiet", "-m", "rename")
    git(folder / "../click", "tag", "8.1.7")
    (folder / "../gin/tree.go").rename(folder / "../gin/trees.go")
    git(folder / "../gin", "add", "--all")
    git(folder / "../gin", "commit", "--quiet", "-m", "rename")
    to = ("--to", "click=8.1.7", "--to", "gin=HEAD", "--repo", "gin=../gin")
    assert karat("carry", NAME, *to, "-o", "new.json") == 0
    commits = {
        "click": git(folder / "../click", "rev-parse", "8.1.7"),
        "gin": git(folder / "../gin", "rev-parse", "HEAD"),
    }
    both = ", ".join(f"{name} {commit[:12]}" for name, commit in commits.items())
    shown = capsys.readouterr().out
    assert f"3 targets, now at {both}\n" in shown
    assert "updated: 3 targets, 2 in renamed files" in shown
    new = json.loads((folder / "new.json").read_text())
    assert new["metadata"]["carried_to"] == commits
    files = {case["id"]: case["ground_truth_files"] for case in new["test_cases"]}
    assert files["click-2"] == ["src/click/kinds.py"]
    assert files["gin-1"] == ["trees.go"]
    assert karat("validate", "new.json", "--repo", "gin=../gin") == 0
    assert (
        karat("evaluate", "new.json", "--repo", "gin=../gin", "--timed", "none", "--details") == 0
    )
    shown = " ".join(capsys.readouterr().out.split())
    assert f"each query on the version that the gold set was updated to, {both}" in shown
    assert "all 3 targets exist in the searched versions" in shown
    assert karat("carry", NAME, "--to", "click=8.1.7", "--repo", "gin=../gin") == 2
    assert "no revision for gin; expected --to gin=REVISION" in capsys.readouterr().err
