"""``python``: a class in this process, in one of three shapes."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from math import nan
from time import perf_counter_ns
from typing import Any

from karat.corpus import Corpus
from karat.engines.adapters.answers import AnswerReader
from karat.engines.adapters.event_loop import LoopThread
from karat.engines.adapters.external import External, Reply
from karat.engines.adapters.guarded import close, guarded
from karat.engines.adapters.native import NativeEngine
from karat.engines.adapters.options import AnswerOptions
from karat.engines.base import Engine
from karat.errors import EngineError, InputError
from karat.model import Hit

__all__ = ["AgentEngine", "StoreEngine", "adapted"]

# What an object in a store's answer may be asked for.
ATTRIBUTES = (
    *("path", "file_path", "file", "filename", "start_line", "end_line", "line", "score"),
    *("distance", "symbol", "symbol_name", "tokens"),
)


def adapted(target: object, name: str, *, use_reranker: bool | None = None) -> Engine:
    """Return *target* as an engine, whichever of the three shapes it has.

    - ``index(corpus)`` and ``search(query, k)``: Karat's own protocol;
    - ``initialize(repo_path)`` and ``retrieve(query)``: an agent;
    - ``async search(query=, limit=)``: an asynchronous store.
    """
    search = getattr(target, "search", None)
    if inspect.iscoroutinefunction(search):
        return StoreEngine(target, name, use_reranker=use_reranker)
    if use_reranker is not None:
        raise InputError(f"{name}: use_reranker belongs to an asynchronous store")
    if callable(getattr(target, "retrieve", None)) and hasattr(target, "initialize"):
        return AgentEngine(target, name)
    if callable(search) and callable(getattr(target, "index", None)):
        return NativeEngine(target, name)
    raise InputError(
        f"{name} is no engine; expected index(corpus) and search(query, k), or "
        "initialize(repo_path) and retrieve(query), or async search(query=, limit=)"
    )


class AgentEngine(External):
    """A RetrievalAgent: files, best first, at once or in parts."""

    def __init__(self, agent: Any, name: str) -> None:
        super().__init__(name)
        self.thread_safe = bool(getattr(agent, "thread_safe", False))
        self._agent = agent

    def reset(self) -> None:
        """Let the agent forget what it cached."""
        guarded(self.name, self._agent.reset)

    def _start(self, corpus: Corpus, root: str) -> None:  # noqa: ARG002 - agents read files
        guarded(self.name, self._agent.initialize, root)

    def _ask(self, query: str, k: int) -> Reply:  # noqa: ARG002 - an agent returns all it has
        reply: Reply = guarded(self.name, self._retrieved, query)
        return reply

    def _retrieved(self, query: str) -> Reply:
        """Return the result, or all parts of one that is a stream and when the first came."""
        started = perf_counter_ns()
        result = self._agent.retrieve(query)
        streamed = isinstance(result, Iterator)
        hits: list[Hit] = []
        phases: dict[str, int] = {}
        metadata: dict[str, object] = {}
        for part in result if streamed else (result,):
            hits += _hits_of(part, self.name)
            if streamed and hits:
                phases.setdefault("first_hit", perf_counter_ns() - started)
            if isinstance(told := getattr(part, "metadata", None), Mapping):
                metadata.update(told)
        return Reply(hits, phases, metadata)

    def _stop(self) -> None:
        close(self.name, self._agent)


def _hits_of(result: object, name: str) -> list[Hit]:
    files, scores = getattr(result, "files", None), getattr(result, "scores", None) or ()
    if not isinstance(files, Sequence) or isinstance(files, str):
        raise EngineError(
            f"{name}: retrieve returned {type(result).__name__} without a list of files; expected "
            "an object that has their paths as .files"
        )
    if len(scores) not in (0, len(files)):
        raise EngineError(f"{name}: {len(files)} files, but {len(scores)} scores")
    pairs = zip_longest(files, scores, fillvalue=nan)
    return [Hit(str(path), float(score)) for path, score in pairs]


class StoreEngine(External):
    """An asynchronous store, asked by ``await store.search(query=, limit=, use_reranker=)``.

    Where it has an ``index`` it is called with the corpus's directory. Results are objects or
    mappings with ``file_path`` and, where known, ``symbol_name``, ``score`` and lines.
    """

    thread_safe = False

    def __init__(self, store: Any, name: str, *, use_reranker: bool | None = None) -> None:
        super().__init__(name)
        self._store = store
        self._reader = AnswerReader(AnswerOptions())
        self._further: dict[str, object] = {}
        self._loop: LoopThread | None = None
        if use_reranker is not None:
            if not _takes(store.search, "use_reranker"):
                raise InputError(f"{name}: its search takes no use_reranker")
            self._further["use_reranker"] = use_reranker

    def _start(self, corpus: Corpus, root: str) -> None:  # noqa: ARG002 - stores read files
        self._loop = LoopThread("store")
        if callable(index := getattr(self._store, "index", None)):
            self._awaited(index, root)

    def _ask(self, query: str, k: int) -> Reply:
        found = self._awaited(self._store.search, query=query, limit=k, **self._further)
        if not isinstance(found, Sequence) or isinstance(found, str):
            raise EngineError(f"{self.name}: search returned {type(found).__name__}, no list")
        return Reply(self._reader.hits([_mapping(entry) for entry in found]))

    def _stop(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            try:
                if callable(closing := getattr(self._store, "close", None)):
                    guarded(self.name, lambda: loop.run(_maybe_awaited(closing)))
            finally:
                loop.close()

    def _awaited(self, function: Callable[..., object], *args: object, **named: object) -> object:
        loop = self._loop
        if loop is None:
            raise EngineError(f"{self.name}: search before index")
        return guarded(self.name, lambda: loop.run(_maybe_awaited(function, *args, **named)))


async def _maybe_awaited(function: Callable[..., Any], *args: object, **named: object) -> object:
    result = function(*args, **named)
    return await result if inspect.isawaitable(result) else result


def _mapping(entry: object) -> object:
    if isinstance(entry, Mapping | str):
        return entry
    return {name: getattr(entry, name) for name in ATTRIBUTES if hasattr(entry, name)}


def _takes(function: Callable[..., object], name: str) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in parameters)
