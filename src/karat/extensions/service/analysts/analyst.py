"""An analyst: a child process that computes statistics, judging orders and searches.

A request names the URL of the store, the folders of documents, an operation and its arguments. The
answer has the length of its ``body``, which follows as raw JSON, and the ``memory`` of the process;
or an ``error``, the name of its class, and a ``message``.
"""

import traceback
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from karat.errors import Conflict, KaratError, StoreUnavailable
from karat.experiments.store.database import AWAY
from karat.experiments.workers.announcements import announce_if_idle
from karat.extensions.service import views
from karat.extensions.service.analysts.pool import ERRORS
from karat.extensions.service.collections import (
    AllowedFolders,
    SearcherCache,
    health_of,
    indexed_modes,
)
from karat.extensions.service.judging_pool import HitOrder, JudgingPool
from karat.extensions.service.recent import RecentValues
from karat.extensions.service.results import ScoredBenchmark, judging_pool, results_key, scored
from karat.extensions.service.schemas.collections import (
    CollectionSearchResult,
    FoundHit,
    Health,
    ModeHits,
)
from karat.extensions.service.store import Collection, ServiceStore
from karat.extensions.service.views import details, store_results, subject_of
from karat.report.draw import draw
from karat.report.page.file import page_html
from karat.system.files import is_disk_full
from karat.system.processes import Message, ParentLink, resident_bytes

# Each holds all hits of a benchmark.
MAX_SCORED = 3
MOST_TEXT = 4_000
MOST_QUERIES = 100


