"""Small Git repositories, built by the tests that need one."""

from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    """Return a repository with one commit: a text in two places, a link, a binary and more."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "src" / "a.py").write_bytes(b"def a():\r\n    return 1\r\n")
    (folder / "src" / "copy.py").write_bytes(b"def a():\r\n    return 1\r\n")
    (folder / "grün ü.md").write_text("# Grün\n", encoding="utf-8")
    (folder / "empty.txt").touch()
    (folder / "image.png").write_bytes(b"\x89PNG\0\0")
    (folder / "latin.txt").write_bytes(b"caf\xe9\n")
    (folder / ".hidden").write_text("x\n", encoding="utf-8")
    (folder / "large.txt").write_text("x" * 2000, encoding="utf-8")
    (folder / "weights.bin").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", encoding="utf-8"
    )
    (folder / "link.py").symlink_to("src/a.py")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=one")
    return folder
