"""karat index says what it prepared; a bar shows how far it is."""

import json
import sys
from pathlib import Path

import pytest

from karat.cli.main import main
from karat.cli.output.progress import progress_bar
from tests.words import WORDS


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("def login(user):\n    return user\n")
    (project / ".hidden").write_text("x\n")
    return project


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["index", *arguments])
    return int(caught.value.code or 0)


def test_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(folder), "--engine", f"hybrid(model={WORDS})") == 0
    printed = capsys.readouterr()
    assert "documents     1: 1 python\n" in printed.out
    assert "skipped       1 hidden\n" in printed.out
    assert "embedded      1 texts\n" in printed.out
    assert "not cached" not in printed.out
    assert printed.err == ""


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(folder), "--json", "--mode", "bm25") == 0
    value = json.loads(capsys.readouterr().out)
    assert value["engine"] == "bm25"
    assert value["languages"] == {"python": 1}
    assert value["skipped"] == {"hidden": 1}
    assert value["work"] == {"rows": 1}
    assert value["cache"]["problem"] is None


def test_bad_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(folder), "--engine", "bm52") == 2
    assert "did you mean 'bm25'?" in capsys.readouterr().err
    assert run(str(folder / "none")) == 2


def test_a_bar_for_those_who_watch(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with progress_bar("embedding") as nobody:
        assert nobody is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar("embedding"):
        pass
    assert capsys.readouterr().err == ""
    with progress_bar("embedding") as tell:
        assert tell is not None
        tell(1, 2)
        tell(2, 2)
    errors = capsys.readouterr().err
    assert "embedding" in errors
    assert "100%" in errors
