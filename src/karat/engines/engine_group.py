"""Engine groups: engines in one process that share an index, models and the scores of a query."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from threading import Lock
from time import perf_counter_ns
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from karat.corpus import Corpus
from karat.engines.base import EmbedPart, Engine
from karat.engines.embedding import DEFAULT_EMBEDDER, Embedder, loaded_once
from karat.engines.embedding.base import is_endpoint
from karat.engines.registry import ENGINES
from karat.engines.spec import build, check_options, model_text, parse_spec
from karat.errors import EngineError
from karat.model.spec import Spec

if TYPE_CHECKING:
    from karat.engines.chunk_index import ChunkIndex
    from karat.engines.chunked import ChunkEngine
    from karat.engines.rerank import Reranker
    from karat.engines.rerank.engine import Passages


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
# The options that decide how a corpus is cut, and whether the chunks are cached, with defaults.
CUTTING: Mapping[str, object] = {"chunker": "auto", "cache": True, "context": ""}


class _Shelf(Generic[Key, Value]):
    """The values, within a bound."""

    def __init__(self, most: int, size: Callable[[Value], int]) -> None:
        self.lock = Lock()
        self.held: OrderedDict[Key, Value] = OrderedDict()
        self.total = 0
        self._most = most
        self._size = size

    def keep(self, values: Mapping[Key, Value]) -> None:
        with self.lock:
            for key, value in values.items():
                if key not in self.held:
                    self.held[key] = value
                    self.total += self._size(value)
            while self.total > self._most:
                _, gone = self.held.popitem(last=False)
                self.total -= self._size(gone)


class Recent(Generic[Key, Value]):
    """An LRU cache; the least recently used values are evicted above the total size *most*.

    *make* computes the values of keys that are not there, several at once; *size* says how large
    one is. It is thread-safe; a value that two threads miss is computed twice.

    >>> squares = Recent(lambda keys: [key * key for key in keys], most=2, size=lambda value: 1)
    >>> squares.get([2, 3, 2]), squares.get([4]), len(squares)
    ([4, 9, 4], [16], 2)
    """

    def __init__(
        self,
        make: Callable[[Sequence[Key]], Sequence[Value]],
        *,
        most: int,
        size: Callable[[Value], int],
    ) -> None:
        """Start empty."""
        self._make = make
        self._shelf: _Shelf[Key, Value] = _Shelf(most, size)
        # The hashes of the keys that this view has requested; None if all stored values count.
        self._asked: set[int] | None = None

    def __len__(self) -> int:
        """Return the number of values that are held."""
        return len(self._shelf.held)

    def apart(self) -> "Recent[Key, Value]":
        """Return a view that computes its misses and stores nothing twice.

        Engines that are timed in one process then take the memory of one, without shared hits.
        """
        other = copy(self)
        other._asked = set()  # noqa: SLF001 - a copy of this one
        return other

    def get(self, keys: Sequence[Key]) -> list[Value]:
        """Return the value of each key."""
        held = self._shelf.held
        with self._shelf.lock:
            cached = {
                key: held[key]
                for key in keys
                if key in held and (self._asked is None or hash(key) in self._asked)
            }
            for key in cached:
                held.move_to_end(key)
        missing = [key for key in dict.fromkeys(keys) if key not in cached]
        if missing:
            made = dict(zip(missing, self._make(missing), strict=True))
            self._shelf.keep(made)
            if self._asked is not None:
                self._asked.update(map(hash, missing))
            cached |= made
        return [cached[key] for key in keys]


def shareable(spec: Spec) -> str | None:
    """Return the key of the group that *spec* belongs to; None for an engine that shares nothing.

    Engines over chunks with the same chunker share one group, and so do their rerankers.

    >>> specs = map(parse_spec, ["bm25", "rerank(over=dense)", "bm25(chunker=lines)", "keyword"])
    >>> first, second, third, fourth = map(shareable, specs)
    >>> first == second, first == third, fourth
    (True, False, None)
    """
    info = ENGINES.find(spec.name)
    if info is None or not info.shares:
        return None
    if info.shares == "reranked":
        return shareable(_over(spec))
    given = {name: spec.params[name] for name in spec.params if name.startswith("chunk")}
    given |= {name: spec.params[name] for name in CUTTING if name in spec.params}
    cutting = {**CUTTING, **given}
    # A value is text on the command line, and may be a number or a boolean in a file.
    return ", ".join(f"{name}={cutting[name]}".lower() for name in sorted(cutting))


def embeds_locally(spec: Spec) -> bool:
    """Return whether the engine of *spec* embeds chunks by a model of its machine, into a cache.

    One that lets a chat model write contexts does not count: they are paid for. Nor does one whose
    vectors are in a store, which may hold them already.

    >>> specs = map(parse_spec, ["rerank(over=hybrid)", "bm25", "dense(cache=false)"])
    >>> [embeds_locally(spec) for spec in specs]
    [True, False, False]
    """
    info = ENGINES.find(spec.name)
    if info is None:
        return False
    if info.shares == "reranked":
        return embeds_locally(_over(spec))
    params = {**CUTTING, "model": DEFAULT_EMBEDDER, **spec.params}
    model = params["model"]
    return (
        info.shares == "chunks"
        and "dense" in info.components
        and str(params["cache"]).lower() == "true"
        and not params["context"]
        and not params.get("store")
        and isinstance(model, str)
        and not is_endpoint(model)
    )


def _over(spec: Spec) -> Spec:
    """Return the engine that a reranker reranks."""
    over = spec.params.get("over", "bm25")
    return parse_spec(over if isinstance(over, Mapping) else str(over))


def _reranks(spec: Spec) -> bool:
    info = ENGINES.find(spec.name)
    return info is not None and info.shares == "reranked"


class _QueryValues(NamedTuple):
    query: str
    values: dict[Hashable, object]


class Current:
    """Cache of the current query: values that one engine computed and the next one reuses.

    The next query clears it, except for values that were prefetched. It is thread-safe; a value
    that two threads miss is computed twice. With *keeps* False only prefetched values are cached,
    as for an engine that runs alone.

    >>> current = Current()
    >>> [current.once(query, "length", lambda: len(query)) for query in ("login", "login", "mail")]
    [5, 5, 4]
    """

    def __init__(self, *, keeps: bool = True) -> None:
        """Start with no query."""
        self._keeps = keeps
        self._held = _QueryValues("", {})
        # By key: the prefetched values by query.
        self._ahead: dict[Hashable, Mapping[str, object]] = {}

    def expect(
        self, queries: Sequence[str], key: Hashable, make: Callable[[], Iterable[object]]
    ) -> None:
        """Prefetch the value of *key* for each of *queries*; they replace those expected before.

        *make* computes all of them at once; it is not called if the same queries are expected.

        >>> current = Current(keeps=False)
        >>> current.expect(["login", "mail"], "length", lambda: [5, 4])
        >>> current.once("mail", "length", lambda: 0)
        4
        """
        if self._ahead.get(key, {}).keys() != set(queries):
            self._ahead[key] = dict(zip(queries, make(), strict=True))

    def once(self, query: str, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of *key* for *query*; on a cache miss *make* computes it."""
        ahead = self._ahead.get(key)
        if ahead and query in ahead:
            return ahead[query]  # type: ignore[return-value]
        if not self._keeps:
            return make()
        held = self._held
        if held.query != query:
            held = self._held = _QueryValues(query, {})
        if key not in held.values:
            held.values[key] = make()
        return held.values[key]  # type: ignore[return-value]

    def forget(self) -> None:
        """Drop the values of the last query."""
        self._held = _QueryValues("", {})


