"""Child processes, each in its own process group, so that all its descendants can be killed."""

import os
import select
import selectors
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import ceil
from time import monotonic
from typing import IO, NamedTuple

from karat.errors import EngineError

__all__ = ["BASE_ENVIRONMENT", "Child", "CommandOutput", "Tail", "run", "timed_out"]

# What a program needs to find its own parts; everything else must be allowed by name.
BASE_ENVIRONMENT = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "USER", "LOGNAME"),
    *("SYSTEMROOT", "TEMP", "TMP", "USERPROFILE", "PATHEXT", "COMSPEC"),
)
CHUNK = 1 << 16
TAIL = 4_000
GRACE_S = 2.0
# A signal that comes between two instructions wakes nobody who falls asleep right after it.
HEAR_S = 0.5


class CommandOutput(NamedTuple):
    """The output of a command and its exit code."""

    output: bytes
    complaints: bytes
    code: int


def timed_out(what: str, timeout_s: float) -> EngineError:
    """Return the error of a search that took too long; its cause is a TimeoutError."""
    error = EngineError(f"{what} took longer than {timeout_s:g} s and was stopped")
    error.__cause__ = TimeoutError(f"{timeout_s:g} s")
    return error


def run(
    arguments: Sequence[str],
    *,
    root: str,
    environment: Mapping[str, str],
    timeout_s: float,
    max_bytes: int,
) -> CommandOutput:
    """Run a command to its end; no process of its group survives.

    Raises EngineError where it cannot start, takes longer than *timeout_s* or prints more than
    *max_bytes*.
    """
    deadline = monotonic() + timeout_s
    process = _spawn(arguments, root=root, environment=environment, stdin=subprocess.DEVNULL)
    try:
        output, complaints = _drained(process, deadline, timeout_s, max_bytes)
        try:
            code = process.wait(max(deadline - monotonic(), 0.001))
        except subprocess.TimeoutExpired:
            raise timed_out("the command", timeout_s) from TimeoutError(timeout_s)
        return CommandOutput(output, complaints, code)
    finally:
        _end(process)


def _drained(
    process: "subprocess.Popen[bytes]", deadline: float, timeout_s: float, max_bytes: int
) -> tuple[bytes, bytes]:
    """Return all of its output, and the end of its complaints, once both are closed."""
    output, complaints = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - monotonic()
            if left <= 0:
                raise timed_out("the command", timeout_s)
            for key, _ in selector.select(left):
                chunk = os.read(key.fd, CHUNK)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stdout:
                    output += chunk
                    if len(output) > max_bytes:
                        raise EngineError(f"the command printed more than {max_bytes:,} bytes")
                else:
                    complaints = (complaints + chunk)[-TAIL:]
    return bytes(output), bytes(complaints)


class Tail:
    """The last characters of a stream; a thread reads it, so that it never blocks its writer."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._kept = bytearray()
        self._stream = stream
        self._thread = threading.Thread(target=self._read, name="karat-tail", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            while chunk := os.read(self._stream.fileno(), CHUNK):
                self._kept = (self._kept + chunk)[-TAIL:]

    def text(self, *, wait_s: float = 0.0) -> str:
        """Return the last characters; *wait_s* waits for the end of the stream."""
        self._thread.join(wait_s)
        return bytes(self._kept).decode("utf-8", "replace")

    def close(self) -> None:
        """Wait for the end of the stream, which must be near, and close it."""
        self._thread.join(GRACE_S)
        with suppress(OSError):
            self._stream.close()


class Child:
    """A long-running child process that receives requests as lines on its standard input."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        root: str,
        environment: Mapping[str, str],
        max_bytes: int,
    ) -> None:
        self._max_bytes = max_bytes
        self._pending = bytearray()
        self._process = _spawn(arguments, root=root, environment=environment, stdin=subprocess.PIPE)
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise EngineError("the process has no pipes")
        self._stdin, self._stdout = stdin, stdout
        os.set_blocking(stdin.fileno(), False)
        os.set_blocking(stdout.fileno(), False)
        # Made once, and without a descriptor: each search waits here.
        self._writable, self._readable = select.poll(), select.poll()
        self._writable.register(stdin.fileno(), select.POLLOUT)
        self._readable.register(stdout.fileno(), select.POLLIN)
        self._tail = Tail(stderr)

    @property
    def pid(self) -> int:
        """Return the process's id, which is also that of its group."""
        return self._process.pid

    def exit_code(self, *, wait_s: float = 0.0) -> int | None:
        """Return its exit code, or minus the signal that ended it; None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(wait_s)
        return self._process.returncode

    def complaints(self) -> str:
        """Return the end of what it wrote to standard error."""
        return self._tail.text(wait_s=0.2)

    def send(self, line: bytes, deadline: float) -> None:
        """Write *line* and a line end; EOFError where the process is gone."""
        rest = memoryview(line + b"\n")
        while rest:
            try:
                rest = rest[os.write(self._stdin.fileno(), rest) :]
            except BlockingIOError:
                _wait(self._writable, deadline)
            except OSError:
                raise EOFError from None

    def receive(self, deadline: float) -> bytes:
        """Return the next line; EOFError where the process is gone, TimeoutError after *deadline*.

        A line longer than the limit raises EngineError.
        """
        start = 0
        while (end := self._pending.find(b"\n", start)) < 0:
            start = len(self._pending)
            self._read(deadline)
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        return line

    def receive_bytes(self, count: int, deadline: float) -> bytes:
        """Return the next *count* bytes; raises as :meth:`receive` does."""
        while len(self._pending) < count:
            self._read(deadline)
        taken = bytes(self._pending[:count])
        del self._pending[:count]
        return taken

    def _read(self, deadline: float) -> None:
        if len(self._pending) > self._max_bytes:
            raise EngineError(f"the process printed more than {self._max_bytes:,} bytes")
        _wait(self._readable, deadline)
        chunk = os.read(self._stdout.fileno(), CHUNK)
        if not chunk:
            raise EOFError
        self._pending += chunk

    def close(self) -> None:
        """Close its input, give it a moment to leave, then end its whole group."""
        with suppress(OSError):
            self._stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
        self.kill()

    def kill(self) -> None:
        """End it and its whole group now."""
        _end(self._process, keep=self._process.stderr)
        self._tail.close()


def _wait(pipe: select.poll, deadline: float) -> None:
    while (left_s := deadline - monotonic()) > 0:
        if pipe.poll(ceil(min(left_s, HEAR_S) * 1000)):
            return
    raise TimeoutError


def _spawn(
    arguments: Sequence[str], *, root: str, environment: Mapping[str, str], stdin: int
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(  # noqa: S603 - a list, never a shell
            list(arguments),
            cwd=root or None,
            env=dict(environment),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise EngineError(f"no such program: {arguments[0]!r}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise EngineError(f"cannot start {arguments[0]!r}: {reason}") from None


def _end(process: "subprocess.Popen[bytes]", keep: IO[bytes] | None = None) -> None:
    """End *process* and all of its group, and close its pipes, except the one to *keep*."""
    if hasattr(os, "killpg"):
        # Its children may outlive it, and then hold its group's number.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None and pipe is not keep:
            with suppress(OSError):
                pipe.close()
