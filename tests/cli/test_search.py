"""karat search shows places, scores and what it did."""

import json
from pathlib import Path

import pytest

from karat.cli.main import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("def login(user):\n    return user\n")
    return tmp_path


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["search", *arguments])
    return int(caught.value.code or 0)


def test_places_and_stages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("login", str(folder), "--explain") == 0
    shown = capsys.readouterr()
    assert "1. a.py:1-2" in shown.out
    assert "bm25" in shown.out
    assert f"1 hit by bm25 in 1 document of {folder.name};" in shown.err


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("login", str(folder), "--json", "--mode", "bm25") == 0
    value = json.loads(capsys.readouterr().out)
    assert value["hits"][0]["path"] == "a.py"
    assert value["hits"][0]["stages"]["bm25"] > 0


def test_bad_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("login", str(folder), "--engine", "bm52") == 2
    assert "did you mean 'bm25'?" in capsys.readouterr().err
    assert run("login", str(folder / "none")) == 2
