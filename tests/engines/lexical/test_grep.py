"""ripgrep and the scan in Python find the same."""

import shutil
import sys
from pathlib import Path

import pytest

from karat.engines.lexical.grep import Match, scan
from karat.errors import EngineError, InputError

FILES = {
    "a.py": "def parse_URL(url):\n    return url\n",
    "dir/.hidden": "user user_name\r\nUSER\n",
    "ignored.txt": "url",
    "binary": "url\0user\n",
    "-dash file.txt": "user",
    "häßlich\nname.txt": "ÜSER user",
}
WORDS = ["user", "url", "user_name", "a.c"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    (tmp_path / ".ignore").write_text("ignored.txt")
    return tmp_path


def in_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Match]:
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "which", lambda *_, **__: None)
        return scan(folder, WORDS, paths=list(FILES))


def test_in_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = in_python(folder, monkeypatch)
    assert [m for m in found if m.path == "a.py"] == [
        Match("a.py", 1, "url"),
        Match("a.py", 1, "url"),
        Match("a.py", 2, "url"),
    ]
    assert [m[1:] for m in found if m.path == "dir/.hidden"] == [
        (1, "user"),
        (1, "user_name"),
        (2, "user"),
    ]


def test_ripgrep_agrees(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (shutil.which("rg") or shutil.which("rg", path=Path(sys.executable).parent)):
        pytest.skip("ripgrep is not installed")
    assert scan(folder, WORDS, paths=list(FILES)) == in_python(folder, monkeypatch)


def test_a_broken_ripgrep_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = folder / "rg"
    broken.write_text("#!/bin/sh\necho out of luck >&2\nexit 2\n")
    broken.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: str(broken))
    with pytest.raises(EngineError, match="ended with 2: out of luck"):
        scan(folder, WORDS, paths=["a.py"])


def test_nothing_to_scan(folder: Path) -> None:
    assert scan(folder, [], paths=["a.py"]) == []
    assert scan(folder, ["url"], paths=[]) == []
    with pytest.raises(InputError, match="no folder"):
        scan(folder / "absent", ["url"], paths=["a.py"])
