"""Child processes, each in a process group of its own, so that none outlives its parent.

A child is either a command that runs to its end (:func:`run_command`) or a :class:`ChildProcess`
that answers messages. A message is one line of JSON. It may be followed by raw bytes, whose lengths
are in the line. A message with the key ``progress`` may precede the answer to a request.
:class:`ParentLink` is the other end of the pipe, for a child that is written in Python.
"""

import json
import os
import select
import selectors
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from math import ceil
from pathlib import Path
from time import monotonic
from typing import IO, Any, NamedTuple

from karat.errors import ProcessError

Message = dict[str, Any]

# Variables that a program needs to find its own parts; all others must be allowed by name.
BASE_ENVIRONMENT = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "USER", "LOGNAME"),
    *("SYSTEMROOT", "TEMP", "TMP", "USERPROFILE", "PATHEXT", "COMSPEC"),
)
READ_BYTES = 1 << 16
TAIL_BYTES = 4_000
WORDS_SHOWN = 160
LINES_SHOWN = 12
LINE_SHOWN = 300
MOST_BLOCKS = 64
MAX_BYTES = 1 << 30
GRACE_S = 2.0
# A process that closed its pipes ends in this time, and its standard error is read to the end.
END_S = 1.0
# A signal between two instructions does not interrupt a poll that starts right after it.
POLL_S = 0.5
# A request that waits for progress wakes up after this time.
TICK_S = 0.5
# From Linux's <sys/prctl.h>.
PR_SET_PDEATHSIG = 1
PROC = Path("/proc")
BOOT_ID = PROC / "sys" / "kernel" / "random" / "boot_id"
DECODER = json.JSONDecoder()


def encode(message: Message) -> bytes:
    """Return *message* as one line, without the line end."""
    return json.dumps(message).encode()


def encode_with_bytes(message: Message) -> bytes:
    r"""Return *message* as one line, then the bytes values in it, in their order.

    The line has the length of each bytes value in its place.

    >>> encode_with_bytes({"ns": 7, "hits": b"packed data"})
    b'{"ns": 7, "hits": 11}\npacked data'
    """
    raw: list[bytes] = []

    def length(value: object) -> int:
        if not isinstance(value, bytes):
            raise TypeError(f"expected bytes, not {type(value).__name__}")
        raw.append(value)
        return len(value)

    line = json.dumps(message, default=length).encode()
    return b"".join((line, b"\n", *raw))


def decode(line: bytes) -> Message:
    """Return the message of one line; ValueError where the line is not a JSON object."""
    # Not json.loads: its checks around raw_decode double the time.
    message, _ = DECODER.raw_decode(line.decode())
    if not isinstance(message, dict):
        raise ValueError(f"expected an object, not {type(message).__name__}")  # noqa: TRY004
    return message


def last_words(text: str) -> str:
    """Return the end of *text* in quotes; a program usually prints its error last.

    >>> last_words("starting ...  no key ")
    "'starting ...  no key'"
    """
    text = text.strip()
    return repr(("..." if len(text) > WORDS_SHOWN else "") + text[-WORDS_SHOWN:])


