"""Run Git with all hooks, prompts, network access and user settings switched off."""

import os
import subprocess
from collections.abc import Iterator
from tempfile import TemporaryFile

from karat.errors import InputError, KaratError

__all__ = ["command", "environment", "git", "git_blocks"]

# What a pipe holds.
_BLOCK = 1 << 16


def command(repository: str, *arguments: str) -> list[str]:
    """Return the words that run ``git *arguments*`` in *repository*."""
    settings = (
        # A repository in a container often belongs to another user. Reading objects runs nothing
        # that the repository names, so its owner does not matter here.
        "safe.directory=*",
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        "core.quotePath=false",
        # Git would check signatures by the program that the repository names.
        "log.showSignature=false",
        # Beyond this Git neither loads a file as a whole nor compares it line by line: it counts as
        # binary. No corpus holds such a file, and a patch of one takes a gigabyte of memory.
        "core.bigFileThreshold=10m",
        "protocol.allow=never",
    )
    options = [word for setting in settings for word in ("-c", setting)]
    return ["git", "-C", repository, "--no-pager", *options, *arguments]


def environment() -> dict[str, str]:
    """Return an environment without anyone's Git settings, network, prompts or GIT_DIR."""
    kept = {
        name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ
    }
    return kept | {
        "LC_ALL": "C",
        "HOME": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        # A file that cannot exist: an empty one makes Git give advice about it.
        "GIT_GRAFT_FILE": f"{os.devnull}/none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        # Otherwise glibc hands memory back after every file that Git compares and asks for it again
        # for the next, a tenth of the time; elsewhere nobody reads it.
        "MALLOC_TOP_PAD_": str(1 << 20),
    }


def git(repository: str, *arguments: str, given: bytes = b"") -> bytes:
    """Return the output of ``git *arguments*`` in *repository*; a failure raises InputError."""
    try:
        done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
            command(repository, *arguments),
            input=given,
            capture_output=True,
            env=environment(),
            check=False,
        )
    except OSError as error:
        raise InputError(f"{repository}: cannot run git: {error}") from error
    if done.returncode:
        raise InputError(_failure(repository, arguments[0], done.returncode, done.stderr))
    return done.stdout


def git_blocks(repository: str, *arguments: str, given: bytes = b"") -> Iterator[bytes]:
    """Yield the output of ``git *arguments*`` in blocks while it runs.

    All that was printed comes first; then a failure raises InputError, and a process that a signal
    has ended KaratError. The process ends with the iterator.
    """
    # Files instead of pipes: Git can always read on, and always say what is wrong.
    with TemporaryFile() as asked, TemporaryFile() as said:
        asked.write(given)
        asked.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - a list of arguments, no shell
                command(repository, *arguments),
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=said,
                # Whole blocks, instead of a record at a time.
                env=environment() | {"GIT_FLUSH": "0"},
            )
        except OSError as error:
            raise InputError(f"{repository}: cannot run git: {error}") from error
        with process:
            try:
                if process.stdout:
                    pipe = process.stdout.fileno()
                    yield from iter(lambda: os.read(pipe, _BLOCK), b"")
                code = process.wait()
            finally:
                process.kill()
        if code:
            said.seek(0)
            sort = InputError if code > 0 else KaratError
            raise sort(_failure(repository, arguments[0], code, said.read()))


def _failure(repository: str, name: str, code: int, said: bytes) -> str:
    reason = said.decode(errors="replace").strip() or f"exit code {code}"
    return f"{repository}: git {name}: {reason}"
