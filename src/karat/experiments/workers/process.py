"""A worker process with the engines of one group, seen from the parent process."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from tempfile import TemporaryDirectory
from time import monotonic
from typing import NamedTuple

from karat.engines.base import EmbedPart
from karat.errors import ProcessError
from karat.experiments.workers.plan import Configuration
from karat.experiments.workers.sources import Source
from karat.model import Hit, Outcome
from karat.model.frozen import EMPTY
from karat.model.run import PackedHits
from karat.system.processes import ChildProcess, Message, decode, encode
from karat.system.sqlite import run_environment

# sys.path first, so that the process finds Karat and the classes of the user.
BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from karat.experiments.workers.worker import main; main(sys.argv.pop())"
)
MAX_BYTES = 1 << 28
# Bytes that fit into a pipe beside another request without blocking. Blocking could be a deadlock,
# because the worker may wait until its answer is read.
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
    work: Mapping[str, float]


class WorkerReply(NamedTuple):
    """One repetition of a query; a warm one has no hits, only whether they are the *same*.

    *accepted* is the number of valid hits before they were cut to k, if any hit was invalid.
    """

    ns: int
    same: bool = True
    hits: Sequence[Hit] = ()
    phases: Mapping[str, int] = {}
    spent: Mapping[str, float] = {}
    invalid: Mapping[str, int] = {}
    mended: Mapping[str, int] = {}
    accepted: int = 0


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

    def __init__(self, environment: Mapping[str, str] = EMPTY) -> None:
        """Start the process; it has no engine yet.

        *environment* are variables that it gets unless they are set here.
        """
        self._ended = False
        # A request that was sent before its turn.
        self._ahead: Message | None = None
        self._folder = TemporaryDirectory(prefix="karat-engine-", ignore_cleanup_errors=True)
        try:
            self._child = ChildProcess(
                [sys.executable, "-c", BOOT, self._folder.name, json.dumps(sys.path)],
                environment={
                    **environment,
                    **os.environ,
                    **run_environment(),
                    "TMPDIR": self._folder.name,
                },
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
        tokenizer: str = "",
        watch: ProgressCallback = lambda _: None,
    ) -> dict[int, EngineFailure] | EngineFailure:
        """Build the engines of *group*, and return why some cannot be; nothing is indexed yet.

        With *apart*, no engine profits from the work of another. *tokenizer* counts the tokens of
        hits. *watch* receives the progress if it takes long.
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
        request = {"op": "open", "members": members, "apart": apart, "tokenizer": tokenizer}
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

    def embed(
        self, sources: Sequence[Source], part: EmbedPart, timeout_s: float
    ) -> dict[int, int] | EngineFailure:
        """Embed *part* of the texts of all *sources* into the cache.

        The result is how many texts were embedded, by the numbers of the engines.
        """
        request = {"op": "embed", "sources": [one.to_json() for one in sources], "part": part}
        answer = self._request(request, timeout_s)
        return answer if isinstance(answer, EngineFailure) else dict(answer["embedded"])

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
        if isinstance(answer, EngineFailure):
            return answer
        return [
            _failure(reply["failure"]) if "failure" in reply else WorkerReply(**reply)
            for reply in answer["replies"]
        ]

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
        self._child.kill_tree()
        self._folder.cleanup()

    def interrupt(self) -> None:
        """End the process, but leave its pipes to the thread that waits for an answer."""
        if not self._ended:
            self._child.interrupt_tree()

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
            reply = f"took longer than {timeout_s:g} s and was killed"
            return EngineFailure(Outcome.TIMEOUT, "timeout", reply, gone=True)
        except EOFError:
            reply = self._child.exit_reason()
            self.kill()
            return EngineFailure(Outcome.ERROR, "agent_error", reply, gone=True)
        except (ProcessError, ValueError) as error:
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

        A process that reports no progress is in *stage*.
        """

        def on_tick(progress: Message | None) -> None:
            nonlocal stage
            stage = IndexProgress(**progress) if progress else stage
            watch(stage)

        return self._child.answer(deadline, on_tick=on_tick, tick_s=TICK_S)


def _search_message(request: SearchRequest) -> Message:
    query, members, _, first = request
    return {"op": "search", "query": query, "members": list(members), "first": first}


def _failure(reply: Message) -> EngineFailure:
    outcome = Outcome.TIMEOUT if reply["timeout"] else Outcome.ERROR
    reason = "timeout" if reply["timeout"] else "error"
    return EngineFailure(
        outcome, reason, reply["message"], reply["traceback"], wrong=reply["input"]
    )
