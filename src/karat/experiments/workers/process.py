"""Engines in a process of their own, as Karat sees it from outside."""

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, NamedTuple

from karat.engines.adapters.child import Child
from karat.engines.adapters.template import last_words
from karat.errors import EngineError
from karat.experiments.workers.plan import Configuration
from karat.experiments.workers.processes import kill_below
from karat.experiments.workers.sources import Source
from karat.model import Hit, Outcome
from karat.model.packing import PackedHits

__all__ = [
    "EngineFailure",
    "EngineProcess",
    "IndexProgress",
    "IndexedCorpus",
    "Message",
    "Question",
    "Watch",
    "WorkerReply",
    "decoded",
    "encoded",
    "with_bytes",
]

Message = dict[str, Any]

DECODER = json.JSONDecoder()


def encoded(message: Message) -> bytes:
    """Return *message* as one line, without its end."""
    return json.dumps(message).encode()


def with_bytes(message: Message) -> bytes:
    r"""Return *message* as one line, and after its end the bytes in it, in their order.

    In their places the line has their lengths.

    >>> with_bytes({"ns": 7, "hits": b"as they are"})
    b'{"ns": 7, "hits": 11}\nas they are'
    """
    aside: list[bytes] = []

    def length(value: object) -> int:
        if not isinstance(value, bytes):
            raise TypeError(f"expected bytes, not {type(value).__name__}")
        aside.append(value)
        return len(value)

    line = json.dumps(message, default=length).encode()
    return b"".join((line, b"\n", *aside))


def decoded(line: bytes) -> Message:
    """Return the message of one line; ValueError where it is none."""
    # Not json.loads: what it does around this takes as long once more.
    message, _ = DECODER.raw_decode(line.decode())
    if not isinstance(message, dict):
        raise ValueError(f"expected an object, not {type(message).__name__}")  # noqa: TRY004
    return message


# The path first, so that the process finds Karat and the user's classes where this one did.
BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from karat.experiments.workers.worker import main; main(sys.argv.pop())"
)
MAX_BYTES = 1 << 28
# A pipe takes so much beside another question without waiting for its reader, who may wait itself
# until its answer is read.
FITS_BYTES = 1 << 12
START_S = 120.0
CLOSE_S = 5.0
# While engines are loaded or index, their progress is reported after this time, and again.
TICK_S = 0.5


class EngineFailure(NamedTuple):
    """Why there is no answer.

    *reason* is ``timeout``, ``error`` (the engine raised one) or ``agent_error`` (its process
    ended). *gone* says that the process is no more, *wrong* that the configuration cannot work.
    """

    outcome: Outcome
    reason: str
    message: str
    traceback: str = ""
    gone: bool = False
    wrong: bool = False


class IndexedCorpus(NamedTuple):
    """What the engine has indexed: *corpus* is the snapshot of all paths and contents."""

    index_ns: int
    index_bytes: int
    documents: int
    corpus: str
    work: Mapping[str, int]


class WorkerReply(NamedTuple):
    """One repetition of a query; a further one only says whether its ranking is the *same*."""

    ns: int
    same: bool = True
    hits: Sequence[Hit] = ()
    phases: Mapping[str, int] = {}
    spent: Mapping[str, float] = {}
    invalid: Mapping[str, int] = {}
    mended: Mapping[str, int] = {}


class IndexProgress(NamedTuple):
    """What an engine does before it can search: *done* of *total*, which is 0 where unknown."""

    stage: str
    done: int = 0
    total: int = 0


# Receives progress while an engine is loaded or indexes.
Watch = Callable[[IndexProgress], None]


class Question(NamedTuple):
    """A *query* for *members*, which may take *timeout_s* each.

    Before the *first* repetition of a query its engine is reset if it can be.
    """

    query: str
    members: Sequence[int]
    timeout_s: float
    first: bool = True


