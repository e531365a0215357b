"""A worker process with the engines of one group, seen from the parent process."""

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
from karat.experiments.workers.process_tree import kill_below
from karat.experiments.workers.sources import Source
from karat.model import Hit, Outcome
from karat.model.packing import PackedHits

__all__ = [
    "EngineFailure",
    "EngineProcess",
    "IndexProgress",
    "IndexedCorpus",
    "Message",
    "ProgressCallback",
    "SearchRequest",
    "WorkerReply",
    "decode",
    "encode",
    "encode_with_bytes",
]

Message = dict[str, Any]

DECODER = json.JSONDecoder()


def encode(message: Message) -> bytes:
    """Return *message* as one line, without its end."""
    return json.dumps(message).encode()


def encode_with_bytes(message: Message) -> bytes:
    r"""Return *message* as one line, and after its end the bytes in it, in their order.

    In their places the line has their lengths.

    >>> encode_with_bytes({"ns": 7, "hits": b"as they are"})
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


def decode(line: bytes) -> Message:
    """Return the message of one line; ValueError where it is none."""
    # Not json.loads: what it does around this takes as long once more.
    message, _ = DECODER.raw_decode(line.decode())
    if not isinstance(message, dict):
        raise ValueError(f"expected an object, not {type(message).__name__}")  # noqa: TRY004
    return message


# sys.path first, so that the process finds Karat and the classes of the user.
BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from karat.experiments.workers.worker import main; main(sys.argv.pop())"
)
MAX_BYTES = 1 << 28
# A pipe takes so many bytes beside another request without blocking; blocking could be a deadlock,
# because the worker may itself wait until its answer is read.
FITS_BYTES = 1 << 12
START_S = 120.0
CLOSE_S = 5.0
# While engines are loaded or index, their progress is reported after this time, and again.
TICK_S = 0.5


class EngineFailure(NamedTuple):
    """Why a query or an index failed.

    *reason* is ``timeout``, ``error`` (the engine raised one) or ``agent_error`` (its process
    ended). *gone* says that the process has ended, *wrong* that the configuration cannot work.
    """

    outcome: Outcome
    reason: str
    message: str
    traceback: str = ""
    gone: bool = False
    wrong: bool = False


class IndexedCorpus(NamedTuple):
    """The index of an engine; *corpus* is the digest of all paths and contents."""

    index_ns: int
    index_bytes: int
    documents: int
    corpus: str
    work: Mapping[str, int]


class WorkerReply(NamedTuple):
    """One repetition of a query; a warm one has no hits, only whether they are the *same*."""

    ns: int
    same: bool = True
    hits: Sequence[Hit] = ()
    phases: Mapping[str, int] = {}
    spent: Mapping[str, float] = {}
    invalid: Mapping[str, int] = {}
    mended: Mapping[str, int] = {}


class IndexProgress(NamedTuple):
    """The progress of loading or indexing: *done* of *total*, which is 0 if unknown."""

    stage: str
    done: int = 0
    total: int = 0


# Receives progress while an engine is loaded or indexes.
ProgressCallback = Callable[[IndexProgress], None]


class SearchRequest(NamedTuple):
    """A *query* for *members*, each with a timeout of *timeout_s*.

    An engine that can be reset is reset before the *first* repetition of a query.
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
        # A request that was sent before its turn.
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
        self,
        group: Mapping[int, Configuration],
        *,
        apart: bool,
        watch: ProgressCallback = lambda _: None,
    ) -> dict[int, EngineFailure] | EngineFailure:
        """Build the engines of *group*, and return why some cannot be; nothing is indexed yet.

        With *apart*, no engine profits from the work of another. *watch* receives the progress if
        it takes long.
        """
        members = [
            {
                "member": member,
                "spec": {
                    "kind": one.spec.kind,
                    "name": one.spec.name,
                    "params": dict(one.spec.params),
                },
                "name": one.name,
                "k": one.k,
                "threshold": one.threshold,
                "files": one.files,
            }
            for member, one in group.items()
        ]
        request = {"op": "open", "members": members, "apart": apart}
        answer = self._request(request, START_S, watched=(watch, IndexProgress("loading")))
        if isinstance(answer, EngineFailure):
            return answer
        return {member: _failure(reply) for member, reply in answer["failures"]}

    def index(
        self,
        source: Source,
        timeout_s: float,
        *,
        ahead: Sequence[str] = (),
        watch: ProgressCallback = lambda _: None,
    ) -> dict[int, IndexedCorpus] | EngineFailure:
        """Index *source*, or move on to it if the engines can; *ahead* are its next revisions.

        The result is by the numbers of the engines that were built. If it takes long, *watch*
        receives the progress a few times a second.
        """
        request = {"op": "index", "source": source.to_json(), "ahead": list(ahead)}
        answer = self._request(request, timeout_s, watched=(watch, IndexProgress("indexing")))
        if isinstance(answer, EngineFailure):
            return answer
        return {member: IndexedCorpus(**indexed) for member, indexed in answer["indexed"]}

    def prefetch(
        self, queries: Sequence[str], members: Sequence[int], timeout_s: float
    ) -> EngineFailure | None:
        """Let *members* prefetch all of *queries* at once; return a failure if there is one."""
        request = {"op": "prefetch", "queries": list(queries), "members": list(members)}
        answer = self._request(request, timeout_s)
        return answer if isinstance(answer, EngineFailure) else None

    def search(
        self, request: SearchRequest, then: SearchRequest | None = None
    ) -> list[WorkerReply | EngineFailure] | EngineFailure:
        """Return the replies of all members of *request*, in their order.

        The process goes on with *then*, the next request, while the replies are decoded here.
        """
        timeout_s = request.timeout_s * len(request.members)
        answer = self._request(
            _search_message(request), timeout_s, then=_search_message(then) if then else None
        )
        return (
            answer if isinstance(answer, EngineFailure) else [_reply(s) for s in answer["replies"]]
        )

    def peak_bytes(self) -> int:
        """Return the peak memory of the process; 0 if it is unknown."""
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
                # A stopped process starts no further child while its children are listed.
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
        watched: tuple[ProgressCallback, IndexProgress] | None = None,
    ) -> Message | EngineFailure:
        if self._ended:
            return EngineFailure(Outcome.ERROR, "agent_error", "its process has ended", gone=True)
        if self._ahead is not None and self._ahead != message:
            # The answer to the earlier request comes first; it is dropped.
            unwanted = self._request(self._ahead, timeout_s)
            if isinstance(unwanted, EngineFailure) and unwanted.gone:
                return unwanted
        try:
            deadline = monotonic() + timeout_s
            if self._ahead is None:
                self._child.send(encode(message), deadline)
            self._ahead = self._sent_ahead(then, deadline)
            answer = self._watched(deadline, *watched) if watched else self._received(deadline)
        except TimeoutError:
            self.kill()
            reply = f"took longer than {timeout_s:g} s and was ended"
            return EngineFailure(Outcome.TIMEOUT, "timeout", reply, gone=True)
        except EOFError:
            reply = self._exit_reason()
            self.kill()
            return EngineFailure(Outcome.ERROR, "agent_error", reply, gone=True)
        except (EngineError, ValueError) as error:
            self.kill()
            return EngineFailure(Outcome.ERROR, "agent_error", str(error), gone=True)
        except BaseException:
            # Interrupted between request and answer: the next answer would be the wrong one.
            self.kill()
            raise
        failure = answer.get("failure")
        return answer if failure is None else _failure(failure)

    def _sent_ahead(self, message: Message | None, deadline: float) -> Message | None:
        """Send *message* before its turn, and return it; None if that is not possible."""
        line = encode(message) if message else b""
        if not 0 < len(line) <= FITS_BYTES:
            return None
        try:
            self._child.send(line, deadline)
        except EOFError:
            # The process has ended, but may have answered before.
            return None
        return message

    def _received(self, deadline: float) -> Message:
        """Return the next answer; its hits are bytes that are decoded on demand."""
        answer = decode(self._child.receive(deadline))
        for reply in answer.get("replies", ()):
            if "hits" in reply:
                reply["hits"] = PackedHits(self._child.receive_bytes(reply["hits"], deadline))
        return answer

    def _watched(self, deadline: float, watch: ProgressCallback, stage: IndexProgress) -> Message:
        """Return the next answer; until it comes, pass the progress on to *watch*.

        A process that reports none is in *stage*.
        """
        while True:
            try:
                message = decode(self._child.receive(min(deadline, monotonic() + TICK_S)))
            except TimeoutError:
                if monotonic() >= deadline:
                    raise
            else:
                if "progress" not in message:
                    return message
                stage = IndexProgress(**message["progress"])
            watch(stage)

    def _exit_reason(self) -> str:
        """Return how the process ended, and its last output."""
        code = self._child.exit_code(wait_s=1.0)
        if code is None:
            how = "its process closed its pipe"
        elif code < 0:
            how = f"its process was ended by {_signal_name(-code)}"
        else:
            how = f"its process ended with exit code {code}"
        reply = self._child.complaints().strip()
        return f"{how}; its last words: {last_words(reply)}" if reply else how


def _search_message(request: SearchRequest) -> Message:
    query, members, _, first = request
    return {"op": "search", "query": query, "members": list(members), "first": first}


def _reply(reply: Message) -> WorkerReply | EngineFailure:
    return _failure(reply["failure"]) if "failure" in reply else WorkerReply(**reply)


def _failure(reply: Message) -> EngineFailure:
    outcome = Outcome.TIMEOUT if reply["timeout"] else Outcome.ERROR
    reason = "timeout" if reply["timeout"] else "error"
    return EngineFailure(
        outcome, reason, reply["message"], reply["traceback"], wrong=reply["input"]
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
