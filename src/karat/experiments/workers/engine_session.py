"""An engine in its worker process: searches are timed, hits are checked and cut."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter_ns
from typing import NamedTuple

from karat.corpus import Corpus
from karat.engines.adapters.external import AcceptedHits, CorpusPaths, External
from karat.engines.base import (
    Engine,
)
from karat.engines.hit_tokens import HitTokens
from karat.engines.registry import ENGINES, count_above, has_absolute_scores
from karat.errors import EngineError
from karat.experiments.workers.plan import Configuration
from karat.model import Hit
from karat.model.run import packed
from karat.model.timings import QueryCost, spent, total
from karat.system.processes import Message

# The factor by which a search goes deeper if its hits are in too few files.
MORE = 4


def hits_needed(hits: Sequence[Hit], files: int) -> int:
    """Return how many of *hits* it takes to have one in each of as many *files* as wanted.

    It is one more than their number if they are in fewer files: a search of that depth has found
    all hits.

    >>> hits = [Hit("a.py"), Hit("a.py"), Hit("b.py"), Hit("c.py")]
    >>> [hits_needed(hits, files) for files in (1, 2, 4)]
    [1, 3, 5]
    """
    seen: set[str] = set()
    for rank, hit in enumerate(hits, 1):
        seen.add(hit.path)
        if len(seen) == files:
            return rank
    return len(hits) + 1


def next_depth(needed: int, *, files: int) -> int:
    """Return the depth of the next search if hits in *files* files have needed *needed* hits.

    >>> [next_depth(needed, files=100) for needed in (1, 100, 101, 1000)]
    [100, 100, 400, 1600]
    """
    depth = files
    while depth < needed:
        depth *= MORE
    return depth


def first_files(hits: Iterable[Hit], files: int) -> Iterator[Hit]:
    """Yield *hits* up to the first one in the last of *files* files.

    Further hits in these files change no order of files, and how many there are would depend on
    how deep the search has gone.

    >>> hits = [Hit("a"), Hit("a"), Hit("b"), Hit("a"), Hit("c")]
    >>> [hit.path for hit in first_files(hits, 2)]
    ['a', 'a', 'b']
    """
    seen: set[str] = set()
    for hit in hits:
        seen.add(hit.path)
        yield hit
        if len(seen) == files:
            return


def cut(
    hits: Sequence[Hit],
    *,
    k: int,
    files: bool = False,
    threshold: float = 0.0,
    by_score: bool = False,
) -> tuple[Hit, ...]:
    """Return what is left of an answer for *k* hits, or hits in *k* *files*, above *threshold*.

    Both leave out the end of the answer, so that one search at the greatest depth serves all:
    its cut equals the hits of a search at the smaller depth. *by_score* is the result of
    ``karat.engines.registry.has_absolute_scores`` for the engine.

    >>> [hit.path for hit in cut([Hit("a", 8.0), Hit("b", 4.0), Hit("c", 1.0)], k=5, threshold=0.5)]
    ['a', 'b']
    """
    first = tuple(first_files(hits, k)) if files else tuple(hits[:k])
    if not threshold:
        return first
    return first[: count_above([hit.score for hit in first], threshold, by_score=by_score)]


class _TimedSearch(NamedTuple):
    hits: Sequence[Hit]
    ns: int
    phases: Mapping[str, int]
    spent: QueryCost


class EngineSession:
    """The engine of *configuration*, and its state between two queries."""

    def __init__(
        self, configuration: Configuration, engine: Engine, *, tokenizer: str = ""
    ) -> None:
        """Note how the answers of the engine are cut, checked and counted in tokens."""
        self.engine = engine
        self._tokenizer = tokenizer
        self._tokens: HitTokens | None = None
        self._configuration = configuration
        self._by_score = has_absolute_scores(configuration.spec)
        name = configuration.spec.name
        ours = name in ENGINES.built_in() and name != "python"
        # An external engine may charge per hit, or reject a deeper search.
        self._learns = ENGINES.is_own(name)
        self._depth = configuration.k
        self._external = engine if isinstance(engine, External) else None
        self._trusted = ours or self._external is not None
        # Checks the hits of a user's class against the corpus.
        self._guard: CorpusPaths | None = None
        # The counts of dropped and mended hits of an adapter before its last search.
        self._invalid: Counter[str] = Counter()
        self._mended: Counter[str] = Counter()
        self._hits: Sequence[Hit] = ()

    def indexed(self, corpus: Corpus, index_ns: int) -> Message:
        """Note that *corpus* was indexed, and return the facts of the index."""
        root = "" if corpus.folder is None else str(corpus.folder)
        self._guard = None if self._trusted else CorpusPaths(corpus, root=root)
        self._tokens = HitTokens(corpus, self._tokenizer)
        engine = self.engine
        return {
            "index_ns": index_ns,
            "index_bytes": engine.index_bytes(),
            "documents": len(corpus),
            "corpus": corpus.snapshot,
            "work": dict(engine.work()),
        }

    def search(self, query: str, *, first: bool, before: Callable[[], None]) -> Message:
        """Return the reply to *query*; *before* is called ahead of each search."""
        if first:
            self.engine.reset()
        timed = self._timed(query, before)
        checked = self._accepted(timed.hits)
        configuration = self._configuration
        hits = cut(
            checked.hits,
            k=configuration.k,
            files=configuration.files,
            threshold=configuration.threshold,
            by_score=self._by_score,
        )
        if not first:
            return {"ns": timed.ns, "same": _locations(hits) == _locations(self._hits)}
        self._hits = hits
        if self._tokens:
            hits = self._tokens.added(hits)
        fields = {
            "phases": timed.phases,
            "spent": _said(timed.spent),
            "invalid": checked.invalid,
            "mended": checked.mended,
            "accepted": len(checked.hits) if checked.invalid else 0,
        }
        # Empty fields are not sent; most replies have only hits and phases.
        filled = {name: value for name, value in fields.items() if value}
        return {"ns": timed.ns, "hits": packed(hits), **filled}

    def _timed(self, query: str, before: Callable[[], None]) -> _TimedSearch:
        """Search *query*, deeper as long as there are too few files, and time all of that.

        A built-in engine starts at the depth that the query before has needed; the hits after the
        cut are the same, and mostly one search is enough.
        """
        k, files = self._configuration.k, self._configuration.files
        depth, total_ns = self._depth, 0
        phases: Counter[str] = Counter()
        spending: list[QueryCost] = []
        while True:
            before()
            if self._external:
                self._invalid = Counter(self._external.invalid)
                self._mended = Counter(self._external.mended)
            started = perf_counter_ns()
            returned = self.engine.search(query, depth)
            total_ns += perf_counter_ns() - started
            spending.append(spent(self.engine.metadata()))
            for name, ns in self.engine.phases_ns().items():
                phases[name] += int(ns)
            hits = _checked(returned, self.engine.name)
            if not files:
                break
            needed = hits_needed(hits, k)
            if self._learns:
                self._depth = next_depth(needed, files=k)
            if needed <= depth:
                break
            depth = next_depth(depth + 1, files=k)
        # The time in which an adapter checks hits against the corpus is not part of the search.
        ours = phases.pop("check", 0) if self._external else 0
        return _TimedSearch(hits, total_ns - ours, phases, total(spending))

    def _accepted(self, hits: Sequence[Hit]) -> AcceptedHits:
        """Return the accepted hits, and how many the last search has dropped or mended.

        A deeper search drops the same hits again, so that only the last one counts.
        """
        if self._guard is not None:
            return self._guard.accept(hits, len(hits))
        engine = self._external
        if engine is None:
            return AcceptedHits(tuple(hits), {}, {})
        invalid, mended = engine.invalid - self._invalid, engine.mended - self._mended
        return AcceptedHits(tuple(hits), invalid, mended)


def _said(cost: QueryCost) -> dict[str, float]:
    """Return the reported costs, without those that are unknown."""
    said = {"tokens": cost.tokens, "cost": cost.cost, "ignored": cost.ignored or None}
    return {name: value for name, value in said.items() if value is not None}


def _locations(hits: Sequence[Hit]) -> list[tuple[object, ...]]:
    """Return the ranking: the location of each hit, without its score."""
    return [hit[:1] + hit[2:5] for hit in hits]


def _checked(returned: object, name: str) -> Sequence[Hit]:
    if isinstance(returned, Sequence) and all(isinstance(hit, Hit) for hit in returned):
        return returned
    raise EngineError(f"{name}: search returned {type(returned).__name__}; expected a list of hits")
