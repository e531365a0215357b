"""The hits of a benchmark that await a grade, brought up to date grade by grade.

Which hits there are depends on the rankings alone, and is worked out once. A judgment changes what
is open of its own query only. Nothing here needs a score or a statistic.
"""

from collections.abc import Iterable, Mapping
from itertools import islice

from karat.app.benchmarks import BenchmarkConfig
from karat.app.judgments import edited_targets
from karat.app.pooling import Pooled, best_rank, candidates, is_judged
from karat.errors import Conflict
from karat.matching.modes import MATCHERS
from karat.model import Dataset, Run
from karat.store.service import Benchmark, Judgment, ServiceStore

__all__ = ["JudgingPool", "judging_pool"]


class JudgingPool:
    """The unjudged among the first *depth* hits of each query in each run, the best ranked first.

    *version* is that of the newest judgment that it knows; 1 is the dataset as uploaded.
    """

    def __init__(self, gold: Dataset, runs: Mapping[str, Run], *, depth: int) -> None:
        """Find the hits, and which of them *gold* judges already."""
        self.gold = gold
        self.version = 1
        self._matcher = MATCHERS.get(gold.match)()
        self._rows = {query_id: row for row, query_id in enumerate(gold.query_ids)}
        self._judgments: dict[str, list[Judgment]] = {}
        found = candidates(gold, runs, depth=depth)
        self._hits = sorted(
            (item for items in found.values() for item in items),
            key=lambda item: (best_rank(item), item.row),
        )
        # The places in that order, by row; and those of the hits that nobody has judged.
        self._places: dict[int, list[int]] = {}
        for place, item in enumerate(self._hits):
            self._places.setdefault(item.row, []).append(place)
        self._open: set[int] = set()
        for row in self._places:
            self._look_at(row)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, judgments: Iterable[Judgment]) -> None:
        """Take notice of what was judged after *version*, in its order."""
        changed = set()
        for judgment in judgments:
            self._judgments.setdefault(judgment.query, []).append(judgment)
            changed.add(judgment.query)
            self.version = judgment.version
        for query_id in changed:
            row = self._rows.get(query_id, -1)
            if row in self._places:
                self._look_at(row)

    def page(self, *, limit: int, offset: int = 0) -> list[Pooled]:
        """Return *limit* of the hits that nobody has judged, after *offset* of them."""
        unjudged = (item for place, item in enumerate(self._hits) if place in self._open)
        return list(islice(unjudged, offset, offset + limit))

    def _look_at(self, row: int) -> None:
        """Find out again which hits of the query at *row* are open."""
        judgments = self._judgments.get(self.gold.query_ids[row], ())
        targets = edited_targets(self.gold, self.gold.targets(row), judgments)
        for place in self._places[row]:
            if is_judged(self._hits[place].hit, targets, self._matcher):
                self._open.discard(place)
            else:
                self._open.add(place)


def judging_pool(store: ServiceStore, benchmark: Benchmark, runs: Iterable[str]) -> JudgingPool:
    """Return what *runs* of *benchmark* have found and nobody has judged; Conflict without runs."""
    answered = {run: store.results.measured(run).run for run in runs}
    if not answered or benchmark.experiment is None:
        raise Conflict(f"benchmark {benchmark.id} has no completed run yet")
    gold = store.results.dataset(store.results.show(benchmark.experiment).dataset)
    pool = JudgingPool(gold, answered, depth=BenchmarkConfig.from_json(benchmark.config).primary_k)
    pool.add(store.judgments.all(benchmark.dataset))
    return pool
