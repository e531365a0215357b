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
    printed = capsys.readouterr()
    assert "1. a.py:1-2" in printed.out
    assert "bm25" in printed.out
    assert f"1 hit by bm25 in 1 document of {folder.name};" in printed.err


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("login", str(folder), "--json", "--mode", "bm25") == 0
    value = json.loads(capsys.readouterr().out)
    assert value["hits"][0]["path"] == "a.py"
    assert value["hits"][0]["stages"]["bm25"] > 0


def test_bad_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("login", str(folder), "--engine", "bm52") == 2
    assert "did you mean 'bm25'?" in capsys.readouterr().err
    assert run("login", str(folder / "none")) == 2


def test_a_profile_and_an_engine_are_one_too_many(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("login", str(folder), "--profile", "lexical", "-e", "bm25") == 2
    assert "--profile and --engine both name an engine" in capsys.readouterr().err
    assert run("login", str(folder), "--profile", "lexical") == 0


def test_why_there_can_be_no_hits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(" ", str(folder)) == 0
    assert "0 hits by bm25" in (said := capsys.readouterr().err)
    assert said.endswith("the query is empty\n")
    (folder / "a.py").rename(folder / ".hidden")
    assert run("login", str(folder)) == 0
    assert capsys.readouterr().err.endswith("the corpus has no text; skipped files: 1 hidden\n")


def test_a_score_follows_from_what_is_explained(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "tests").mkdir()
    (folder / "tests" / "test_a.py").write_text("def test_login_user():\n    login(1)\n")
    assert run("login user", str(folder), "--json") == 0
    hits = json.loads(capsys.readouterr().out)["hits"]
    assert {hit["ranking"]["kind"] < 1 for hit in hits} == {True, False}
    assert all(hit["ranking"]["names"] > 1 for hit in hits)
    for hit in hits:
        factors = hit["ranking"]["names"] * hit["ranking"]["kind"]
        assert hit["score"] == pytest.approx(hit["stages"]["bm25"] * factors)
    assert run("login user", str(folder), "--explain") == 0
    output = capsys.readouterr().out
    assert "names in the query: word score" in output
    assert "kind of file: score x 0.700" in output


def test_an_engine_that_explains_nothing_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("login", str(folder), "--explain", "-e", "keyword") == 0
    assert "does not explain its scores" in capsys.readouterr().err


def test_a_terminal_shows_a_line_of_each_hit(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.py").write_text("import os\n\n\ndef login(user):\n    return user\n")
    assert run("login", str(folder)) == 0
    assert "def login" not in capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run("login", str(folder)) == 0
    assert "\x1b[2m       def login(user):\x1b[0m\n" in capsys.readouterr().out


def test_the_earlier_name_of_a_profile_still_works_with_a_note(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("login", str(folder), "--profile", "keyword") == 0
    printed = capsys.readouterr()
    assert "hit by bm25" in printed.err
    assert printed.err.startswith("note: --profile keyword is now --profile lexical;")
    assert run("login", str(folder), "--profile", "nothing") == 2
    assert "'lexical', 'fast', 'balanced', 'quality'" in capsys.readouterr().err


def test_files_are_selected_and_skipped_ones_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "login.md").write_text("# How to login\n")
    (folder / "old").mkdir()
    (folder / "old" / "login.md").write_text("# How to login\n")
    (folder / "dump.raw").write_bytes(b"\0")
    assert run("login", str(folder), "--kind", "docs", "--exclude", "old/", "--json") == 0
    printed = capsys.readouterr()
    value = json.loads(printed.out)
    assert [hit["path"] for hit in value["hits"]] == ["login.md"]
    assert value["skipped"] == {"binary": 1, "excluded": 1, "other-kind": 1}
    assert value["skipped_files"] == {"binary": ["dump.raw"]}
    assert printed.err == "skipped 1 file: 1 binary (dump.raw)\n"
    assert run("login", str(folder), "--include", "nowhere/") == 2
    assert "--include nowhere/ selects none of the 3 documents" in capsys.readouterr().err


def test_hits_name_their_page(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from karat.corpus.files import content
    from karat.corpus.files.content import Extraction

    text = "Install the pump\n\fReplace the filter\n"
    monkeypatch.setattr(content, "is_installed", lambda _: True)
    monkeypatch.setattr(content, "extract", lambda *_: Extraction(text))
    (folder / "manual.pdf").write_bytes(b"%PDF")
    assert run("filter", str(folder), "-e", "bm25(chunker=lines:1, cache=false)", "--json") == 0
    (hit,) = json.loads(capsys.readouterr().out)["hits"]
    assert (hit["path"], hit["page"]) == ("manual.pdf", 2)
    assert run("filter", str(folder), "-e", "bm25(chunker=lines:1, cache=false)") == 0
    assert "manual.pdf:2-2 (page 2)" in capsys.readouterr().out
