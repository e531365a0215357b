"""ripgrep and the scan in Python find the same lines."""

import shutil
import sys
from pathlib import Path

import pytest

from karat.engines import keyword
from karat.engines.keyword import KeywordLine, by_ripgrep, in_texts, keywords
from karat.errors import EngineError

FILES = {
    "a.py": "def parse_URL(url):\n    return url\n",
    "dir/.hidden": "user user_name\nnothing\nUSER\n",
    "ignored.txt": "url",
    "binary": "url\0user\n",
    "-dash file.txt": "user",
    "häßlich\nname.txt": "ÜSER user",
    "none.txt": "nothing\n",
}
WORDS = ["user", "url", "user_name", "a.c"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    (tmp_path / ".ignore").write_text("ignored.txt")
    return tmp_path


def test_lines_worked_by_hand() -> None:
    matches = list(in_texts(FILES, WORDS))
    assert [line for line in matches if line.path == "a.py"] == [
        KeywordLine("a.py", 1, "def parse_URL(url):"),
        KeywordLine("a.py", 2, "    return url"),
    ]
    assert [line.number for line in matches if line.path == "dir/.hidden"] == [1, 3]
    assert {line.path for line in matches} == FILES.keys() - {"none.txt"}


def test_ripgrep_agrees(ripgrep: str, folder: Path) -> None:
    matches = by_ripgrep(ripgrep, folder, WORDS, files={name: name for name in FILES})
    assert sorted(matches) == sorted(in_texts(FILES, WORDS))


def test_many_names_go_in_several_calls(
    ripgrep: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyword, "MOST_CHARACTERS", 12)
    assert len(list(keyword.batches(list(FILES)))) > 2
    assert [name for batch in keyword.batches(list(FILES)) for name in batch] == list(FILES)
    matches = by_ripgrep(ripgrep, folder, WORDS, files={name: f"x/{name}" for name in FILES})
    assert {line.path for line in matches} == {f"x/{name}" for name in FILES.keys() - {"none.txt"}}


def test_ripgrep_misses_no_letter_that_python_lowers(ripgrep: str, tmp_path: Path) -> None:
    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    pairs = {letter * 2: keywords(letter * 2) for letter in letters if letter.lower() != letter}
    pairs = {text: words for text, words in pairs.items() if words and words[0] == text.lower()}
    assert len(pairs) > 1_000
    words = [words[0] for words in pairs.values()]
    (tmp_path / "x").write_text("\n".join(pairs), encoding="utf-8")
    texts = {line.text for line in by_ripgrep(ripgrep, tmp_path, words, files={"x": "x"})}
    assert texts == pairs.keys()


def test_other_encodings(ripgrep: str, tmp_path: Path) -> None:
    (tmp_path / "wide").write_bytes("Größe url\n".encode("utf-16"))
    (tmp_path / "latin").write_bytes("Größe url\n".encode("latin-1"))
    files = {"wide": "wide", "latin": "latin"}
    assert {line.path for line in by_ripgrep(ripgrep, tmp_path, ["url"], files=files)} == {*files}
    matches = by_ripgrep(ripgrep, tmp_path, ["größe"], files=files)
    assert list(matches) == [KeywordLine("wide", 1, "Größe url")]


def test_a_broken_ripgrep_says_so(folder: Path) -> None:
    broken = folder / "rg"
    broken.write_text("#!/bin/sh\ncat > /dev/null\necho out of luck >&2\nexit 2\n")
    broken.chmod(0o755)
    with pytest.raises(EngineError, match="ended with 2: out of luck"):
        list(by_ripgrep(str(broken), folder, WORDS, files={"a.py": "a.py"}))


def test_a_file_that_is_gone(ripgrep: str, folder: Path) -> None:
    with pytest.raises(EngineError, match=r"gone\.py.*No such file"):
        list(by_ripgrep(ripgrep, folder, ["url"], files={"gone.py": "gone.py"}))


def test_nothing_to_scan(ripgrep: str, folder: Path) -> None:
    assert list(by_ripgrep(ripgrep, folder, [], files={"a.py": "a.py"})) == []
    assert list(by_ripgrep(ripgrep, folder, ["url"], files={})) == []
    assert list(in_texts(FILES, [])) == []


def test_ripgrep_beside_python_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Path(sys.executable).parent

    def which(name: str, path: Path | None = None) -> str | None:
        return str(beside / name) if path == beside else None

    monkeypatch.setattr(shutil, "which", which)
    assert keyword.ripgrep() == str(beside / "rg")
