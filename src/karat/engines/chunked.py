"""An engine over the chunks of a corpus: stages score, fusion joins them, rules order them."""

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Corpus
from karat.engines.base import (
    ExplainedHit,
    Progress,
    SearchStep,
    SupportsBatch,
    SupportsProgress,
    SupportsSize,
    SupportsWork,
)
from karat.engines.caches import NO_CACHES, Caches
from karat.engines.chunk_index import ChunkIndex, IndexRecipe
from karat.engines.engine_group import NOT_KEPT, Current
from karat.engines.fusion import Scores, Weights, fuse, rest, stretched, top
from karat.engines.places import ChunkTable
from karat.engines.ranking import diversified, raised
from karat.engines.stages import Stage
from karat.engines.threshold import above
from karat.errors import EngineError, InputError
from karat.model import Hit

__all__ = ["ChunkEngine"]


class StageScores(NamedTuple):
    """What every place scores: by each stage, with names that the query spells out, and joined."""

    parts: Sequence[Scores]
    lifted: Sequence[Scores]
    joined: Scores
    factors: Scores


class RankedRows(NamedTuple):
    """What is found: the rows and their hits, best first, and how they came by their scores."""

    scored: StageScores
    joined: Scores
    rows: NDArray[np.intp]
    hits: Sequence[Hit]


