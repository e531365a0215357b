"""Trees and objects of a Git repository, by Git's own commands."""

import os
import subprocess
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from karat.errors import InputError, KaratError

# The size of a pipe.
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
        # Otherwise Git would check signatures with a program that the repository configures.
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
    inherited = {
        name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ
    }
    return inherited | {
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
        # Otherwise glibc returns memory after every file that Git compares and allocates it again,
        # which takes a tenth of the time. Other systems ignore the variable.
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
    # Files instead of pipes, so that Git never blocks on its input or its error output.
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
    if "not a git repository" in reason:
        return f"{repository} is not a Git repository"
    return f"{repository}: git {name}: {reason}"


# Asked for together, answered together: far below what a pipe holds (64 KiB), so that Git can
# always take all requests before it blocks on the first answer.
_AT_ONCE = 256

SUBMODULE = "160000"
SYMLINK = "120000"
_LIST = ("ls-tree", "-r", "-z", "--full-tree")


class TreeEntry(NamedTuple):
    """One entry of a tree; *size* is -1 where the repository lacks the object."""

    mode: str
    oid: str
    size: int
    path: bytes


def list_tree(repository: str, tree: str) -> list[TreeEntry]:
    """Return every entry below *tree*, in Git's order (by the bytes of the path)."""
    try:
        return _entries(git(repository, *_LIST, "-l", tree))
    except InputError:
        # In a partial clone this fails, because Git may not fetch missing objects.
        if not _missing(repository, [tree]):
            raise
    entries = _entries(git(repository, *_LIST, tree))
    blobs = {entry.oid for entry in entries if entry.mode != SUBMODULE}
    sizes = object_sizes(repository, blobs, [tree])
    return [entry._replace(size=sizes.get(entry.oid, -1)) for entry in entries]


def object_sizes(repository: str, oids: Iterable[str], trees: Sequence[str]) -> dict[str, int]:
    """Return the sizes of those objects below *trees* that the repository has."""
    ordered = sorted(oids)
    try:
        return _sizes(repository, ordered)
    except InputError:
        missing = _missing(repository, trees)
        if not missing:
            raise
    return _sizes(repository, [oid for oid in ordered if oid not in missing])


def _sizes(repository: str, oids: Sequence[str]) -> dict[str, int]:
    asked = "".join(f"{oid}\n" for oid in oids).encode()
    check = ("cat-file", "--batch-check=%(objectname) %(objectsize)")
    answers = (line.split() for line in git(repository, *check, given=asked).decode().splitlines())
    return {oid: int(size) for oid, size in answers if size != "missing"}


def _entries(listed: bytes) -> list[TreeEntry]:
    entries = []
    for record in listed.split(b"\0")[:-1]:
        about, _, path = record.partition(b"\t")
        mode, _, oid, *size = about.decode("ascii").split()
        known = bool(size) and size[0].isdigit()
        entries.append(TreeEntry(mode, oid, int(size[0]) if known else -1, path))
    return entries


def _missing(repository: str, trees: Sequence[str]) -> set[str]:
    """Return the objects below *trees* that a partial clone lacks."""
    walk = ("rev-list", "--objects", "--no-object-names", "--missing=print", "--stdin")
    given = "".join(f"{tree}\n" for tree in trees).encode()
    ids = git(repository, *walk, given=given).decode().split()
    return {line[1:] for line in ids if line.startswith("?")}


class ObjectReader:
    """Reads objects through one ``git cat-file --batch`` process, which starts when first used.

    Threads may share it; another process, forked or sent a copy, starts its own. The process ends
    with :meth:`close` or with the object.
    """

    def __init__(self, repository: str) -> None:
        """Read from *repository*."""
        self._repository = repository
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._finish: weakref.finalize[[subprocess.Popen[bytes]], ObjectReader] | None = None

    def __reduce__(self) -> tuple[type["ObjectReader"], tuple[str]]:
        return ObjectReader, (self._repository,)

    def read(self, oids: Sequence[str]) -> Iterator[bytes]:
        """Yield the content of each object, in order; one that is missing raises InputError."""
        for oid, data in zip(oids, self.find(oids), strict=True):
            if data is None:
                raise InputError(f"{self._repository}: object {oid} is missing")
            yield data

    def find(self, oids: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the content of each object, in order, and None for one that is missing."""
        for first in range(0, len(oids), _AT_ONCE):
            with self._lock:
                answers = self._exchange(oids[first : first + _AT_ONCE])
            yield from answers

    def close(self) -> None:
        """End the process; the next :meth:`read` starts another."""
        with self._lock:
            self._leave()

    def _leave(self) -> None:
        if self._finish:
            self._finish()
        self._process = self._finish = None

    def _exchange(self, oids: Sequence[str]) -> list[bytes | None]:
        requests, answers = self._pipes()
        try:
            requests.write("".join(f"{oid}\n" for oid in oids).encode())
            requests.flush()
            return [self._answer(answers) for _ in oids]
        except BaseException as error:
            # Otherwise the next request would read answers of this one.
            self._leave()
            if isinstance(error, OSError):
                why = f"{self._repository}: git cat-file ended early: {error}"
                raise KaratError(why) from error
            raise

    def _answer(self, answers: IO[bytes]) -> bytes | None:
        header = answers.readline().split()
        if len(header) == 2 and header[1] == b"missing":
            return None
        if len(header) != 3:
            code = self._process.poll() if self._process else None
            raise KaratError(
                f"{self._repository}: git cat-file answered {header!r} (exit code {code})"
            )
        data, line_end = answers.read(int(header[2])), answers.read(1)
        if not line_end:
            raise KaratError(f"{self._repository}: git cat-file ended within an object")
        return data

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        inherited = self._owner != os.getpid()
        if self._process is None or inherited or self._process.poll() is not None:
            self._owner = os.getpid()
            self._process = subprocess.Popen(  # noqa: S603 - a list of arguments, no shell
                command(self._repository, "cat-file", "--batch"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(),
            )
            self._finish = weakref.finalize(self, _end, self._process)
        if self._process.stdin is None or self._process.stdout is None:
            raise KaratError("git cat-file has no pipes")
        return self._process.stdin, self._process.stdout


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin:
        try:
            process.stdin.close()
        except OSError:
            process.kill()
    if process.stdout:
        process.stdout.close()
    process.wait()
