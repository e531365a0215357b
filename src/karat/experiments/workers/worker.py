"""The main program of a worker process: it builds the engines of a group and runs queries.

Started by :mod:`karat.experiments.workers.process`, which sends requests as lines on its standard
input.
"""

import os
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from shutil import rmtree

from karat.corpus import Corpus
from karat.engines.base import EmbedPart
from karat.engines.engine_group import EngineGroup
from karat.errors import InputError, KaratError, MissingExtra
from karat.experiments.workers.engine_session import EngineSession
from karat.experiments.workers.plan import Configuration
from karat.experiments.workers.sources import Opener, Source
from karat.model.spec import Spec
from karat.system.packs import see_new_packs
from karat.system.processes import Message, ParentLink, kill_below, peak_bytes

GRACE_S = 2.0
TRACE = 8_000
# Progress is sent at most this often, so that it costs no time.
PROGRESS_S = 0.2


def main(folder: str) -> None:
    """Answer requests until Karat is gone, then remove *folder*, which holds temporary files."""
    link = ParentLink()
    link.when_closed(partial(_end_all, folder))
    host = _Host(_Progress(link.send))
    try:
        with suppress(BrokenPipeError):  # The parent no longer waits for that answer.
            for request in link.requests():
                link.send(host.answer(request))
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
        self.enabled = False

    def __call__(self, done: int, total: int) -> None:
        now = self._clock()
        if self.enabled and now - self._sent >= PROGRESS_S:
            self._sent = now
            self._send({"progress": {"stage": "embedding", "done": done, "total": total}})


class _Host:
    """The engines of a group, and the operations on them."""

    def __init__(self, progress: _Progress) -> None:
        self._progress = progress
        self._family = EngineGroup()
        # By their numbers; one that cannot be built is missing.
        self._sessions: dict[int, EngineSession] = {}
        self._opener = Opener()
        self._path = ""
        self._operations: Mapping[str, Callable[[Message], Message]] = {
            "open": self._open,
            "index": self._index,
            "embed": self._embed,
            "prefetch": self._prefetch,
            "search": self._search,
            "peak": lambda _: {"peak_bytes": peak_bytes()},
            "close": self._close,
        }

    def answer(self, request: Message) -> Message:
        """Return the answer to *request*; an exception of an engine becomes a failure."""
        try:
            return self._operations[request["op"]](request)
        except Exception as error:  # noqa: BLE001 - an engine may raise anything
            return {"failure": _failure(error)}

    def close(self) -> None:
        """Close the engines."""
        try:
            self._family.close()
        finally:
            self._opener.close()

    def _open(self, request: Message) -> Message:
        self._family = EngineGroup(apart=request["apart"])
        failures: list[tuple[int, Message]] = []
        for opened in request["members"]:
            member, spec = opened.pop("member"), Spec(**opened.pop("spec"))
            try:
                engine = self._family.add(spec)
            except Exception as error:  # noqa: BLE001 - of any class that a user names
                failures.append((member, _failure(error)))
            else:
                self._sessions[member] = EngineSession(
                    Configuration(spec=spec, **opened), engine, tokenizer=request["tokenizer"]
                )
                # Indexing works without progress.
                with suppress(Exception):
                    engine.watch(self._progress)
        return {"failures": failures}

    def _index(self, request: Message) -> Message:
        source = Source(**request["source"])
        if self._path and source.path != self._path:
            # Another repository shares no chunks with the one before.
            self._family.release()
        self._path = source.path
        corpus = self._opener.open(source, request["ahead"])
        self._progress.enabled = True
        try:
            self._family.show(corpus)
        finally:
            self._progress.enabled = False
        index_ns = self._family.index_ns
        return {
            "indexed": [
                (member, session.indexed(corpus, index_ns(session.engine)))
                for member, session in self._sessions.items()
            ]
        }

    def _embed(self, request: Message) -> Message:
        """Embed a part of all texts ahead; the packs of other machines are looked for afterwards.

        A repository shares few texts with the one before, whose chunks are forgotten.
        """
        part = EmbedPart(*request["part"])
        sources = [Source(**source) for source in request["sources"]]
        embedded: Counter[int] = Counter()
        try:
            for _, some in groupby(sources, key=lambda source: source.path):
                counts = self._family.embed_ahead(self._corpora(list(some)), part)
                embedded.update(dict(zip(self._sessions, counts, strict=True)))
        finally:
            see_new_packs()
        return {"embedded": list(embedded.items())}

    def _corpora(self, sources: Sequence[Source]) -> Iterator[Corpus]:
        """Yield the corpora of *sources*, which have one path."""
        for number, source in enumerate(sources, 1):
            ahead = [after.revision for after in sources[number:] if after.revision]
            yield self._opener.open(source, ahead)

    def _prefetch(self, request: Message) -> Message:
        """Let members prepare many queries at once; if that fails, they run one by one."""
        for member in request["members"]:
            engine = self._sessions[member].engine
            with suppress(Exception):
                engine.expect(request["queries"])
        return {}

    def _search(self, request: Message) -> Message:
        """Run a query on one or several members; several share intermediate results."""
        query, first = request["query"], request["first"]
        members = [self._sessions[member] for member in request["members"]]
        forget = self._family.forget
        forget()
        before = forget if len(members) == 1 else lambda: None
        return {"replies": [_search_one(session, query, first, before) for session in members]}

    def _close(self, _: Message) -> Message:
        self.close()
        return {}


def _search_one(
    session: EngineSession, query: str, first: bool, before: Callable[[], None]
) -> Message:
    try:
        return session.search(query, first=first, before=before)
    except Exception as error:  # noqa: BLE001 - an engine may raise anything
        return {"failure": _failure(error)}


def _failure(error: Exception) -> Message:
    known = isinstance(error, KaratError)
    return {
        "message": str(error) if known else f"{type(error).__name__}: {error}",
        "timeout": isinstance(error, TimeoutError) or isinstance(error.__cause__, TimeoutError),
        "input": isinstance(error, InputError | MissingExtra),
        "traceback": "".join(traceback.format_exception(error))[-TRACE:],
    }


def _end_all(folder: str) -> None:
    """Give the engines a moment to close, then kill this process and all below it."""
    time.sleep(GRACE_S)
    with suppress(OSError):
        kill_below(os.getpid())
    rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)
