"""Engines that share their work: one index, one model, one scoring of a query for all of them."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, runtime_checkable

from karat.corpus import Corpus
from karat.engines.base import Engine, SupportsClose, SupportsSnapshots
from karat.engines.embedding import Embedder, loaded_once
from karat.engines.spec import build, checked, parse_spec
from karat.model.spec import Spec

if TYPE_CHECKING:
    from karat.engines.chunk_index import ChunkIndex
    from karat.engines.chunked import ChunkEngine
    from karat.engines.rerank import Reranker
    from karat.engines.rerank.engine import Passages


__all__ = ["NOT_KEPT", "Current", "EngineGroup", "SupportsCurrent", "build_family", "shareable"]

CHUNKED = frozenset({"bm25", "dense", "hybrid", "sparse"})
# How a corpus is cut, and whether the outcome is kept; what a specification does not say.
CUTTING: Mapping[str, object] = {"chunker": "auto", "cache": True}


def shareable(spec: Spec) -> str | None:
    """Return a key that the engines of one family have in common; None for one that shares nothing.

    They are the engines over chunks that cut alike, and rerankers after such an engine.

    >>> specs = map(parse_spec, ["bm25", "rerank(over=dense)", "bm25(chunker=lines)", "keyword"])
    >>> first, second, third, fourth = map(shareable, specs)
    >>> first == second, first == third, fourth
    (True, False, None)
    """
    if spec.name == "rerank":
        over = spec.params.get("over", "bm25")
        return shareable(parse_spec(over if isinstance(over, Mapping) else str(over)))
    if spec.name not in CHUNKED:
        return None
    cutting = {**CUTTING, **{name: spec.params[name] for name in spec.params if _cuts(name)}}
    # A value is a word on the command line, and may be a number or a truth value in a file.
    return ", ".join(f"{name}={cutting[name]}".lower() for name in sorted(cutting))


def _cuts(name: str) -> bool:
    return name in CUTTING or name.startswith("chunk")


Value = TypeVar("Value")


class _Held(NamedTuple):
    query: str
    values: dict[Hashable, object]


class Current:
    """Values by key for one query: what one engine has computed, the next one takes from here.

    The next query makes it forget, but not what was made ahead for the queries that it expects.
    Several threads may use it; a value that two of them miss is made twice. *keeps* False makes
    every other value anew, as an engine that is alone has to.

    >>> current = Current()
    >>> [current.once(query, "length", lambda: len(query)) for query in ("login", "login", "mail")]
    [5, 5, 4]
    """

    def __init__(self, *, keeps: bool = True) -> None:
        """Begin without a query."""
        self._keeps = keeps
        self._held = _Held("", {})
        # By key: the values of the queries that are expected.
        self._ahead: dict[Hashable, Mapping[str, object]] = {}

    def expect(
        self, queries: Sequence[str], key: Hashable, make: Callable[[], Iterable[object]]
    ) -> None:
        """Hold the value of *key* for each of *queries*, in place of those expected before.

        *make* computes all of them at once; who expects the same queries after another need not.

        >>> current = Current(keeps=False)
        >>> current.expect(["login", "mail"], "length", lambda: [5, 4])
        >>> current.once("mail", "length", lambda: 0)
        4
        """
        if self._ahead.get(key, {}).keys() != set(queries):
            self._ahead[key] = dict(zip(queries, make(), strict=True))

    def once(self, query: str, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of *key* for *query*; *make* computes it where it is not there."""
        ahead = self._ahead.get(key)
        if ahead and query in ahead:
            return ahead[query]  # type: ignore[return-value]
        if not self._keeps:
            return make()
        held = self._held
        if held.query != query:
            held = self._held = _Held(query, {})
        if key not in held.values:
            held.values[key] = make()
        return held.values[key]  # type: ignore[return-value]

    def forget(self) -> None:
        """Drop the values of the query that was asked last."""
        self._held = _Held("", {})


NOT_KEPT = Current(keeps=False)


@runtime_checkable
class SupportsCurrent(Protocol):
    """A part of an engine that computes something from the query which others need as well."""

    current: Current


# An engine that shares nothing is a family too, and its process loads no numpy for that.


class _Member(NamedTuple):
    engine: Engine
    # The engine over the shared chunks that it is, or that it reranks.
    chunked: "ChunkEngine | None"


