"""``python``: a class, a function, or a retriever of LangChain, LlamaIndex or Haystack.

Retrievers are recognised by their methods, so that none of these packages is imported. They have
their own index; Karat only reads their answers.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from math import inf, isfinite, isnan, nan
from time import perf_counter_ns
from typing import Any

from pydantic import Field, field_validator

from karat.corpus import Corpus
from karat.engines.adapters.answers import AdapterOptions, AnswerOptions, AnswerReader
from karat.engines.adapters.event_loop import LoopThread
from karat.engines.adapters.external import (
    CorpusPaths,
    External,
    ExternalReply,
    call_foreign,
    close,
)
from karat.engines.base import Engine, ExplainedHit, Progress
from karat.engines.spec import check_options, takes
from karat.errors import EngineError, InputError, KaratError
from karat.model import Hit

# Keys of metadata that name the document of a chunk; the first that is there is taken.
DOCUMENT_KEYS = (
    *("source", "path", "file_path", "file", "doc_id", "document_id", "docno", "url"),
    *("file_name", "filename", "id"),
)
SCORE_KEYS = ("score", "relevance_score", "similarity")
EXPECTED = (
    "expected an engine's name, a YAML file, a function f(query, k), an engine with index and "
    "search, or a retriever with invoke (LangChain), retrieve (LlamaIndex) or run (Haystack)"
)

Answers = Callable[[str, int], object]


class NativeEngine(External):
    """An engine of someone else, ``index(corpus)`` and ``search(query, k)``, as *engine*.

    The class need not be a subclass of Engine: a method that it lacks has the default.
    """

    needs_directory = False

    def __init__(self, engine: Any, name: str) -> None:
        """Wrap *engine*, which is called *name* unless it has a name of its own."""
        own = getattr(engine, "name", None)
        super().__init__(own if isinstance(own, str) else name)
        self.engine = engine
        self.thread_safe = bool(getattr(engine, "thread_safe", False))

    def index(self, corpus: Corpus) -> None:
        """Let the engine index *corpus*, which replaces the previous one."""
        self.invalid, self.mended, self.dropped = Counter(), Counter(), {}
        self._call(self.engine.index, corpus)

    def show(self, corpus: Corpus) -> None:
        """Move to *corpus*; an engine that does not move indexes it."""
        self._call(getattr(self.engine, "show", self.engine.index), corpus)

    def expect(self, queries: Sequence[str]) -> None:
        """Let the engine prefetch work for *queries*."""
        self._further("expect", queries)

    def reset(self) -> None:
        """Let the engine clear what it cached for earlier queries."""
        self._further("reset")

    def watch(self, progress: Progress | None) -> None:
        """Let the engine report the progress of its indexing."""
        self._further("watch", progress)

    def work(self) -> Mapping[str, float]:
        """Return the counts of the engine's indexing."""
        counts: Mapping[str, float] = self._further("work", default={})
        return counts

    def index_bytes(self) -> int:
        """Return the bytes of the engine's index."""
        size: int = self._further("index_bytes", default=0)
        return size

    def explain(self, query: str, k: int) -> Sequence[ExplainedHit]:
        """Return the hits of ``search`` with the scores of the engine's stages."""
        if not callable(getattr(self.engine, "explain", None)):
            return super().explain(query, k)
        return self._explained(query, k)

    def close(self) -> None:
        """Close the engine if it can be closed; calling it twice is fine if it is there."""
        self._paths = None
        close(self.name, self.engine)

    def _further(self, method: str, *arguments: object, default: Any = None) -> Any:
        """Return the result of a method that the engine may lack."""
        function = getattr(self.engine, method, None)
        return call_foreign(self.name, function, *arguments) if callable(function) else default

    def _call(self, prepare: Callable[[Corpus], None], corpus: Corpus) -> None:
        self._paths = None
        call_foreign(self.name, prepare, corpus)
        root = "" if corpus.folder is None else str(corpus.folder)
        self._paths = CorpusPaths(corpus, root=root)

    def _ask(self, query: str, k: int) -> ExternalReply:
        answer = call_foreign(self.name, self.engine.search, query, k)
        if isinstance(answer, str) or not isinstance(answer, Iterable):
            raise EngineError(
                f"{self.name}: search returned {type(answer).__name__}; expected a list of hits"
            )
        return self._reply([self._hit(entry) for entry in call_foreign(self.name, list, answer)])

    def _explained(self, query: str, k: int) -> Sequence[ExplainedHit]:
        """Return the hits of :meth:`search` with the scores that the engine's stages gave."""
        known: dict[tuple[str, int, str], ExplainedHit] = {}

        def ask(query: str, k: int) -> ExternalReply:
            explained = call_foreign(self.name, lambda: list(self.engine.explain(query, k)))
            hits = [self._hit(getattr(entry, "hit", entry)) for entry in explained]
            for hit, entry in zip(reversed(hits), reversed(explained), strict=True):
                known[self._location(hit)] = entry
            return self._reply(hits)

        hits = self._checked(query, k, ask)
        return [known[self._location(hit)]._replace(hit=hit) for hit in hits]

    def _location(self, hit: Hit) -> tuple[str, int, str]:
        """Return the key of a hit, which checking does not change."""
        path = self._paths.resolve(hit.path)[0] if self._paths else hit.path
        return path, hit.start_line, hit.symbol

    def _reply(self, hits: Sequence[Hit]) -> ExternalReply:
        return ExternalReply(
            hits, self._further("phases_ns", default={}), self._further("metadata", default={})
        )

    def _hit(self, entry: object) -> Hit:
        """Return *entry*, a hit with values that can be compared, or raise EngineError."""
        if not isinstance(entry, Hit):
            raise EngineError(
                f"{self.name}: search returned {type(entry).__name__} among its hits; "
                "expected karat.Hit"
            )
        try:
            path, score, start, end, symbol, tokens = entry
            return Hit(str(path), float(score), int(start), int(end), str(symbol), int(tokens))
        except (TypeError, ValueError) as error:
            raise EngineError(f"{self.name}: {entry!r} is not a hit: {error}") from error