class Analyst:
    """Computes from what is in *store*; the last few benchmarks and collections stay in memory."""

    def __init__(self, store: ServiceStore, folders: AllowedFolders) -> None:
        """Start with nothing in memory."""
        self._store = store
        self._searchers = SearcherCache(folders)
        self._scored = RecentValues[str, ScoredBenchmark](MAX_SCORED)
        self._pools = RecentValues[tuple[str, ...], JudgingPool](MAX_SCORED)
        self._operations: Mapping[str, Callable[..., str]] = {
            "results": self._results,
            "comparison": self._analysis(views.comparison),
            "matrix": self._analysis(views.matrix),
            "slices": self._analysis(views.slices),
            "curves": self._analysis(views.curves),
            "details": self._analysis(details),
            "queries": self._analysis(views.query_results),
            "drilldown": self._analysis(views.drilldown),
            "unjudged": self._unjudged,
            "two_sides": self._two_sides,
            "changes": self._changes,
            "draw": self._draw,
            "search": self._search,
            "warm": self._warm,
            "health": self._health,
        }

    def answer(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the answer as JSON."""
        return self._operations[operation](**arguments)

    def scored(self, benchmark: str) -> ScoredBenchmark:
        """Return a benchmark scored as it is now."""
        stored = self._store.benchmarks.get(benchmark)
        key = results_key(self._store, stored)
        return self._scored.get(key, lambda: scored(self._store, stored))

    def _analysis(self, view: Callable[..., Any]) -> Callable[..., str]:
        def answer(benchmark: str, **arguments: Any) -> str:
            text: str = view(self.scored(benchmark), **arguments).model_dump_json()
            return text

        return answer

    def _results(self, benchmark: str) -> str:
        return store_results(self._store, self.scored(benchmark)).decode()

    def _unjudged(
        self, benchmark: str, *, page: int, per_page: int, order: HitOrder = "rank"
    ) -> str:
        runs = self._store.benchmarks.scored_runs(benchmark)
        stored = self._store.benchmarks.get(benchmark)
        pool = self._pools.get((benchmark, *runs), lambda: judging_pool(self._store, stored, runs))
        pool.add(self._store.judgments.since(stored.dataset, pool.version))
        return views.unjudged(pool, page=page, per_page=per_page, order=order).model_dump_json()

    def _two_sides(
        self, left: str, left_run: str, right: str, right_run: str, metric: str | None
    ) -> str:
        sides = self.scored(left), left_run, self.scored(right), right_run
        return views.two_sides(*sides, metric).model_dump_json()

    def _changes(self, benchmark: str, *, sees: str | None) -> str:
        return views.changes(self.scored(benchmark), self._store, owner=sees).model_dump_json()

    def _draw(self, benchmark: str, path: str) -> str:
        computed = self.scored(benchmark)
        if path.endswith(".html"):
            outcomes = self._store.results.outcomes(computed.experiment.id)
            text = page_html(subject_of(computed, outcomes))
        else:
            text = draw(computed.findings, path)
        Path(path).write_text(text, encoding="utf-8", newline="")
        return "null"

    def _search(
        self, collection: str, *, query: str, modes: Sequence[str], use_reranker: bool, top_k: int
    ) -> str:
        stored = self._store.collections.get(collection)
        results = [
            self._mode_hits(stored, query, mode, use_reranker=use_reranker, top_k=top_k)
            for mode in modes
        ]
        return CollectionSearchResult(query=query, results=results).model_dump_json()

    def _mode_hits(
        self, collection: Collection, query: str, mode: str, *, use_reranker: bool, top_k: int
    ) -> ModeHits:
        hits, search_ns = self._searchers.search(
            collection, query, mode, use_reranker=use_reranker, top_k=top_k
        )
        corpus = self._searchers.corpus(collection)
        texts = {hit.path: corpus.read(hit.path).split("\n") for hit in hits}
        excerpts = [
            FoundHit(
                path=hit.path,
                start_line=hit.start_line,
                end_line=hit.end_line,
                symbol=hit.symbol,
                score=hit.score,
                text=_excerpt(texts[hit.path], hit.start_line, hit.end_line),
            )
            for hit in hits
        ]
        return ModeHits.model_validate(
            {"mode": mode, "hits": excerpts, "search_time_ms": search_ns / 1e6}
        )

    def _warm(self, collection: str) -> str:
        """Load the index and the models of a collection, unless another karat run is working."""
        with announce_if_idle("warm up search") as idle:
            if not idle:
                raise Conflict("another karat run is working")
            stored = self._store.collections.get(collection)
            for mode in indexed_modes(stored):
                self._searchers.search(stored, stored.name, mode, use_reranker=False, top_k=1)
        return "null"

    def _health(self, collection: str, *, golds: Sequence[str]) -> str:
        """Return the health found while indexing, or computed with some queries of *golds*."""
        stored = self._store.collections.get(collection)
        health: Any = stored.facts.get("health")
        if golds or not health:
            texts = [text for digest in golds for text in self._store.datasets.gold(digest).texts]
            corpus = self._searchers.corpus(stored)
            health = health_of(stored, corpus, queries=texts[:MOST_QUERIES])
        return Health.model_validate(
            {
                **{name: health[name] for name in ("engine", "queries", "healthy", "flaws")},
                "fallbacks": health["fallbacks"],
                "document_count": health["documents"],
                "chunk_count": health["chunks"],
                "skipped": stored.facts.get("skipped", {}),
                "skipped_files": stored.facts.get("skipped_files", {}),
            }
        ).model_dump_json()


def _excerpt(lines: list[str], start: int, end: int) -> str:
    part = lines[start - 1 : end] if start else lines
    return "\n".join(part)[:MOST_TEXT]


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    link = ParentLink()
    for answer in answers(link.requests()):
        link.send(answer)


class _Analysts(ExitStack):
    """The analyst of each store that requests name; the stores stay open until the end."""

    def __init__(self) -> None:
        super().__init__()
        self._by_store: dict[str, Analyst] = {}

    def of(self, request: Message) -> Analyst:
        """Return the analyst of the store that *request* names."""
        location = request["store"]
        if location not in self._by_store:
            roots = tuple(map(Path, request["roots"]))
            folders = AllowedFolders(roots, Path(request["uploads"]))
            store = self.enter_context(ServiceStore(location))
            self._by_store[location] = Analyst(store, folders)
        return self._by_store[location]


def answers(requests: Iterable[Message]) -> Generator[Message, None, None]:
    """Yield the answer to each request."""
    with _Analysts() as analysts:
        for request in requests:
            yield _answer(analysts, request)


def _answer(analysts: _Analysts, request: Message) -> Message:
    try:
        body = analysts.of(request).answer(request["operation"], request["arguments"]).encode()
    except StoreUnavailable:  # Its text names the host and the user of a database.
        return {"error": "StoreUnavailable", "message": AWAY}
    except Exception as error:  # noqa: BLE001 - a model may raise anything; the pool logs it
        if is_disk_full(error):
            return {"error": "StorageFull", "message": "the disk is full"}
        names = (kind.__name__ for kind in type(error).__mro__)
        if isinstance(error, KaratError) and (known := next(filter(ERRORS.get, names), "")):
            return {"error": known, "message": str(error)}
        return {"error": type(error).__name__, "message": traceback.format_exc()}
    return {"body": body, "memory": resident_bytes()}


if __name__ == "__main__":
    main()