class EngineGroup:
    """Engines in one process, whose hits are bit for bit those that each gives alone.

    What cuts a corpus alike shares the chunks, their rows and the stages on them; equal models are
    loaded once. Of the query that is asked, the first engine keeps its embedding and the scores of
    each stage for the next ones, until ``forget``. Rerankers share the texts that they have read
    and the vectors of these; *apart* leaves each with those that it has asked for itself, so that
    none is quicker than it would be alone.

    >>> from karat.corpus import from_texts
    >>> family = build_family([parse_spec("bm25"), parse_spec("bm25(unit=file)")])
    >>> family.show(from_texts({"auth.py": "def login(): ...", "mail.py": "def send(): ..."}))
    >>> [engine.search("login", 5)[0].path for engine in family.engines]
    ['auth.py', 'auth.py']
    """

    def __init__(self, *, apart: bool = False) -> None:
        """Begin without an engine."""
        self.engines: list[Engine] = []
        self._apart = apart
        self._current = Current()
        # In the order in which they are shown a corpus: what is reranked before its reranker.
        self._members: list[_Member] = []
        self._shared: dict[Spec, _Member] = {}
        self._embedders: dict[str, Embedder] = {}
        self._indexes: dict[Hashable, ChunkIndex] = {}
        self._rerankers: dict[str, Reranker] = {}
        self._passages: Passages | None = None
        self._taken_ns: dict[int, int] = {}
        self._ready = False

    def add(self, spec: Spec) -> Engine:
        """Return the engine of *spec*, which is one of the family from now on."""
        with loaded_once(self._embedders):
            engine = self._member(spec).engine
        self.engines.append(engine)
        self._ready = False
        return engine

    def show(self, corpus: Corpus) -> None:
        """Index *corpus* for all, or move on to it where the engines can."""
        ready, self._ready = self._ready, False
        if not ready:
            for index in self._indexes.values():
                index.clear()
        self._current.forget()
        for engine, chunked in self._members:
            started = perf_counter_ns()
            if isinstance(engine, SupportsSnapshots) and (chunked or ready):
                engine.show(corpus)
            else:
                engine.index(corpus)
            taken = perf_counter_ns() - started
            self._taken_ns[id(engine)] = chunked.index_ns if chunked else taken
        self._ready = True

    def index_ns(self, engine: Engine) -> int:
        """Return how long *engine* took for the last corpus, what it shares counted in full."""
        return self._taken_ns[id(engine)]

    def forget(self) -> None:
        """Drop what is known of the current query, so that the next search is all one's own."""
        self._current.forget()

    def close(self) -> None:
        """Let go of all that the engines hold; calling it twice is fine."""
        for engine, _ in self._members:
            if isinstance(engine, SupportsClose):
                engine.close()

    def _member(self, spec: Spec) -> _Member:
        # What reranks keeps the texts that it has read, so that two who are apart are two.
        if spec in self._shared and not (self._apart and spec.name == "rerank"):
            return self._shared[spec]
        if shareable(spec):
            member = self._shared[spec] = self._made(spec)
        else:
            member = _Member(build(spec), None)
        self._members.append(member)
        return member

    def _made(self, spec: Spec) -> _Member:
        if spec.name == "rerank":
            return self._reranked(spec)
        from karat.engines.chunked import ChunkEngine

        engine = build(spec)
        if not isinstance(engine, ChunkEngine):
            raise TypeError(f"{spec.name} is no engine over chunks")
        own = engine.held
        engine.share(self._indexes.setdefault(own.identity, own), self._current)
        for stage in engine.stages:
            if isinstance(stage, SupportsCurrent):
                stage.current = self._current
        return _Member(engine, engine)

    def _reranked(self, spec: Spec) -> _Member:
        from karat.engines.rerank import DEFAULT_RERANKER, RerankEngine, rerank

        options = checked(rerank, spec.params, what=spec.name)
        over = self._member(parse_spec(options.pop("over", "bm25")))
        reranker = self._reranker(options.pop("model", DEFAULT_RERANKER))
        engine = RerankEngine(over.engine, reranker, **options)
        engine.read = self._read
        return _Member(engine, over.chunked)

    def _reranker(self, model: str) -> "Reranker":
        from karat.engines.rerank import create_reranker
        from karat.engines.rerank.recent import SupportsApart

        if model not in self._rerankers:
            made = self._rerankers[model] = create_reranker(model)
            if isinstance(made, SupportsCurrent):
                made.current = self._current
        reranker = self._rerankers[model]
        return reranker.apart() if self._apart and isinstance(reranker, SupportsApart) else reranker

    def _read(self, corpus: Corpus) -> "Passages":
        from karat.engines.rerank.engine import Passages

        if self._passages is None or self._passages.corpus is not corpus:
            self._passages = Passages(corpus)
        return self._passages.apart() if self._apart else self._passages


def build_family(specs: Iterable[Spec], *, apart: bool = False) -> EngineGroup:
    """Return a family with the engines of *specs*, in this order."""
    family = EngineGroup(apart=apart)
    for spec in specs:
        family.add(spec)
    return family
