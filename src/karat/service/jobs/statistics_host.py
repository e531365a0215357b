"""The child process that computes statistics, so that no other request waits for them.

A request names the URL of the store, an operation and its arguments. The answer has the length of
its ``body``, which follows as raw JSON; or an ``error``, the name of its class, and a ``message``.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from karat import errors
from karat.app.judge import HitOrder, JudgingPool
from karat.report.draw import draw
from karat.report.page.file import render
from karat.service.api.views import results
from karat.service.api.views.results import details, kept_results, subject_of
from karat.service.results import ScoredBenchmark, judging_pool, results_key, scored
from karat.service.store import ServiceStore
from karat.system.processes import Message, ParentLink

__all__ = ["StatisticsHost", "main"]

# Each holds all hits of a benchmark.
MAX_SCORED = 3


class StatisticsHost:
    """Computes statistics of the benchmarks in *store*; the last few stay scored in memory."""

    def __init__(self, store: ServiceStore) -> None:
        """Start with nothing scored."""
        self._store = store
        self._scored: OrderedDict[str, ScoredBenchmark] = OrderedDict()
        self._pools: OrderedDict[tuple[str, ...], JudgingPool] = OrderedDict()
        self._operations: Mapping[str, Callable[..., str]] = {
            "results": self._results,
            "comparison": self._analysis(results.comparison),
            "matrix": self._analysis(results.matrix),
            "slices": self._analysis(results.slices),
            "curves": self._analysis(results.curves),
            "details": self._analysis(details),
            "queries": self._analysis(results.query_results),
            "drilldown": self._analysis(results.drilldown),
            "unjudged": self._unjudged,
            "two_sides": self._two_sides,
            "draw": self._draw,
        }

    def answer(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the answer as JSON."""
        return self._operations[operation](**arguments)

    def scored(self, benchmark: str) -> ScoredBenchmark:
        """Return a benchmark scored as it is now."""
        found = self._store.benchmarks.get(benchmark)
        key = results_key(self._store, found)
        if key not in self._scored:
            self._scored[key] = scored(self._store, found)
            while len(self._scored) > MAX_SCORED:
                self._scored.popitem(last=False)
        self._scored.move_to_end(key)
        return self._scored[key]

    def _analysis(self, view: Callable[..., Any]) -> Callable[..., str]:
        def answer(benchmark: str, **arguments: Any) -> str:
            text: str = view(self.scored(benchmark), **arguments).model_dump_json()
            return text

        return answer

    def _results(self, benchmark: str) -> str:
        return kept_results(self._store, self.scored(benchmark)).decode()

    def _unjudged(
        self, benchmark: str, *, page: int, per_page: int, order: HitOrder = "rank"
    ) -> str:
        runs = self._store.benchmarks.scored_runs(benchmark)
        found = self._store.benchmarks.get(benchmark)
        key = (benchmark, *runs)
        if key not in self._pools:
            self._pools[key] = judging_pool(self._store, found, runs)
            while len(self._pools) > MAX_SCORED:
                self._pools.popitem(last=False)
        self._pools.move_to_end(key)
        pool = self._pools[key]
        pool.add(self._store.judgments.since(found.dataset, pool.version))
        return results.unjudged(pool, page=page, per_page=per_page, order=order).model_dump_json()

    def _two_sides(
        self, left: str, left_run: str, right: str, right_run: str, metric: str | None
    ) -> str:
        sides = self.scored(left), left_run, self.scored(right), right_run
        return results.two_sides(*sides, metric).model_dump_json()

    def _draw(self, benchmark: str, path: str) -> str:
        found = self.scored(benchmark)
        if path.endswith(".html"):
            outcomes = self._store.results.outcomes(found.experiment.id)
            text = render(subject_of(found, outcomes))
        else:
            text = draw(found.findings, path)
        Path(path).write_text(text, encoding="utf-8", newline="")
        return "null"


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    link = ParentLink()
    hosts: dict[str, StatisticsHost] = {}
    with ExitStack() as opened:
        for request in link.requests():
            place = request["store"]
            if place not in hosts:
                hosts[place] = StatisticsHost(opened.enter_context(ServiceStore(place)))
            link.send(_answer(hosts[place], request))


def _answer(host: "StatisticsHost", request: Message) -> Message:
    try:
        return {"body": host.answer(request["operation"], request["arguments"]).encode()}
    except errors.KaratError as error:
        return {"error": type(error).__name__, "message": str(error)}


if __name__ == "__main__":
    main()
