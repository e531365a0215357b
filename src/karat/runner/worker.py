"""The process of one engine: builds it from its specification and times its searches.

Started by :mod:`karat.runner.process`, asked by lines on its standard input.
"""

import os
import select
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from shutil import rmtree
from time import perf_counter_ns
from typing import IO, Any, NamedTuple

from karat.corpus import Corpus
from karat.engines.adapters.external import External
from karat.engines.adapters.places import Accepted, Places
from karat.engines.base import (
    Engine,
    SupportsClose,
    SupportsMetadata,
    SupportsPhases,
    SupportsReset,
    SupportsSize,
    SupportsSnapshots,
    SupportsWork,
)
from karat.engines.registry import ENGINES
from karat.engines.spec import build
from karat.errors import EngineError, InputError, KaratError, MissingExtra
from karat.model import Hit
from karat.model.spec import Spec
from karat.runner.depth import MORE, enough, of_first_files
from karat.runner.processes import kill_below, peak_bytes
from karat.runner.sources import Opener, Source
from karat.runner.spending import spent
from karat.runner.wire import Message, decoded, encoded, packed

__all__ = ["main"]

GRACE_S = 2.0
TRACE = 8_000


def main(folder: str) -> None:
    """Answer requests until Karat is gone, then remove *folder*, which holds temporary files."""
    requests, answers = _private_pipes()
    watched = (requests.fileno(), folder)
    threading.Thread(target=_leave_with, args=watched, daemon=True).start()
    host = _Host()
    for line in requests:
        answers.write(encoded(host.answer(decoded(line))) + b"\n")
        answers.flush()
    host.close()
    rmtree(folder, ignore_errors=True)


class _Timed(NamedTuple):
    hits: Sequence[Hit]
    ns: int
    phases: Mapping[str, int]


class _Host:
    """An engine, and what is asked of it."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._opener = Opener()
        self._k, self._files = 1, False
        self._indexed = False
        # Holds the hits of a class that nobody has checked against the corpus.
        self._guard: Places | None = None
        self._trusted = False
        # What an adapter has dropped and mended, as far as it was told.
        self._invalid: Counter[str] = Counter()
        self._mended: Counter[str] = Counter()
        self._hits: Sequence[Hit] = ()
        # Looked up once: asking a protocol takes longer than some searches.
        self._reset: Callable[[], None] = _nothing
        self._phases: Callable[[], Mapping[str, int]] = _nothing_said
        self._metadata: Callable[[], Mapping[str, object]] = _nothing_said
        self._operations: Mapping[str, Callable[[Message], Message]] = {
            "open": self._open,
            "show": self._show,
            "ask": self._ask,
            "peak": lambda _: {"peak_bytes": peak_bytes()},
            "close": self._close,
        }

    def answer(self, request: Message) -> Message:
        """Return the answer to *request*; what the engine raises becomes a failure."""
        try:
            return self._operations[request["op"]](request)
        except Exception as error:  # noqa: BLE001 - an engine may raise anything
            return {"failure": _failure(error)}

    def close(self) -> None:
        """Let go of the engine."""
        try:
            if self._engine is not None and isinstance(self._engine, SupportsClose):
                self._engine.close()
        finally:
            self._opener.close()

    def _open(self, request: Message) -> Message:
        spec = Spec(**request["spec"])
        engine = self._engine = build(spec)
        if isinstance(engine, SupportsReset):
            self._reset = engine.reset
        if isinstance(engine, SupportsPhases):
            self._phases = engine.phases_ns
        if isinstance(engine, SupportsMetadata):
            self._metadata = engine.metadata
        self._k, self._files = request["k"], request["files"]
        ours = spec.name in ENGINES.built_in() and spec.name != "python"
        self._trusted = ours or isinstance(engine, External)
        return {}

    def _show(self, request: Message) -> Message:
        engine = self._opened()
        corpus = self._opener.open(Source(**request["source"]), request["ahead"])
        snapshots = self._indexed and isinstance(engine, SupportsSnapshots)
        # An engine that fails to show a tree must index the next one.
        self._indexed = False
        started = perf_counter_ns()
        if snapshots and isinstance(engine, SupportsSnapshots):
            engine.show(corpus)
        else:
            engine.index(corpus)
            # An adapter counts anew.
            self._invalid, self._mended = Counter(), Counter()
        taken = perf_counter_ns() - started
        self._indexed = True
        self._guard = None if self._trusted else Places(corpus, root=_root(corpus))
        return {
            "index_ns": taken,
            "index_bytes": engine.index_bytes() if isinstance(engine, SupportsSize) else 0,
            "documents": len(corpus),
            "corpus": corpus.snapshot,
            "work": dict(engine.work()) if isinstance(engine, SupportsWork) else {},
        }

    def _ask(self, request: Message) -> Message:
        engine = self._opened()
        if request["first"]:
            self._reset()
        timed = self._timed(engine, request["query"])
        checked = self._accepted(engine, timed.hits)
        hits = checked.hits
        if self._files:
            hits = tuple(of_first_files(hits, self._k))
        if not request["first"]:
            return {"ns": timed.ns, "same": _places(hits) == _places(self._hits)}
        self._hits = hits
        told = {
            "phases": timed.phases,
            **spent(self._metadata())._asdict(),
            "invalid": checked.invalid,
            "mended": checked.mended,
        }
        # What says nothing stays here; most answers have only hits and phases.
        said = {name: value for name, value in told.items() if value}
        return {"ns": timed.ns, "hits": packed(hits), **said}

    def _timed(self, engine: Engine, query: str) -> _Timed:
        """Search *query*, deeper as long as there are too few files, and time all of that."""
        asked, total = self._k, 0
        phases: Counter[str] = Counter()
        while True:
            started = perf_counter_ns()
            found = engine.search(query, asked)
            total += perf_counter_ns() - started
            for name, ns in self._phases().items():
                phases[name] += int(ns)
            hits = _checked(found, engine.name)
            if not self._files or enough(hits, asked=asked, files=self._k):
                break
            asked *= MORE
        # An adapter checks every answer against the corpus, which is our work and not the search's.
        ours = phases.pop("check", 0) if isinstance(engine, External) else 0
        return _Timed(hits, total - ours, phases)

    def _accepted(self, engine: Engine, hits: Sequence[Hit]) -> Accepted:
        """Return the hits that are kept, and how many were dropped or mended since last asked."""
        if self._guard is not None:
            return self._guard.accept(hits, len(hits))
        if not isinstance(engine, External):
            return Accepted(tuple(hits), {}, {})
        invalid, mended = engine.invalid - self._invalid, engine.mended - self._mended
        self._invalid, self._mended = Counter(engine.invalid), Counter(engine.mended)
        return Accepted(tuple(hits), invalid, mended)

    def _close(self, _: Message) -> Message:
        self.close()
        return {}

    def _opened(self) -> Engine:
        if self._engine is None:
            raise EngineError("no engine was opened")
        return self._engine


def _nothing() -> None:
    return


def _nothing_said() -> Mapping[str, Any]:
    return {}


def _places(hits: Sequence[Hit]) -> list[tuple[object, ...]]:
    """Return the ranking: where each hit is, whatever it scores."""
    return [hit[:1] + hit[2:5] for hit in hits]


def _checked(found: object, name: str) -> Sequence[Hit]:
    if isinstance(found, Sequence) and all(isinstance(hit, Hit) for hit in found):
        return found
    raise EngineError(f"{name}: search returned {type(found).__name__}; expected a list of hits")


def _root(corpus: Corpus) -> str:
    return "" if corpus.folder is None else str(corpus.folder)


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