# Attributes that are read from an object in a store's answer.
ATTRIBUTES = (
    *("path", "file_path", "file", "filename", "start_line", "end_line", "line", "score"),
    *("distance", "symbol", "symbol_name", "tokens"),
)


def adapted(target: object, name: str, *, use_reranker: bool | None = None) -> Engine:
    """Return *target* as an engine; it has one of three interfaces.

    - ``index(corpus)`` and ``search(query, k)``: an engine, of Karat's base class or not;
    - ``initialize(repo_path)`` and ``retrieve(query)``: an agent;
    - ``async search(query=, limit=)``: an asynchronous store.
    """
    search = getattr(target, "search", None)
    if inspect.iscoroutinefunction(search):
        return StoreEngine(target, name, use_reranker=use_reranker)
    if use_reranker is not None:
        raise InputError(f"{name}: use_reranker is only for asynchronous stores")
    if callable(getattr(target, "retrieve", None)) and hasattr(target, "initialize"):
        return AgentEngine(target, name)
    if callable(search) and callable(getattr(target, "index", None)):
        return NativeEngine(target, name)
    raise InputError(
        f"{name} is not an engine; expected index(corpus) and search(query, k), or "
        "initialize(repo_path) and retrieve(query), or async search(query=, limit=)"
    )


class AgentEngine(External):
    """A RetrievalAgent: files, best first, at once or in parts."""

    def __init__(self, agent: Any, name: str) -> None:
        super().__init__(name)
        self.thread_safe = bool(getattr(agent, "thread_safe", False))
        self._agent = agent

    def reset(self) -> None:
        """Reset the agent's cache."""
        call_foreign(self.name, self._agent.reset)

    def _start(self, corpus: Corpus, root: str) -> None:  # noqa: ARG002 - agents read files
        call_foreign(self.name, self._agent.initialize, root)

    def _ask(self, query: str, k: int) -> ExternalReply:  # noqa: ARG002 - an agent returns all it has
        reply: ExternalReply = call_foreign(self.name, self._retrieved, query)
        return reply

    def _retrieved(self, query: str) -> ExternalReply:
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
            if isinstance(extra := getattr(part, "metadata", None), Mapping):
                metadata.update(extra)
        return ExternalReply(hits, phases, metadata)

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
    """An asynchronous store, called by ``await store.search(query=, limit=, use_reranker=)``.

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
            if not takes(store.search, "use_reranker"):
                raise InputError(f"{name}: its search has no parameter use_reranker")
            self._further["use_reranker"] = use_reranker

    def _start(self, corpus: Corpus, root: str) -> None:  # noqa: ARG002 - stores read files
        self._loop = LoopThread("store")
        if callable(index := getattr(self._store, "index", None)):
            self._awaited(index, root)

    def _ask(self, query: str, k: int) -> ExternalReply:
        answer = self._awaited(self._store.search, query=query, limit=k, **self._further)
        if not isinstance(answer, Sequence) or isinstance(answer, str):
            raise EngineError(
                f"{self.name}: search returned {type(answer).__name__}; expected a list"
            )
        return ExternalReply(self._reader.hits([_mapping(entry) for entry in answer]))

    def _stop(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            try:
                if callable(closing := getattr(self._store, "close", None)):
                    call_foreign(self.name, lambda: loop.run(_maybe_awaited(closing)))
            finally:
                loop.close()

    def _awaited(self, function: Callable[..., object], *args: object, **named: object) -> object:
        loop = self._loop
        if loop is None:
            raise EngineError(f"{self.name}: search was called before index")
        return call_foreign(self.name, lambda: loop.run(_maybe_awaited(function, *args, **named)))


async def _maybe_awaited(function: Callable[..., Any], *args: object, **named: object) -> object:
    result = function(*args, **named)
    return await result if inspect.isawaitable(result) else result


def _mapping(entry: object) -> object:
    if isinstance(entry, Mapping | str):
        return entry
    return {name: getattr(entry, name) for name in ATTRIBUTES if hasattr(entry, name)}


class PythonOptions(AdapterOptions):
    """*class* is ``module:Class``; *options* are what it is made with.

    *use_reranker* is handed to an asynchronous store's search.
    """

    target: str = Field(alias="class")
    options: dict[str, Any] = Field(default_factory=dict)
    use_reranker: bool | None = None

    @field_validator("target")
    @classmethod
    def _is_reference(cls, value: str) -> str:
        module, _, name = value.partition(":")
        if not module or not name:
            raise ValueError(f"{value!r} is not a class; expected module:Class")
        return value


class _PythonEngine:
    """A class in this process: Karat's protocol, a RetrievalAgent or an asynchronous store."""

    Options = PythonOptions

    def __call__(self, options: PythonOptions) -> Engine:
        """Return an engine around a new instance of the class that *options* name."""
        from karat.engines.registry import ENGINES

        factory = ENGINES.get(options.target)
        values = check_options(factory, options.options, what=options.target)
        name = options.name or options.target.partition(":")[2]
        return _made(factory, values, name, use_reranker=options.use_reranker)


