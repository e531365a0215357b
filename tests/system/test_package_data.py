"""Lists of words and queries beside the code."""

from pathlib import Path

import pytest

from karat.system.package_data import (
    code_files,
    read_data,
    read_lines,
    read_sections,
    read_words,
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    # Python imports a package once, so each test has another one.
    folder = tmp_path / f"basket_of_{tmp_path.name}"
    (folder / "word_lists").mkdir(parents=True)
    (folder / "queries").mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "a.py").write_text("A = 1\n")
    (folder / "notes.txt").write_text("not code\n")
    (folder / "word_lists" / "fruit.txt").write_text("# Ripe.\napple  pear\n\n# Green.\nlime pie\n")
    (folder / "queries" / "c.scm").write_text("(x)\n")
    monkeypatch.syspath_prepend(tmp_path)
    return folder.name


def test_words_and_lines_without_comments(package: str) -> None:
    assert read_words(package, "word_lists/fruit.txt") == ("apple", "pear", "lime", "pie")
    assert read_lines(package, "word_lists/fruit.txt") == ("apple  pear", "lime pie")
    assert read_data(package, "queries/c.scm") == "(x)\n"


def test_sections_by_their_titles(package: str, tmp_path: Path) -> None:
    file = tmp_path / package / "word_lists" / "kinds.txt"
    file.write_text("# By kind.\n[stone fruit]\nplum\nred cherry\n\n[citrus]\nlime\n")
    sections = read_sections(package, "word_lists/kinds.txt")
    assert list(sections.items()) == [
        ("stone fruit", ("plum", "red cherry")),
        ("citrus", ("lime",)),
    ]


def test_data_files_are_code_too(package: str) -> None:
    names = [file.name for file in code_files(package)]
    assert names == ["__init__.py", "a.py", "c.scm", "fruit.txt"]