NOT_KEPT = Current(keeps=False)


class _Member(NamedTuple):
    engine: Engine
    # The engine over shared chunks: itself, or the one that it reranks.
    chunked: "ChunkEngine | None"


class EngineGroup:
    """Engines in one process; the hits of each are bit for bit those that it returns alone.

    Engines with the same chunker share the chunks, their rows and the stages on them; equal models
    are loaded once. The embedding of a query and the scores of each stage are cached for the next
    engine, until ``forget``. Rerankers share the texts that they have read and their vectors; with
    *apart*, each uses only those that it has read itself, so that sharing does not change its
    latency.

    >>> from karat.corpus import from_texts
    >>> group = build_group([parse_spec("bm25"), parse_spec("bm25(unit=file)")])
    >>> group.show(from_texts({"auth.py": "def login(): ...", "mail.py": "def send(): ..."}))
    >>> [engine.search("login", 5)[0].path for engine in group.engines]
    ['auth.py', 'auth.py']
    """

    def __init__(self, *, apart: bool = False) -> None:
        """Start with no engines."""
        self.engines: list[Engine] = []
        self._apart = apart
        self._current = Current()
        # In the order of indexing: an engine before its reranker.
        self._members: list[_Member] = []
        self._shared: dict[Spec, _Member] = {}
        self._embedders: dict[str, Embedder] = {}
        self._indexes: dict[Hashable, ChunkIndex] = {}
        self._rerankers: dict[str, Reranker] = {}
        self._passages: Passages | None = None
        self._taken_ns: dict[int, int] = {}
        self._ready = False

    def add(self, spec: Spec) -> Engine:
        """Add the engine of *spec* to the group and return it."""
        with loaded_once(self._embedders):
            engine = self._member(spec).engine
        self.engines.append(engine)
        self._ready = False
        return engine

    def show(self, corpus: Corpus) -> None:
        """Index *corpus* for all engines, incrementally if they support snapshots."""
        ready, self._ready = self._ready, False
        if not ready:
            for index in self._indexes.values():
                index.clear()
        self._current.forget()
        for engine, chunked in self._members:
            started = perf_counter_ns()
            if chunked or ready:
                engine.show(corpus)
            else:
                engine.index(corpus)
            taken = perf_counter_ns() - started
            self._taken_ns[id(engine)] = chunked.index_ns if chunked else taken
        self._ready = True

    def embed_ahead(self, corpora: Iterable[Corpus], part: EmbedPart) -> list[int]:
        """Embed the texts of *corpora* that belong to *part* into the cache; index nothing.

        The result is how many texts each of the engines needed and none had embedded before.
        """
        from karat.engines.chunk_index import embed_ahead

        embedded = embed_ahead(self._indexes.values(), corpora, part)
        chunked = {id(engine): chunked for engine, chunked in self._members}
        return [
            sum(embedded.get(stage.identity, 0) for stage in over.stages)
            if (over := chunked.get(id(engine)))
            else 0
            for engine in self.engines
        ]

    def release(self) -> None:
        """Drop the rows of all snapshots so far; the next one shares nothing with them."""
        self._current.forget()
        self._passages = None
        for index in self._indexes.values():
            index.release()

    def index_ns(self, engine: Engine) -> int:
        """Return the time that *engine* took for the last corpus; shared work counts in full."""
        return self._taken_ns[id(engine)]

    def forget(self) -> None:
        """Clear the cache of the current query, so that the next search computes all by itself."""
        self._current.forget()

    def close(self) -> None:
        """Close all engines; calling it twice is allowed."""
        for engine, _ in self._members:
            engine.close()

    def _member(self, spec: Spec) -> _Member:
        # A reranker caches the texts that it has read, so *apart* needs two instances.
        if spec in self._shared and not (self._apart and _reranks(spec)):
            return self._shared[spec]
        if shareable(spec):
            member = self._shared[spec] = self._made(spec)
        else:
            member = _Member(build(spec), None)
        self._members.append(member)
        return member

    def _made(self, spec: Spec) -> _Member:
        if _reranks(spec):
            return self._reranked(spec)
        from karat.engines.chunked import ChunkEngine

        engine = build(spec)
        if not isinstance(engine, ChunkEngine):
            raise EngineError(
                f"{spec.name}: its EngineInfo says shares='chunks', but the factory returned "
                f"{type(engine).__name__}; expected a ChunkEngine"
            )
        own = engine.held
        engine.share(self._indexes.setdefault(own.identity, own), self._current)
        for stage in engine.stages:
            stage.current = self._current
        return _Member(engine, engine)

    def _reranked(self, spec: Spec) -> _Member:
        from karat.engines.rerank import DEFAULT_RERANKER, RerankEngine, rerank

        options = check_options(rerank, spec.params, what=spec.name)
        over = self._member(parse_spec(options.pop("over", "bm25")))
        reranker = self._reranker(model_text(options.pop("model", DEFAULT_RERANKER)))
        engine = RerankEngine(over.engine, reranker, **options)
        engine.read = self._read
        return _Member(engine, over.chunked)

    def _reranker(self, model: str) -> "Reranker":
        from karat.engines.rerank import create_reranker

        if model not in self._rerankers:
            made = self._rerankers[model] = create_reranker(model)
            made.current = self._current
        reranker = self._rerankers[model]
        return reranker.apart() if self._apart else reranker

    def _read(self, corpus: Corpus) -> "Passages":
        from karat.engines.rerank.engine import Passages

        if self._passages is None or self._passages.corpus is not corpus:
            self._passages = Passages(corpus)
        return self._passages.apart() if self._apart else self._passages


def build_group(specs: Iterable[Spec], *, apart: bool = False) -> EngineGroup:
    """Return a group with the engines of *specs*, in this order."""
    group = EngineGroup(apart=apart)
    for spec in specs:
        group.add(spec)
    return group