class ChunkEngine:
    """A search over chunks by one or several stages.

    Searching is safe from several threads; indexing is not. In a family, *current* holds what
    other engines have found out about a query.
    """

    thread_safe = True

    def __init__(
        self,
        stages: Sequence[Stage],
        *,
        name: str,
        weights: Weights | None = None,
        recipe: IndexRecipe | None = None,
        caches: Caches = NO_CACHES,
    ) -> None:
        """Join *stages*, all alike unless *weights* say otherwise."""
        if not stages:
            raise InputError(f"engine {name!r} has no stage; expected one or more")
        self.name = name
        self.weights = weights or Weights.alike(len(stages))
        self.recipe = recipe or IndexRecipe()
        self.current: Current = NOT_KEPT
        self._last = threading.local()
        self._index = ChunkIndex(self.recipe.chunker, self.recipe.chunker_options, caches=caches)
        self.stages = self._index.join(stages, self.recipe.rules)

    @property
    def held(self) -> ChunkIndex:
        """Return what is searched."""
        return self._index

    @property
    def caches(self) -> Caches:
        """Return where chunks and vectors are kept."""
        return self._index.caches

    @property
    def fallbacks(self) -> Counter[str]:
        """Return how many documents were not cut as asked for, by reason, since ``index``."""
        return self._index.fallbacks

    @property
    def chunks(self) -> int:
        """Return how many chunks are searched."""
        places = self._index.places
        return len(places) if places else 0

    @property
    def index_ns(self) -> int:
        """Return how long the last corpus took: to cut it, and to index it for these stages."""
        return self._index.index_ns(self.stages)

    def share(self, index: ChunkIndex, current: Current) -> None:
        """Search *index* from now on, which must cut alike, and keep what it takes in *current*."""
        self._index, self.current = index, current
        self.stages = index.join(self.stages, self.recipe.rules)

    def index(self, corpus: Corpus) -> None:
        """Cut *corpus* into chunks and index them for every stage."""
        self._index.clear()
        self._index.show(corpus)

    def show(self, corpus: Corpus) -> None:
        """Search *corpus* from now on; places that were shown before are not indexed again."""
        self._index.show(corpus)

    def work(self) -> Mapping[str, int]:
        """Return the rows indexed since ``index``, and what the stages count."""
        found = {"rows": len(self._index)}
        for stage in self.stages:
            if isinstance(stage, SupportsWork):
                found.update(stage.work())
        return found

    def index_bytes(self) -> int:
        """Return the bytes of the postings and vectors since ``index``; texts are not counted."""
        return sum(stage.index_bytes() for stage in self.stages if isinstance(stage, SupportsSize))

    def watch(self, progress: Progress | None) -> None:
        """Let the stages that embed tell how far they are."""
        for stage in self.stages:
            if isinstance(stage, SupportsProgress):
                stage.watch(progress)

    def expect(self, queries: Sequence[str]) -> None:
        """Let the stages that embed do so for all of *queries* in one call."""
        for stage in self.stages:
            if isinstance(stage, SupportsBatch):
                stage.expect(queries)

    def search(self, query: str, k: int) -> list[Hit]:
        """Return the best *k* chunks."""
        places = self._searched(query, k)
        return [] if places is None else list(self._ranked(query, k, places).hits)

    def explain(self, query: str, k: int) -> list[ExplainedHit]:
        """Return the best *k* chunks with the score that each stage gave, and what became of it."""
        places = self._searched(query, k)
        if places is None:
            return []
        (parts, lifted, _, factors), joined, rows, hits = self._ranked(query, k, places)
        return [
            ExplainedHit(
                hit,
                {
                    stage.name: float(part[row])
                    for stage, part in zip(self.stages, parts, strict=True)
                },
                {
                    "names": max(map(_lift, parts, lifted, repeat(row))),
                    **({"joined": float(joined[row])} if len(parts) > 1 else {}),
                    "kind": float(factors[row]),
                },
            )
            for row, hit in zip(rows, hits, strict=True)
        ]

    def steps(self, query: str, k: int) -> list[SearchStep]:
        """Return the best *k* chunks of each stage alone, of all together, and above the threshold.

        A stage alone is ordered by the same rules.
        """
        places = self._searched(query, k)
        if places is None:
            return [SearchStep("stage", ())]
        scored = self._scored(query, places, {})
        found = []
        for stage, part in zip(self.stages, scored.lifted, strict=True):
            scores = scored.factors * part
            rows = self._ordered(scores, places, k, close=not stage.by_words)
            found.append(SearchStep("stage", _hits(rows, scores, places)))
        if len(found) > 1:
            rows, joined = self._deepened(scored, places, k)
            found.append(SearchStep("fusion", _hits(rows, scored.factors * joined, places)))
        if self.recipe.threshold:
            found.append(SearchStep("threshold", self.search(query, k)))
        return found

    def phases_ns(self) -> Mapping[str, int]:
        """Return how long each stage took in this thread's last search."""
        return dict(getattr(self._last, "phases", {}))

    def _searched(self, query: str, k: int) -> ChunkTable | None:
        """Return the places to search; None where there is nothing to look for, or in."""
        places = self._index.places
        if places is None:
            raise EngineError(f"{self.name}: search before index; there is no corpus yet")
        if k < 1:
            raise InputError(f"k is {k!r}; expected a whole number from 1 up")
        return places if query.strip() and len(places) else None

    def _scored(self, query: str, places: ChunkTable, phases: dict[str, int]) -> StageScores:
        parts = [self._timed(stage, query, phases) for stage in self.stages]
        lifted = [
            self._raised(stage, part, query) if stage.by_words else part
            for stage, part in zip(self.stages, parts, strict=True)
        ]
        factors = self._index.factors(self.recipe.rules)
        return StageScores(parts, lifted, self._joined(lifted, places), factors)

    def _ranked(self, query: str, k: int, places: ChunkTable) -> RankedRows:
        def rank() -> RankedRows:
            phases: dict[str, int] = {}
            self._last.phases = phases
            scored = self._scored(query, places, phases)
            rows, joined = self._deepened(scored, places, k)
            hits = _hits(rows, scored.factors * joined, places)
            shown = [hit.score for hit in hits]
            kept = above(shown, self.recipe.threshold, by_score=self.recipe.by_score)
            return RankedRows(scored, joined, rows[:kept], hits[:kept])

        return self.current.once(query, (self, k), rank)

    def _timed(self, stage: Stage, query: str, phases: dict[str, int]) -> Scores:
        start = time.perf_counter_ns()
        key = self._index, stage.identity
        scores = self.current.once(query, key, lambda: stage.scores(query))
        phases[stage.name] = time.perf_counter_ns() - start
        return scores

    def _raised(self, stage: Stage, part: Scores, query: str) -> Scores:
        rules, unit = self.recipe.rules, self.recipe.unit
        key = self._index, stage.identity, rules, unit
        make = partial(raised, part, self._index.names, query, rules, unit=unit)
        return self.current.once(query, key, make)

    def _joined(self, parts: Sequence[Scores], places: ChunkTable) -> Scores:
        if len(parts) == 1:
            return parts[0]
        recipe = self.recipe
        weights = self.weights.of(places)
        return fuse(parts, weights, method=recipe.fusion, rrf_k=recipe.rrf_k)

    def _deepened(
        self, scored: StageScores, places: ChunkTable, k: int
    ) -> tuple[NDArray[np.intp], Scores]:
        """Return the best *k* rows, and the joined scores of all.

        Fusion looks at the best of each stage only. Where these are fewer than *k*, what the stages
        found further down follows.
        """
        joined = scored.joined
        rows = self._ordered(scored.factors * joined, places, k, close=self._close)
        if len(rows) == k or len(scored.parts) == 1:
            return rows, joined
        deeper = rest(joined, scored.lifted, self.weights.of(places))
        further = self._ordered(scored.factors * deeper, places, k)
        return places.distinct(np.concatenate([rows, further]))[:k], joined + deeper

    @property
    def _close(self) -> bool:
        """Return whether the joined scores lie close together: cosines, or reciprocal ranks."""
        if len(self.stages) == 1:
            return not self.stages[0].by_words
        return self.recipe.fusion == "rrf"

    def _ordered(
        self, scores: Scores, places: ChunkTable, k: int, *, close: bool = False
    ) -> NDArray[np.intp]:
        """Return the best *k* rows, no two of them on the same lines.

        Where files are judged, scores that lie *close* together are stretched first, so that many
        places of one file do not outweigh a better place of another.
        """
        if close and self.recipe.unit == "file" and self.recipe.rules.mixes_files:
            scores = stretched(scores)
        depth = k
        while True:
            rows = self._deep(scores, places, depth)
            distinct = places.distinct(rows)
            if len(distinct) >= k or len(rows) < depth:
                return distinct[:k]
            depth *= 2

    def _deep(self, scores: Scores, places: ChunkTable, depth: int) -> NDArray[np.intp]:
        if self.recipe.unit == "file":
            return diversified(scores, places, depth, self.recipe.rules)
        return top(scores, depth)


def _hits(rows: NDArray[np.intp], scores: Scores, places: ChunkTable) -> list[Hit]:
    return places.hits(rows.tolist(), _descending(scores[rows]).tolist())


def _lift(before: Scores, after: Scores, row: np.intp) -> float:
    """Return the factor between two scores of *row*; 1 where it has none."""
    return float(after[row] / before[row]) if before[row] else 1.0


def _descending(scores: Scores) -> Scores:
    """Return *scores* as a hit list may show them: what was held back scores less than above.

    Less and not the same, since a tie would leave the order to whoever reads the scores.

    >>> _descending(np.array([3, 5, 3, 1], np.float32)).tolist()
    [3.0, 2.999999761581421, 2.999999523162842, 1.0]
    """
    shown = scores.copy()
    for place in range(1, len(shown)):
        if shown[place] > shown[place - 1]:
            shown[place] = np.nextafter(shown[place - 1], np.float32(-np.inf))
    return shown
