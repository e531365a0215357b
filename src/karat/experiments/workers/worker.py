"""The process of a group of engines: builds them from their specifications and asks them.

Started by :mod:`karat.experiments.workers.process`, asked by lines on its standard input.
"""

import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from shutil import rmtree
from typing import IO

from karat.engines.base import SupportsBatch, SupportsProgress
from karat.engines.engine_group import EngineGroup
from karat.errors import InputError, KaratError, MissingExtra
from karat.experiments.workers.engine_session import EngineSession
from karat.experiments.workers.plan import Configuration
from karat.experiments.workers.process import Message, decoded, with_bytes
from karat.experiments.workers.processes import kill_below, peak_bytes
from karat.experiments.workers.sources import Opener, Source
from karat.model.spec import Spec

__all__ = ["main"]

GRACE_S = 2.0
TRACE = 8_000
# Progress is sent at most this often, so that it costs no time.
PROGRESS_S = 0.2
# From Linux's <sys/prctl.h>.
PR_SET_PDEATHSIG = 1


def main(folder: str) -> None:
    """Answer requests until Karat is gone, then remove *folder*, which holds temporary files."""
    requests, answers = _private_pipes()
    _wake_when_orphaned()
    watched = (requests.fileno(), folder)
    threading.Thread(target=_leave_with, args=watched, daemon=True).start()

    def send(message: Message) -> None:
        answers.write(with_bytes(message))
        answers.flush()

    host = _Host(_Progress(send))
    try:
        with suppress(BrokenPipeError):  # Nobody waits for that answer any more.
            for line in requests:
                send(host.answer(decoded(line)))
        host.close()
    finally:
        rmtree(folder, ignore_errors=True)


class _Progress:
    """Sends how many texts are embedded, between a request to index and its answer."""

    def __init__(
        self, send: Callable[[Message], None], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._send = send
        self._clock = clock
        self._sent = -PROGRESS_S
        # Progress at any other time would be taken for an answer.
        self.wanted = False

    def __call__(self, done: int, total: int) -> None:
        now = self._clock()
        if self.wanted and now - self._sent >= PROGRESS_S:
            self._sent = now
            self._send({"progress": {"stage": "embedding", "done": done, "total": total}})


class _Host:
    """The engines of a group, and what is asked of them."""

    def __init__(self, progress: _Progress) -> None:
        self._progress = progress
        self._family = EngineGroup()
        # By their numbers; one that cannot be built is missing.
        self._asked: dict[int, EngineSession] = {}
        self._opener = Opener()
        self._operations: Mapping[str, Callable[[Message], Message]] = {
            "open": self._open,
            "show": self._show,
            "expect": self._expect,
            "ask": self._ask,
            "peak": lambda _: {"peak_bytes": peak_bytes()},
            "close": self._close,
        }

    def answer(self, request: Message) -> Message:
        """Return the answer to *request*; what an engine raises becomes a failure."""
        try:
            return self._operations[request["op"]](request)
        except Exception as error:  # noqa: BLE001 - an engine may raise anything
            return {"failure": _failure(error)}

    def close(self) -> None:
        """Let go of the engines."""
        try:
            self._family.close()
        finally:
            self._opener.close()

    def _open(self, request: Message) -> Message:
        self._family = EngineGroup(apart=request["apart"])
        failures: list[tuple[int, Message]] = []
        for wanted in request["members"]:
            member, spec = wanted.pop("member"), Spec(**wanted.pop("spec"))
            try:
                engine = self._family.add(spec)
            except Exception as error:  # noqa: BLE001 - of any class that a user names
                failures.append((member, _failure(error)))
            else:
                self._asked[member] = EngineSession(Configuration("", spec, **wanted), engine)
                # Whoever cannot be watched indexes all the same.
                with suppress(Exception):
                    if isinstance(engine, SupportsProgress):
                        engine.watch(self._progress)
        return {"failures": failures}

    def _show(self, request: Message) -> Message:
        corpus = self._opener.open(Source(**request["source"]), request["ahead"])
        self._progress.wanted = True
        try:
            self._family.show(corpus)
        finally:
            self._progress.wanted = False
        index_ns = self._family.index_ns
        return {
            "indexed": [
                (member, asked.indexed(corpus, index_ns(asked.engine)))
                for member, asked in self._asked.items()
            ]
        }

    def _expect(self, request: Message) -> Message:
        """Let members do for many queries at once what they can; who fails is asked as ever."""
        for member in request["members"]:
            engine = self._asked[member].engine
            if isinstance(engine, SupportsBatch):
                with suppress(Exception):
                    engine.expect(request["queries"])
        return {}

    def _ask(self, request: Message) -> Message:
        """Let the members that are asked answer; in company they share what they find out."""
        query, first = request["query"], request["first"]
        members = [self._asked[member] for member in request["members"]]
        forget = self._family.forget
        forget()
        before = forget if len(members) == 1 else _nothing
        return {"replies": [_replied(asked, query, first, before) for asked in members]}

    def _close(self, _: Message) -> Message:
        self.close()
        return {}


def _replied(asked: EngineSession, query: str, first: bool, before: Callable[[], None]) -> Message:
    try:
        return asked.ask(query, first=first, before=before)
    except Exception as error:  # noqa: BLE001 - an engine may raise anything
        return {"failure": _failure(error)}


def _nothing() -> None:
    return


def _failure(error: Exception) -> Message:
    known = isinstance(error, KaratError)
    return {
        "message": str(error) if known else f"{type(error).__name__}: {error}",
        "timeout": isinstance(error, TimeoutError) or isinstance(error.__cause__, TimeoutError),
        "input": isinstance(error, InputError | MissingExtra),
        "traceback": "".join(traceback.format_exception(error))[-TRACE:],
    }


def _private_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the pipes to Karat to ourselves: what an engine prints is a complaint, and no answer."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a descriptor is all that is needed
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return requests, answers


def _wake_when_orphaned() -> None:
    """Have the system wake this process when Karat is gone, which stops it before it ends it."""
    if sys.platform == "linux":
        from ctypes import CDLL

        CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGCONT)


def _leave_with(requests: int, folder: str) -> None:
    """Wait until Karat is gone, then end this process and all below it, whatever they do."""
    poll = select.poll()
    # No event is asked for, so that only the end is told, and no request.
    poll.register(requests, 0)
    poll.poll()
    time.sleep(GRACE_S)
    with suppress(OSError):
        kill_below(os.getpid())
    rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)
