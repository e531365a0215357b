"""Programs and services that the adapters talk to."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from karat.corpus import Corpus, from_texts
from karat.testing.engines import DOCUMENTS

TOY = str(Path(__file__).with_name("programs") / "toy.py")


@pytest.fixture(scope="session")
def toy() -> list[str]:
    """Return the command line of the toy search, without its mode."""
    return [sys.executable, TOY]


@pytest.fixture
def corpus() -> Corpus:
    return from_texts(DOCUMENTS, name="suite")


@pytest.fixture(scope="session")
def http_service(toy: list[str]) -> Iterator[str]:
    """Return the address of a running service."""
    with subprocess.Popen([*toy, "http"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.kill()


@pytest.fixture(scope="session")
def mcp_service(toy: list[str]) -> Iterator[str]:
    """Return the address of a running MCP server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*toy, "mcp", "http", "structured", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None
        yield f"http://127.0.0.1:{port}/mcp"
        process.kill()


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a test that leaves a child process, an open descriptor or a temporary directory."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    before = children(), descriptors()
    yield
    assert (children() - before[0], list(folder.iterdir())) == (set(), [])
    assert descriptors() <= before[1]


def children() -> set[int]:
    """Return the processes below this one, zombies included."""
    pids: set[int] = set()
    for file in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended meanwhile
            pids.update(map(int, file.read_text().split()))
    return pids


def descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0