class EngineProcess:
    """A process with the engines of one group; nothing of it is left after :meth:`close`.

    It runs in its own session, so that Ctrl-C reaches only Karat, and has its own folder for
    temporary files. Methods return an :class:`EngineFailure` where there is no answer; after one
    with *gone*, the process cannot run another query.
    """

    def __init__(self) -> None:
        """Start the process; it has no engine yet."""
        self._ended = False
        # What it was asked ahead of time.
        self._ahead: Message | None = None
        self._folder = TemporaryDirectory(prefix="karat-engine-", ignore_cleanup_errors=True)
        try:
            self._child = Child(
                [sys.executable, "-c", BOOT, self._folder.name, json.dumps(sys.path)],
                root="",
                environment={**os.environ, "TMPDIR": self._folder.name},
                max_bytes=MAX_BYTES,
            )
        except BaseException:
            self._folder.cleanup()
            raise

    @property
    def pid(self) -> int:
        """Return the id of the process."""
        return self._child.pid

    def open(
        self, group: Mapping[int, Configuration], *, apart: bool, watch: Watch = lambda _: None
    ) -> dict[int, EngineFailure] | EngineFailure:
        """Build the engines of *group*, and return why some cannot be; nothing is indexed yet.

        With *apart*, none is quicker for what another one has done. *watch* hears that it takes
        long.
        """
        members = [
            {
                "member": member,
                "spec": {"kind": spec.kind, "name": spec.name, "params": dict(spec.params)},
                "k": k,
                "files": files,
                "threshold": threshold,
            }
            for member, (_, spec, k, files, threshold) in group.items()
        ]
        request = {"op": "open", "members": members, "apart": apart}
        answer = self._request(request, START_S, watched=(watch, IndexProgress("loading")))
        if isinstance(answer, EngineFailure):
            return answer
        return {member: _failure(said) for member, said in answer["failures"]}

    def show(
        self,
        source: Source,
        timeout_s: float,
        *,
        ahead: Sequence[str] = (),
        watch: Watch = lambda _: None,
    ) -> dict[int, IndexedCorpus] | EngineFailure:
        """Index *source*, or move on to it where the engines can; *ahead* are its next revisions.

        What comes back is by the numbers of the engines that there are. Where it takes long,
        *watch* receives the progress a few times a second.
        """
        request = {"op": "show", "source": source.to_json(), "ahead": list(ahead)}
        answer = self._request(request, timeout_s, watched=(watch, IndexProgress("indexing")))
        if isinstance(answer, EngineFailure):
            return answer
        return {member: IndexedCorpus(**indexed) for member, indexed in answer["indexed"]}

    def expect(
        self, queries: Sequence[str], members: Sequence[int], timeout_s: float
    ) -> EngineFailure | None:
        """Let *members* do ahead, for all of *queries* at once, what they can; or say why not."""
        request = {"op": "expect", "queries": list(queries), "members": list(members)}
        answer = self._request(request, timeout_s)
        return answer if isinstance(answer, EngineFailure) else None

    def ask(
        self, asked: Question, then: Question | None = None
    ) -> list[WorkerReply | EngineFailure] | EngineFailure:
        """Return the replies of all members that are asked, in their order.

        While they are looked at here, the process goes on with *then*, which is to be asked next.
        """
        timeout_s = asked.timeout_s * len(asked.members)
        answer = self._request(_ask(asked), timeout_s, then=_ask(then) if then else None)
        return (
            answer if isinstance(answer, EngineFailure) else [_reply(s) for s in answer["replies"]]
        )

    def peak_bytes(self) -> int:
        """Return the most memory that the process has held; 0 where it cannot say."""
        answer = self._request({"op": "peak"}, CLOSE_S)
        return 0 if isinstance(answer, EngineFailure) else int(answer["peak_bytes"])

    def close(self) -> None:
        """Let the engines close, then end the process; calling it twice is fine."""
        if not self._ended:
            self._request({"op": "close"}, CLOSE_S)
        self.kill()

    def kill(self) -> None:
        """End the process, all below it, and its folder, now; calling it twice is fine."""
        if self._ended:
            return
        self._ended = True
        if self._child.exit_code() is None:
            with suppress(ProcessLookupError):
                # Stopped, it starts no further process while those below it are looked for.
                os.kill(self.pid, signal.SIGSTOP)
            kill_below(self.pid)
        self._child.kill()
        self._folder.cleanup()

    def interrupt(self) -> None:
        """End the process, but leave its pipes to the thread that waits for an answer."""
        if not self._ended:
            kill_below(self.pid)
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def _request(
        self,
        message: Message,
        timeout_s: float,
        *,
        then: Message | None = None,
        watched: tuple[Watch, IndexProgress] | None = None,
    ) -> Message | EngineFailure:
        if self._ended:
            return EngineFailure(Outcome.ERROR, "agent_error", "its process has ended", gone=True)
        if self._ahead is not None and self._ahead != message:
            # Nobody wants that answer any more, but it comes before the one to this message.
            unwanted = self._request(self._ahead, timeout_s)
            if isinstance(unwanted, EngineFailure) and unwanted.gone:
                return unwanted
        try:
            deadline = monotonic() + timeout_s
            if self._ahead is None:
                self._child.send(encoded(message), deadline)
            self._ahead = self._sent_ahead(then, deadline)
            answer = self._watched(deadline, *watched) if watched else self._received(deadline)
        except TimeoutError:
            self.kill()
            said = f"took longer than {timeout_s:g} s and was ended"
            return EngineFailure(Outcome.TIMEOUT, "timeout", said, gone=True)
        except EOFError:
            said = self._obituary()
            self.kill()
            return EngineFailure(Outcome.ERROR, "agent_error", said, gone=True)
        except (EngineError, ValueError) as error:
            self.kill()
            return EngineFailure(Outcome.ERROR, "agent_error", str(error), gone=True)
        except BaseException:
            # Interrupted between question and answer: the next answer would be the wrong one.
            self.kill()
            raise
        failure = answer.get("failure")
        return answer if failure is None else _failure(failure)

    def _sent_ahead(self, message: Message | None, deadline: float) -> Message | None:
        """Send *message* before its time, and return it; None where that is not possible."""
        line = encoded(message) if message else b""
        if not 0 < len(line) <= FITS_BYTES:
            return None
        try:
            self._child.send(line, deadline)
        except EOFError:
            # It is gone, but may have answered before.
            return None
        return message

    def _received(self, deadline: float) -> Message:
        """Return the next answer; the hits in it are bytes that nobody has read yet."""
        answer = decoded(self._child.receive(deadline))
        for said in answer.get("replies", ()):
            if "hits" in said:
                said["hits"] = PackedHits(self._child.receive_bytes(said["hits"], deadline))
        return answer

    def _watched(self, deadline: float, watch: Watch, stage: IndexProgress) -> Message:
        """Return the next answer; until it comes, pass the progress on to *watch*.

        A process that reports none is in *stage*.
        """
        while True:
            try:
                message = decoded(self._child.receive(min(deadline, monotonic() + TICK_S)))
            except TimeoutError:
                if monotonic() >= deadline:
                    raise
            else:
                if "progress" not in message:
                    return message
                stage = IndexProgress(**message["progress"])
            watch(stage)

    def _obituary(self) -> str:
        """Return how the process ended, and what it said last."""
        code = self._child.exit_code(wait_s=1.0)
        if code is None:
            how = "its process closed its pipe"
        elif code < 0:
            how = f"its process was ended by {_signal_name(-code)}"
        else:
            how = f"its process ended with exit code {code}"
        said = self._child.complaints().strip()
        return f"{how}; its last words: {last_words(said)}" if said else how


def _ask(asked: Question) -> Message:
    query, members, _, first = asked
    return {"op": "ask", "query": query, "members": list(members), "first": first}


def _reply(said: Message) -> WorkerReply | EngineFailure:
    return _failure(said["failure"]) if "failure" in said else WorkerReply(**said)


def _failure(said: Message) -> EngineFailure:
    outcome = Outcome.TIMEOUT if said["timeout"] else Outcome.ERROR
    reason = "timeout" if said["timeout"] else "error"
    return EngineFailure(outcome, reason, said["message"], said["traceback"], wrong=said["input"])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
