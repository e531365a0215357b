"""The process that computes statistics for the service, so that nobody waits for them but who asks.

It is asked by lines of JSON: first the place of the store, then a question with its arguments
each. It answers each with one line: ``=`` and the answer, or ``!`` and the kind of an error and
its text. It ends with its input.
"""

import json
import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from karat import errors
from karat.report.draw import draw
from karat.report.page.file import render
from karat.service.api.views import analysis, queries
from karat.service.api.views.results import details, kept_results, subject_of
from karat.service.results import JudgingPool, ScoredBenchmark, judging_pool, results_key, scored
from karat.service.store import ServiceStore

__all__ = ["Desk", "main"]

# Each holds all hits of a benchmark.
MOST_KEPT = 3


class Desk:
    """Answers questions about the benchmarks in *store*; the last few are kept scored."""

    def __init__(self, store: ServiceStore) -> None:
        """Begin with an empty desk."""
        self._store = store
        self._kept: OrderedDict[str, ScoredBenchmark] = OrderedDict()
        self._pools: OrderedDict[tuple[str, ...], JudgingPool] = OrderedDict()
        self._questions: Mapping[str, Callable[..., str]] = {
            "results": self._results,
            "comparison": self._analysis(analysis.comparison),
            "matrix": self._analysis(analysis.matrix),
            "slices": self._analysis(analysis.slices),
            "curves": self._analysis(analysis.curves),
            "details": self._analysis(details),
            "queries": self._analysis(queries.query_results),
            "drilldown": self._analysis(queries.drilldown),
            "unjudged": self._unjudged,
            "two_sides": self._two_sides,
            "draw": self._draw,
        }

    def answer(self, question: str, arguments: Mapping[str, Any]) -> str:
        """Return the answer as one line of JSON."""
        return self._questions[question](**arguments)

    def scored(self, benchmark: str) -> ScoredBenchmark:
        """Return a benchmark scored as it is now."""
        found = self._store.benchmarks.get(benchmark)
        key = results_key(self._store, found)
        if key not in self._kept:
            self._kept[key] = scored(self._store, found)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def _analysis(self, view: Callable[..., Any]) -> Callable[..., str]:
        def answer(benchmark: str, **arguments: Any) -> str:
            text: str = view(self.scored(benchmark), **arguments).model_dump_json()
            return text

        return answer

    def _results(self, benchmark: str) -> str:
        return kept_results(self._store, self.scored(benchmark)).decode()

    def _unjudged(self, benchmark: str, *, page: int, per_page: int) -> str:
        runs = self._store.benchmarks.scored_runs(benchmark)
        found = self._store.benchmarks.get(benchmark)
        key = (benchmark, *runs)
        if key not in self._pools:
            self._pools[key] = judging_pool(self._store, found, runs)
            while len(self._pools) > MOST_KEPT:
                self._pools.popitem(last=False)
        self._pools.move_to_end(key)
        pool = self._pools[key]
        pool.add(self._store.judgments.since(found.dataset, pool.version))
        return queries.unjudged(pool, page=page, per_page=per_page).model_dump_json()

    def _two_sides(
        self, left: str, left_run: str, right: str, right_run: str, metric: str | None
    ) -> str:
        sides = self.scored(left), left_run, self.scored(right), right_run
        return analysis.two_sides(*sides, metric).model_dump_json()

    def _draw(self, benchmark: str, path: str) -> str:
        found = self.scored(benchmark)
        if path.endswith(".html"):
            outcomes = self._store.results.outcomes(found.experiment.id)
            text = render(subject_of(found, outcomes))
        else:
            text = draw(found.findings, path)
        Path(path).write_text(text, encoding="utf-8", newline="")
        return "null"


def main(source: BinaryIO = sys.stdin.buffer) -> None:
    """Answer the questions that come from *source*, on what was standard output."""
    # Whatever else is printed must not come between two answers.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        place = json.loads(source.readline())
        with ServiceStore(place) as store:
            desk = Desk(store)
            for line in source:
                question, arguments = json.loads(line)
                try:
                    told = f"={desk.answer(question, arguments)}"
                except errors.KaratError as error:
                    told = "!" + json.dumps([type(error).__name__, str(error)])
                answers.write(told.encode() + b"\n")
                answers.flush()


if __name__ == "__main__":
    main()
