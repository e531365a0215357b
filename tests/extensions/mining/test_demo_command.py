"""karat demo: the bundled history becomes a gold set, an answer and a report."""

import doctest
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from karat.extensions.mining import demo
from karat.installation import typed_command
from tests.command_line import Karat


@pytest.mark.together_with("models")
def test_the_readme_shows_what_is_printed(tmp_path: Path, karat: Karat, project_root: Path) -> None:
    done = karat("demo", "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    readme = (project_root / "README.md").read_text(encoding="utf-8")
    (matches,) = re.findall(r"^\$ make demo\n(Which.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(matches, done.stdout, flags), done.stdout
    assert max(map(len, done.stdout.split("Report:")[0].splitlines())) <= 80
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Karat demo" in page


def test_too_few_cases_are_an_error(tmp_path: Path, git: Callable[..., str], karat: Karat) -> None:
    git(tmp_path, "init", "--quiet", "young")
    for text in ("print(1)\n", "print(1)\nprint(2)\n"):
        (tmp_path / "young" / "a.py").write_text(text)
        git(tmp_path / "young", "add", ".")
        git(tmp_path / "young", "commit", "--quiet", "-m", "Print one more number at the end")
    done = karat("demo", "--repo", str(tmp_path / "young"), "-o", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "1 of its commits can be queries; expected 30 or more" in done.stderr
    assert "karat demo without --repo uses a bundled example" in done.stderr


def test_without_embeddings_two_engines_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, karat: Karat
) -> None:
    monkeypatch.setattr(demo, "has_embeddings", lambda: False)
    monkeypatch.setattr(demo, "MOST_CASES", 30)
    prepare = demo.prepare
    monkeypatch.setattr(
        demo, "prepare", lambda *given, **named: replace(prepare(*given, **named), timed=0)
    )
    done = karat("demo", "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Which engine finds the file to change: keyword or bm25?")
    assert f"  {typed_command()} generate --repo . -o gold.json\n" in done.stdout
    assert "30 commit messages became queries" in done.stdout
    assert "ranks the right file highest" in done.stdout
    assert "To compare hybrid too, install embeddings: pip install" in done.stdout
    own = demo.build_repository(tmp_path / "out")
    done = karat("demo", "--repo", str(own), "-o", str(tmp_path / "own"))
    assert done.returncode == 0, done.stderr
    gold = tmp_path / "own" / "gold.json"
    assert f"  {typed_command()} compare {gold} --repo {own} \\\n" in done.stdout
    assert "generate --repo" not in done.stdout
