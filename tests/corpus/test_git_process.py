"""Git as a process: what it prints comes in blocks, and a failure is never overlooked."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.corpus.git_objects import git, git_blocks
from karat.errors import InputError, KaratError

Git = Callable[..., str]


def test_blocks_are_what_git_prints_at_once(repository: Path) -> None:
    asked = b"HEAD:large.txt\n" * 500
    whole = git(str(repository), "cat-file", "--batch", given=asked)
    blocks = list(git_blocks(str(repository), "cat-file", "--batch", given=asked))
    assert len(blocks) > 1
    assert b"".join(blocks) == whole


def test_what_was_printed_comes_before_the_failure(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = ["sh", "-c", "printf half; echo fatal: broken >&2; exit 128"]
    monkeypatch.setattr("karat.corpus.git_objects.command", lambda *_: failing)
    blocks = git_blocks(str(repository), "log")
    assert next(blocks) == b"half"
    with pytest.raises(InputError, match=r"project: git log: fatal: broken$"):
        next(blocks)


def test_a_process_ended_by_a_signal_is_no_fault_of_the_input(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = ["sh", "-c", "printf half; kill -9 $$"]
    monkeypatch.setattr("karat.corpus.git_objects.command", lambda *_: killed)
    blocks = git_blocks(str(repository), "log")
    assert next(blocks) == b"half"
    with pytest.raises(KaratError, match="git log: exit code -9") as caught:
        next(blocks)
    assert not isinstance(caught.value, InputError)


def test_a_reader_that_stops_early_leaves_no_process(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def noted(*arguments: object, **options: object) -> "subprocess.Popen[bytes]":
        process = popen(*arguments, **options)  # type: ignore[call-overload]
        started.append(process)
        return process  # type: ignore[no-any-return]

    endless = ["sh", "-c", "while :; do echo x; done"]
    monkeypatch.setattr("karat.corpus.git_objects.command", lambda *_: endless)
    monkeypatch.setattr(subprocess, "Popen", noted)
    blocks = git_blocks(str(repository), "log")
    assert next(blocks).startswith(b"x\n")
    blocks.close()  # type: ignore[attr-defined]
    assert started[0].returncode is not None


def test_no_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="cannot run git"):
        list(git_blocks(str(repository), "log"))
