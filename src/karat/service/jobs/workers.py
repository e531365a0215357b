"""The processes that do the jobs of a service, and another one for each that dies."""

import logging
import subprocess
import sys
from contextlib import suppress
from threading import Event, Thread
from time import monotonic
from typing import IO

from karat.errors import KaratError
from karat.service.jobs.worker import as_line
from karat.service.settings import ServiceSettings

__all__ = ["Workers"]

logger = logging.getLogger("karat.workers")

LOOK_S = 0.2
# One that dies at once is not started again at once.
SHORT_LIFE_S = 2.0
GRACE_S = 10.0


class Workers:
    """Started with the service and stopped with it; jobs that are not done are handed back."""

    def __init__(self, settings: ServiceSettings, *, count: int | None = None) -> None:
        """Plan *count* workers, or as many as *settings* say; none is started yet."""
        self._line = as_line(settings)
        self._count = settings.workers if count is None else count
        self._processes: list[subprocess.Popen[str]] = []
        self._stopping = Event()
        self._watch = Thread(target=self._respawn, name="workers", daemon=True)

    @property
    def pids(self) -> list[int]:
        """Return the numbers of the processes that were started last."""
        return [process.pid for process in self._processes]

    def start(self) -> None:
        """Start all workers, and watch over them."""
        self._processes = [self._started() for _ in range(self._count)]
        self._watch.start()

    def stop(self) -> None:
        """Let all workers hand back what they do; who has not ended by then is killed."""
        self._stopping.set()
        self._watch.join()
        for process in self._processes:
            _input(process).close()
        deadline = monotonic() + GRACE_S
        for process in self._processes:
            try:
                process.wait(max(deadline - monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _started(self) -> "subprocess.Popen[str]":
        # In a session of its own, so that Ctrl-C reaches the service alone, which stops in order.
        process = subprocess.Popen(
            [sys.executable, "-m", "karat.service.jobs.worker"],
            stdin=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        with suppress(BrokenPipeError):
            _input(process).write(self._line)
            _input(process).flush()
        return process

    def _respawn(self) -> None:
        born = [monotonic()] * self._count
        while not self._stopping.wait(LOOK_S):
            for place, process in enumerate(self._processes):
                lived = monotonic() - born[place]
                if process.poll() is None or lived < SHORT_LIFE_S:
                    continue
                logger.error("a worker died", extra={"status": process.returncode})
                _input(process).close()
                try:
                    self._processes[place] = self._started()
                except OSError:
                    # Memory may be short, perhaps of what the worker died of.
                    logger.exception("no other worker could be started yet")
                born[place] = monotonic()


def _input(process: "subprocess.Popen[str]") -> IO[str]:
    if process.stdin is None:
        raise KaratError("a worker was started without an input")
    return process.stdin
