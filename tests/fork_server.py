"""A process that has imported what workers import, and forks one whenever a test starts a worker.

A worker that is forked is a process like any other: it has a session of its own, pipes, a process
id that can be killed, and an exit code. It only saves the 0.2 s in which a new interpreter imports
Karat and numpy. The fixture ``new_interpreters`` starts real ones.
"""

import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import IO

from karat.errors import MissingExtra
from karat.experiments.workers.process import BOOT

# Modules that most workers import. None of them starts a thread, which no fork would survive.
PRELOADED = (
    "karat.experiments.workers.worker",
    "karat.corpus.chunkers.chunking",
    "karat.corpus.chunkers.sections",
    "karat.corpus.chunkers.syntax",
    "karat.engines.builtin",
    "karat.engines.keyword",
    "karat.engines.lexical.index",
    "karat.engines.stages",
)
# Programs that are forked. A module is imported when it is first needed.
PROGRAMS = {
    ("-c", BOOT),
    ("-m", "karat.extensions.service.analysts.analyst"),
    ("-m", "karat.extensions.service.jobs.loss_reasons"),
    ("-m", "karat.extensions.service.jobs.worker"),
}
LENGTH_BYTES = 8
STANDARD_STREAMS = 3


class ForkServer:
    """Forks Python processes; started at the first one, ended by :meth:`close`."""

    def __init__(self, original: Callable[..., subprocess.Popen[bytes]]) -> None:
        """*original* starts all processes that are no workers."""
        self.original = original
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def start(self) -> socket.socket:
        """Start the server unless it runs, and return the connection to it."""
        if self._socket is None:
            self._socket, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, __file__, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                    start_new_session=True,
                )
        return self._socket

    def spawn(
        self,
        arguments: Sequence[str],
        *,
        root: str,
        environment: Mapping[str, str],
        stdin: int,
        stderr: int | None = subprocess.PIPE,
    ) -> "subprocess.Popen[bytes] | ForkedProcess":
        """Start a process with pipes; fork it if it is a worker of Karat."""
        interpreter, option, program = [*arguments, "", ""][:3]
        forkable = interpreter == sys.executable and (option, program) in PROGRAMS
        forkable = forkable and Path(root).is_dir() and hasattr(os, "pidfd_open")  # on Linux
        if not forkable:
            return self.original(
                arguments, root=root, environment=environment, stdin=stdin, stderr=stderr
            )
        theirs_in, stdin = os.pipe()
        stdout, theirs_out = os.pipe()
        complaints, theirs_err = os.pipe() if stderr == subprocess.PIPE else (-1, os.dup(2))
        files = [theirs_in, theirs_out, theirs_err]
        request = {
            "arguments": list(arguments),
            "root": root or str(Path.cwd()),
            "environment": dict(environment),
        }
        try:
            pid = self._request(request, files)
        except BaseException:
            for each in (stdin, stdout, *([complaints] if complaints >= 0 else [])):
                os.close(each)
            raise
        finally:
            for each in files:
                os.close(each)
        tail = os.fdopen(complaints, "rb", 0) if complaints >= 0 else None
        return ForkedProcess(self, pid, os.fdopen(stdin, "wb", 0), os.fdopen(stdout, "rb", 0), tail)

    def reap(self, pid: int) -> int:
        """Return the exit code of a process that has ended, or minus the signal that ended it."""
        return self._request({"reap": pid}, [])

    def _request(self, message: Mapping[str, object], files: list[int]) -> int:
        data = json.dumps(message).encode()
        with self._lock:
            connection = self.start()
            socket.send_fds(connection, [len(data).to_bytes(LENGTH_BYTES, "big")], files)
            connection.sendall(data)
            answer = connection.recv(LENGTH_BYTES, socket.MSG_WAITALL)
        if not answer:
            raise RuntimeError("the fork server has ended")
        return int.from_bytes(answer, "big", signed=True)

    def close(self) -> None:
        """End the server; processes that it has forked go on."""
        if self._socket is not None and self._process is not None:
            self._socket.close()
            self._process.wait()
            self._socket = self._process = None


class ForkedProcess:
    """A forked process with the attributes of Popen that Karat uses."""

    def __init__(
        self,
        server: ForkServer,
        pid: int,
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes] | None,
    ) -> None:
        self._server = server
        self.pid = pid
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.returncode: int | None = None
        self._lock = Lock()
        # Readable once the process has ended. Until it is reaped, its number belongs to it.
        self._ended = os.pidfd_open(pid)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; TimeoutExpired if the process still runs after *timeout*."""
        with self._lock:
            if self.returncode is None:
                poll = select.poll()
                poll.register(self._ended, select.POLLIN)
                if not poll.poll(None if timeout is None else timeout * 1000):
                    raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
                self.returncode = self._server.reap(self.pid)
                os.close(self._ended)
            return self.returncode

    def kill(self) -> None:
        """Kill the process unless it has been reaped."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)


def serve(connection: socket.socket) -> list[str]:
    """Answer requests; in a forked process, return the arguments that it has to run."""
    while header := socket.recv_fds(connection, LENGTH_BYTES, STANDARD_STREAMS):
        data, files, _, _ = header
        if not data:
            break
        length = int.from_bytes(data, "big")
        request = json.loads(connection.recv(length, socket.MSG_WAITALL))
        if "reap" in request:
            _, status = os.waitpid(request["reap"], 0)
            answer = os.waitstatus_to_exitcode(status)
        else:
            _, option, program, *_ = request["arguments"]
            if option == "-m" and program not in sys.modules:
                import_module(program)
            ready, starting = os.pipe()
            answer = os.fork()
            if answer == 0:
                connection.close()
                become(request, files)
                os.close(ready)
                os.close(starting)
                return list(request["arguments"])
            for each in (*files, starting):
                os.close(each)
            # Until the process has a group of its own, the group cannot be killed.
            os.read(ready, 1)
            os.close(ready)
        connection.sendall(answer.to_bytes(LENGTH_BYTES, "big", signed=True))
    os._exit(0)


def become(request: Mapping[str, object], files: Sequence[int]) -> None:
    """Take over streams, folder and environment of *request*."""
    os.setsid()
    for stream, file in enumerate(files):
        os.dup2(file, stream)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["environment"])  # type: ignore[call-overload]
    os.chdir(str(request["root"]))
    time.tzset()
    tempfile.tempdir = None


def run(arguments: list[str]) -> None:
    """Run the *arguments* of a Python interpreter: ``-c CODE ...`` or ``-m MODULE ...``."""
    _, option, program, *rest = arguments
    sys.argv = [option, *rest]
    if option == "-c":
        exec(program, {"__name__": "__main__"})  # noqa: S102 - BOOT
    else:
        # Otherwise runpy warns that the module runs a second time.
        del sys.modules[program]
        runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    for name in PRELOADED:
        import_module(name)
    # The model that most dense and hybrid engines of the tests use, unless extensions are hidden.
    with suppress(MissingExtra, ModuleNotFoundError):
        import_module("karat.extensions.models.static").static()
    # A collection in a forked process would copy all pages of these modules.
    gc.freeze()
    run(serve(socket.socket(fileno=int(sys.argv[1]))))
