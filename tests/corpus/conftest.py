"""Small Git repositories, built by the tests that need one."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Return a function that runs git in a folder, with nobody's settings."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    }

    def run(folder: Path, *arguments: str, text: str = "") -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", *arguments],
            cwd=folder,
            env=environment,
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


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