python_engine = _PythonEngine()


def build_plugin(factory: Any, params: Mapping[str, object], target: str) -> Engine:
    """Return an engine around the object that *factory* creates from *params*.

    ``use_reranker`` is an option of the search of an asynchronous store, unless *factory* has a
    parameter of that name.
    """
    given = dict(params)
    use_reranker = None
    if "use_reranker" in given and not takes(factory, "use_reranker"):
        search = {"use_reranker": given.pop("use_reranker")}
        use_reranker = check_options(_search, search, what=target)["use_reranker"]
    values = check_options(factory, given, what=target)
    return _made(factory, values, target.rpartition(":")[2], use_reranker=use_reranker)


def _search(*, use_reranker: bool) -> None:
    """Declare the type of the option of a store's search, for its check."""


def _made(
    factory: Any, values: dict[str, Any], name: str, *, use_reranker: bool | None = None
) -> Engine:
    """Return the object that *factory* creates, as an engine; its failure is an EngineError."""
    try:
        target = factory(**values)
    except KaratError:
        raise
    except (Exception, SystemExit) as error:
        raise EngineError(
            f"{name}: cannot create the engine: {type(error).__name__}: {error}"
        ) from error
    return adapted(target, name, use_reranker=use_reranker)


class Retriever:
    """A search as a function from query and k to hits; *key* names the metadata with the document.

    >>> search = retriever(lambda query, k: ["a.py", ("b.py", 0.5), {"path": "c.py"}], "mine")
    >>> [hit.path for hit in search.search("login", 10)]
    ['a.py', 'b.py', 'c.py']
    """

    def __init__(self, ask: Answers, name: str, *, key: str = "") -> None:
        """Read answers of *ask*."""
        self.name = name
        self._ask = ask
        self._keys = (key,) if key else DOCUMENT_KEYS

    def search(self, query: str, k: int) -> list[Hit]:
        """Return the first *k* hits; what the search raises is an EngineError."""
        answer = call_foreign(self.name, self._ask, query, k)
        if isinstance(answer, Mapping):
            # A dictionary of scores has no order of its own.
            answer = answer["documents"] if "documents" in answer else self._best_first(answer)
        if isinstance(answer, str) or not isinstance(answer, Iterable):
            raise EngineError(
                f"{self.name}: returned {type(answer).__name__}; expected a list of document ids, "
                "pairs (id, score), dictionaries or documents"
            )
        return [self._hit(entry) for entry in call_foreign(self.name, list, answer)[:k]]

    def _best_first(self, scores: Mapping[str, object]) -> list[tuple[str, float]]:
        pairs = ((document, self._score(score)) for document, score in scores.items())
        return sorted(pairs, key=lambda pair: -inf if isnan(pair[1]) else pair[1], reverse=True)

    def _hit(self, entry: object) -> Hit:
        if isinstance(entry, Hit):
            return entry
        if isinstance(entry, str):
            return Hit(entry)
        if isinstance(entry, tuple | list) and len(entry) == 2:
            document, score = entry
            if isinstance(document, str):
                return Hit(document, self._score(score))
            return self._hit(document)._replace(score=self._score(score))
        node = getattr(entry, "node", entry)
        metadata = _metadata(node)
        path = next((metadata[key] for key in self._keys if metadata.get(key)), None)
        if path is None and self._keys is DOCUMENT_KEYS:
            ids = (getattr(node, name, None) for name in ("ref_doc_id", "id", "node_id"))
            path = next(filter(None, ids), None)
        if path is None:
            known = ", ".join(map(str, metadata)) or "none"
            raise EngineError(
                f"{self.name}: {type(entry).__name__} has no document id; its metadata has the "
                f"keys {known}; choose one with karat.run(..., document_key=...)"
            )
        score = getattr(entry, "score", None)
        if score is None:
            score = next((metadata[key] for key in SCORE_KEYS if key in metadata), nan)
        lines = (metadata.get("start_line"), metadata.get("end_line"))
        start, end = (line if isinstance(line, int) else 0 for line in lines)
        return Hit(str(path), self._score(score), start, end or start)

    def _score(self, value: object) -> float:
        try:
            score = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise EngineError(f"{self.name}: score {value!r} is not a number") from None
        return score if isfinite(score) else nan


