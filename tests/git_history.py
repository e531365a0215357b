"""Small Git histories, built by the tests that need one."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

START = 1_700_000_000
HOUR = 3600

# What a file becomes: its content, nothing (deleted), or a mode such as 120000 with the content.
Becomes = str | bytes | None | tuple[str, str | bytes]


class Builder:
    """A bare repository that grows commit by commit, an hour apart, with nobody's settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = str(folder)
        self.time = START
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--bare", "--initial-branch=main")

    def git(self, *arguments: str, given: bytes = b"") -> str:
        """Return what git prints, without the last line end."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": self.path,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=environment,
            input=given,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().removesuffix("\n")

    def commit(
        self,
        files: Mapping[Any, Becomes] | None = None,
        message: str | bytes = "change",
        *,
        branch: str = "main",
        parents: Sequence[str] | None = None,
        author: bytes = b"Ann <ann@example.com>",
        encoding: str = "",
    ) -> str:
        """Add a commit to *branch*, on its tip or on *parents*, and return its id.

        A path is a text or bytes.
        """
        self.time += HOUR
        when = b"%s %d +0000\n" % (author, self.time)
        lines = [f"commit refs/heads/{branch}\nmark :1\n".encode(), b"author ", when]
        lines += [b"committer ", when, f"encoding {encoding}\n".encode() if encoding else b""]
        lines += _data(message)
        if parents is None:
            known = self.git("for-each-ref", f"refs/heads/{branch}")
            lines.append(f"from refs/heads/{branch}^0\n".encode() if known else b"")
        else:
            lines += [
                f"{'merge' if number else 'from'} {parent}\n".encode()
                for number, parent in enumerate(parents)
            ]
        for path, becomes in (files or {}).items():
            lines += _file(path, becomes)
        lines.append(b"\nget-mark :1\n")
        return self.git("fast-import", "--quiet", "--force", given=b"".join(lines))

    def lose(self, name: str) -> str:
        """Delete the object *name*, and return its id."""
        oid = self.git("rev-parse", name)
        (self.folder / "objects" / oid[:2] / oid[2:]).unlink()
        return oid


def _data(content: str | bytes) -> list[bytes]:
    data = content.encode() if isinstance(content, str) else content
    return [b"data %d\n" % len(data), data, b"\n"]


def _file(path: str | bytes, becomes: Becomes) -> list[bytes]:
    name = path.encode() if isinstance(path, str) else path
    quoted = b'"%s"' % b"".join(b"\\%03o" % byte for byte in name)
    if becomes is None:
        return [b"D ", quoted, b"\n"]
    mode, content = becomes if isinstance(becomes, tuple) else ("100644", becomes)
    if mode == "160000":
        assert isinstance(content, str)
        return [f"M {mode} {content} ".encode(), quoted, b"\n"]
    return [f"M {mode} inline ".encode(), quoted, b"\n", *_data(content)]


@pytest.fixture
def new_history(tmp_path: Path) -> Callable[[], Builder]:
    """Return a function that makes an empty repository, each time another."""
    made: list[Builder] = []

    def make() -> Builder:
        made.append(Builder(tmp_path / f"history{len(made)}"))
        return made[-1]

    return make


@pytest.fixture
def history(new_history: Callable[[], Builder]) -> Builder:
    """Return an empty repository."""
    return new_history()