def error_lines(text: str, hint: str = "") -> str:
    r"""Return the last line of *text* and *hint*; then, of several lines, the last 12, indented.

    >>> print(error_lines("Traceback:\n  File 'a.py', line 1\nValueError: no index\n"))
    ValueError: no index
        Traceback:
          File 'a.py', line 1
        ValueError: no index
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    lines = [f"{line[:LINE_SHOWN]}..." if len(line) > LINE_SHOWN else line for line in lines]
    if not lines:
        return f"no output{hint}"
    last_lines = lines[-LINES_SHOWN:] if len(lines) > 1 else []
    return "\n".join([f"{lines[-1].strip()}{hint}", *(f"    {line}" for line in last_lines)])


class CommandOutput(NamedTuple):
    """The output of a command, the end of its standard error, and its exit code."""

    output: bytes
    complaints: bytes
    code: int


def run_command(
    arguments: Sequence[str],
    *,
    root: str,
    environment: Mapping[str, str],
    timeout_s: float,
    max_bytes: int,
) -> CommandOutput:
    """Run a command to its end and kill all remaining processes of its group.

    Raises ProcessError where the command cannot start, takes longer than *timeout_s* (the cause is
    then a TimeoutError) or prints more than *max_bytes*.
    """
    deadline = monotonic() + timeout_s
    process = _spawn(arguments, root=root, environment=environment, stdin=subprocess.DEVNULL)
    try:
        output, complaints = _drain(process, deadline, max_bytes)
        code = process.wait(max(deadline - monotonic(), 0.001))
        return CommandOutput(output, complaints, code)
    except (TimeoutError, subprocess.TimeoutExpired):
        said = f"the command took longer than {timeout_s:g} s and was stopped"
        raise ProcessError(said) from TimeoutError(f"{timeout_s:g} s")
    finally:
        _end(process)


def _drain(
    process: "subprocess.Popen[bytes]", deadline: float, max_bytes: int
) -> tuple[bytes, bytes]:
    """Return the whole output and the end of standard error, once both are closed."""
    output, complaints = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - monotonic()
            if left <= 0:
                raise TimeoutError
            for key, _ in selector.select(left):
                chunk = os.read(key.fd, READ_BYTES)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stdout:
                    output += chunk
                    if len(output) > max_bytes:
                        raise ProcessError(f"the command printed more than {max_bytes:,} bytes")
                else:
                    complaints = (complaints + chunk)[-TAIL_BYTES:]
    return bytes(output), bytes(complaints)


def find_program(name: str, search_path: str = os.defpath) -> str | None:
    """Return the absolute path of the program *name*, None where it does not exist.

    Relative folders on the *search_path*, such as ``.``, are ignored: a child may run in a folder
    that holds other people's programs.
    """
    if os.sep in name or "/" in name:
        return shutil.which(os.path.abspath(name))  # noqa: PTH100 - links stay links
    folders = [each for each in search_path.split(os.pathsep) if os.path.isabs(each)]  # noqa: PTH117
    return shutil.which(name, path=os.pathsep.join(folders))


class StreamTail:
    """The last characters of a stream; a thread reads it, so that its writer never blocks."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._end = bytearray()
        self._stream = stream
        self._thread = threading.Thread(target=self._read, name="karat-tail", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            while chunk := os.read(self._stream.fileno(), READ_BYTES):
                self._end = (self._end + chunk)[-TAIL_BYTES:]

    def text(self, *, wait_s: float = 0.0) -> str:
        """Return the last characters; wait up to *wait_s* for the end of the stream."""
        self._thread.join(wait_s)
        return bytes(self._end).decode("utf-8", "replace")

    def close(self) -> None:
        """Wait for the end of the stream, which must be near, and close it."""
        self._thread.join(GRACE_S)
        with suppress(OSError):
            self._stream.close()


class ChildProcess:
    """A long-lived process that reads messages from its standard input.

    Its standard error is read by a thread, which keeps the end of it; without *capture_stderr* the
    child shares that of this process. A line or a block of more than *max_bytes* raises
    ProcessError. The child runs in a session of its own, so that Ctrl-C reaches only its parent.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        root: str = "",
        max_bytes: int = MAX_BYTES,
        capture_stderr: bool = True,
    ) -> None:
        """Start the process in the folder *root*; ProcessError where it cannot start."""
        self._max_bytes = max_bytes
        self._pending = bytearray()
        self._process = _spawn(
            arguments,
            root=root,
            environment=environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE if capture_stderr else None,
        )
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        if stdin is None or stdout is None:
            raise ProcessError("the process has no pipes")
        self._stdin, self._stdout = stdin, stdout
        os.set_blocking(stdin.fileno(), False)
        os.set_blocking(stdout.fileno(), False)
        # Created once, and without a descriptor: every request waits here.
        self._writable, self._readable = select.poll(), select.poll()
        self._writable.register(stdin.fileno(), select.POLLOUT)
        self._readable.register(stdout.fileno(), select.POLLIN)
        self._tail = StreamTail(stderr) if stderr else None

    @classmethod
    def python(cls, module: str, *, capture_stderr: bool = True) -> "ChildProcess":
        """Run *module* with this interpreter, in this environment."""
        return cls(
            [sys.executable, "-m", module], environment=os.environ, capture_stderr=capture_stderr
        )

    @property
    def pid(self) -> int:
        """Return the id of the process, which is also that of its group."""
        return self._process.pid

    def exit_code(self, *, wait_s: float = 0.0) -> int | None:
        """Return its exit code, or minus the signal that ended it; None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(wait_s)
        return self._process.returncode

    def stderr_tail(self) -> str:
        """Return the end of its standard error, empty where that is not captured.

        A process that has ended may have written more than the thread has read: wait for its end.
        """
        return self._tail.text(wait_s=END_S) if self._tail else ""

    def output_tail(self) -> str:
        """Return the end of the standard output that was not received yet, without waiting."""
        with suppress(OSError, ValueError):
            # A child of the process may go on printing: read no more than so many blocks.
            for _ in range(MOST_BLOCKS):
                chunk = os.read(self._stdout.fileno(), READ_BYTES)
                if not chunk:
                    break
                self._pending = (self._pending + chunk)[-TAIL_BYTES:]
        return bytes(self._pending[-TAIL_BYTES:]).decode("utf-8", "replace")

    def exit_reason(self, *, scrub: Callable[[str], str] = str) -> str:
        """Return how the process ended, with the end of its standard error.

        The result completes a sentence: ``its process ended with exit code 3; its error output: x``
        *scrub* removes secrets from what the process wrote.
        """
        code = self.exit_code(wait_s=END_S)
        if code is None:
            how = "its process closed its pipe"
        elif code < 0:
            how = f"its process was ended by {_signal_name(-code)}"
        else:
            how = f"its process ended with exit code {code}"
        said = scrub(self.stderr_tail()).strip()
        return f"{how}; its error output: {last_words(said)}" if said else how

    def request(
        self,
        message: Message,
        timeout_s: float,
        *,
        on_tick: Callable[[Any], None] | None = None,
        tick_s: float = TICK_S,
    ) -> Message:
        """Send *message* and return the answer; see :meth:`answer`."""
        deadline = monotonic() + timeout_s
        self.send(encode(message), deadline)
        return self.answer(deadline, on_tick=on_tick, tick_s=tick_s)

    def answer(
        self,
        deadline: float,
        *,
        on_tick: Callable[[Any], None] | None = None,
        tick_s: float = TICK_S,
    ) -> Message:
        """Return the next message that is not a progress event.

        *on_tick* is called with each progress event, and with None after *tick_s* without one. An
        exception that it raises ends the wait. Raises as :meth:`receive` does.
        """
        if on_tick is None:
            return decode(self.receive(deadline))
        while True:
            progress = None
            try:
                message = decode(self.receive(min(deadline, monotonic() + tick_s)))
            except TimeoutError:
                if monotonic() >= deadline:
                    raise
            else:
                if "progress" not in message:
                    return message
                progress = message["progress"]
            on_tick(progress)

    def send(self, line: bytes, deadline: float) -> None:
        """Write *line* and a line end; EOFError where the process has ended."""
        rest = memoryview(line + b"\n")
        while rest:
            try:
                rest = rest[os.write(self._stdin.fileno(), rest) :]
            except BlockingIOError:
                _wait(self._writable, deadline)
            except (OSError, ValueError):
                raise EOFError from None

    def receive(self, deadline: float) -> bytes:
        """Return the next line.

        Raises EOFError where the process has ended, TimeoutError after *deadline* and ProcessError
        where the line is longer than the limit.
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
        block = bytes(self._pending[:count])
        del self._pending[:count]
        return block

    def _read(self, deadline: float) -> None:
        if len(self._pending) > self._max_bytes:
            raise ProcessError(f"the process printed more than {self._max_bytes:,} bytes")
        _wait(self._readable, deadline)
        chunk = os.read(self._stdout.fileno(), READ_BYTES)
        if not chunk:
            raise EOFError
        self._pending += chunk

    def close_input(self) -> None:
        """Close its standard input, which asks the process to exit."""
        with suppress(OSError):
            self._stdin.close()

    def close(self, *, grace_s: float = GRACE_S) -> None:
        """Close its input, wait up to *grace_s* for its end, then kill its whole group."""
        self.close_input()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(grace_s, 0.0))
        self.kill()

    def kill(self) -> None:
        """Kill the process and its whole group now."""
        _end(self._process, keep=self._process.stderr)
        if self._tail:
            self._tail.close()

    def kill_tree(self) -> None:
        """Kill the process, its group, and all processes below it in other groups."""
        if self.exit_code() is None:
            with suppress(ProcessLookupError):
                # A stopped process starts no others while its descendants are listed.
                os.kill(self.pid, signal.SIGSTOP)
            kill_below(self.pid)
        self.kill()

    def interrupt_tree(self) -> None:
        """Kill as :meth:`kill_tree` does, but leave the pipes to the thread that reads them."""
        kill_below(self.pid)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


class ParentLink:
    """The pipes from and to the parent of this process, which a :class:`ChildProcess` started.

    Standard input becomes empty and standard output becomes standard error, so that nothing that
    other code prints gets between two answers.
    """

    def __init__(self) -> None:
        """Take the pipes over."""
        self._requests = os.fdopen(os.dup(0), "rb")
        self._answers = os.fdopen(os.dup(1), "wb")
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - only its descriptor is needed
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)

    def receive(self) -> Message:
        """Return the next request; EOFError where the parent is gone."""
        line = self._requests.readline()
        if not line:
            raise EOFError
        return decode(line)

    def requests(self) -> Iterator[Message]:
        """Yield all requests until the parent is gone."""
        return map(decode, self._requests)

    def send(self, message: Message) -> None:
        """Send an answer or a progress event; bytes in it follow the line."""
        self._answers.write(encode_with_bytes(message))
        self._answers.flush()

    def when_closed(self, callback: Callable[[], None]) -> None:
        """Call *callback* in a thread once the parent has closed the pipe or has ended."""
        if sys.platform == "linux":
            from ctypes import CDLL

            # A parent may stop this process before it kills it: wake up when the parent is gone.
            CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGCONT)

        def wait() -> None:
            poll = select.poll()
            # No event is requested, so that only the end is reported, not a request.
            poll.register(self._requests.fileno(), 0)
            poll.poll()
            callback()

        threading.Thread(target=wait, name="karat-parent", daemon=True).start()


def descendants(pid: int) -> list[int]:
    """Return the ids of the children of *pid*, of their children, and so on."""
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    below = list(children.get(pid, ()))
    for each in below:
        below += children.get(each, ())
    return below


@cache
def kernel_id() -> str:
    """Return an id of this kernel that changes with a restart of the machine.

    All containers of a machine share it. "" if the system has no such id.
    """
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def kill_below(pid: int) -> None:
    """Kill the groups of all processes below *pid*, but not its own group.

    A descendant with a session of its own would survive if only the group of *pid* were killed.
    """
    with suppress(ProcessLookupError):
        own = os.getpgid(pid)
        for child in descendants(pid):
            with suppress(ProcessLookupError, PermissionError):
                group = os.getpgid(child)
                if group != own:
                    os.killpg(group, signal.SIGKILL)


def peak_bytes() -> int:
    """Return the peak memory of this process and of those below it that still run."""
    if not (PROC / "self/status").is_file():
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    # Not ru_maxrss: on Linux a program inherits the value of its parent.
    return sum(map(_high_water, [os.getpid(), *descendants(os.getpid())]))


def resident_bytes() -> int:
    """Return the memory that this process uses now; its peak if the system does not report it."""
    try:
        pages = int((PROC / "self/statm").read_text("ascii").split()[1])
    except OSError:
        return peak_bytes()
    return pages * os.sysconf("SC_PAGE_SIZE")


def _high_water(pid: int) -> int:
    """Return the largest resident size of *pid*, 0 where it has ended."""
    try:
        lines = (PROC / str(pid) / "status").read_text("utf-8", "replace").splitlines()
    except OSError:
        return 0
    kilobytes = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(next(kilobytes, "0")) * 1024


def _parents() -> list[tuple[int, int]]:
    """Return the ids of all visible processes, each with that of its parent."""
    if not (PROC / "self/stat").is_file():
        command = ["ps", "-A", "-o", "pid=,ppid="]
        listing = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        rows = map(str.split, listing.stdout.splitlines())
        return [(int(pid), int(parent)) for pid, parent in rows]
    pairs = []
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                # The name of the program, in parentheses, may contain blanks and parentheses.
                about = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2]
                pairs.append((int(folder.name), int(about.split()[1])))
    return pairs


def _wait(pipe: select.poll, deadline: float) -> None:
    while (left_s := deadline - monotonic()) > 0:
        if pipe.poll(ceil(min(left_s, POLL_S) * 1000)):
            return
    raise TimeoutError


def _spawn(
    arguments: Sequence[str],
    *,
    root: str,
    environment: Mapping[str, str],
    stdin: int,
    stderr: int | None = subprocess.PIPE,
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(  # noqa: S603 - a list, never a shell
            list(arguments),
            cwd=root or None,
            env=dict(environment),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise ProcessError(f"no such program: {arguments[0]!r}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ProcessError(f"cannot start {arguments[0]!r}: {reason}") from None


def _end(process: "subprocess.Popen[bytes]", keep: IO[bytes] | None = None) -> None:
    """Kill *process* and all of its group, and close its pipes, except the one to *keep*."""
    if hasattr(os, "killpg"):
        # Its children may outlive it, and then hold the number of its group.
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


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