def _metadata(document: object) -> Mapping[str, Any]:
    """Return the metadata of a document; Haystack calls them meta."""
    if isinstance(document, Mapping):
        inner = document.get("metadata") or document.get("meta") or {}
        return {**document, **(inner if isinstance(inner, Mapping) else {})}
    for name in ("metadata", "meta"):
        if isinstance(metadata := getattr(document, name, None), Mapping):
            return metadata
    return {}


def is_retriever(target: object) -> bool:
    """Return whether *target* is a function or a retriever, not an engine that indexes a corpus."""
    return _answers(target) is not None


def retriever(target: object, name: str = "", *, key: str = "") -> Retriever:
    """Return *target* as a retriever, or raise InputError."""
    ask = _answers(target)
    if ask is None:
        raise InputError(f"{type(target).__name__} is not an engine; {EXPECTED}")
    return Retriever(ask, name or _name(target), key=key)


def _answers(target: object) -> Answers | None:
    """Return a function that calls *target*; None if its interface is unknown."""
    if isinstance(target, type) or (hasattr(target, "index") and hasattr(target, "search")):
        return None
    if callable(invoke := getattr(target, "invoke", None)):
        return lambda query, _: invoke(query)
    if callable(retrieve := getattr(target, "retrieve", None)):
        return None if hasattr(target, "initialize") else lambda query, _: retrieve(query)
    if callable(run := getattr(target, "run", None)) and _names_parameter(run, "query"):
        return _component(run)
    return _function(target) if callable(target) else None


def _component(run: Callable[..., object]) -> Answers:
    """Return a function that calls the method of a Haystack component."""
    if _names_parameter(run, "top_k"):
        return lambda query, k: run(query=query, top_k=k)
    return lambda query, _: run(query=query)


def _function(target: Callable[..., object]) -> Answers:
    """Return a function of query and k; one that takes the query alone is called so."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return target
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places: Sequence[object] = [each for each in parameters if each.kind in kinds]
    if any(each.kind is each.VAR_POSITIONAL for each in parameters) or len(places) > 1:
        return target
    if any(each.name == "k" for each in parameters):
        return lambda query, k: target(query, k=k)
    return lambda query, _: target(query)


def _names_parameter(function: Callable[..., object], name: str) -> bool:
    """Return whether *name* is a parameter of *function*; built-ins may not say."""
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _name(target: object) -> str:
    name = getattr(target, "__name__", "")
    return name if name and name != "<lambda>" else type(target).__name__
