"""An engine over chunks: stages score them, fusion combines the scores, rules rank them."""

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
from karat.engines.base import Engine, ExplainedHit, Progress, SearchStep
from karat.engines.caches import NO_CACHES, Caches
from karat.engines.chunk_index import ChunkFactors, ChunkIndex, IndexRecipe
from karat.engines.chunk_table import ChunkTable
from karat.engines.engine_group import NOT_KEPT, Current
from karat.engines.fusion import RRF, Scores, Weights, fuse, rest, stretch, top
from karat.engines.ranking import boost_names, diversify
from karat.engines.registry import count_above
from karat.engines.stages import Stage
from karat.errors import EngineError, InputError
from karat.model import Hit
from karat.model.timings import spent, total


class StageScores(NamedTuple):
    """The scores of every chunk: by each stage, after boosts for names in the query, and fused."""

    parts: Sequence[Scores]
    lifted: Sequence[Scores]
    joined: Scores
    factors: ChunkFactors


class RankedRows(NamedTuple):
    """The rows and their hits, best first, with the scores that they come from."""

    scored: StageScores
    joined: Scores
    rows: NDArray[np.intp]
    hits: Sequence[Hit]


class ChunkEngine(Engine):
    """A search over chunks by one or several stages.

    Searching is safe from several threads; indexing is not. In an engine group, *current* caches
    what other engines computed for the query.
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
        self._is_closed = False
        self._index = ChunkIndex(
            self.recipe.chunker,
            self.recipe.chunker_options,
            context=self.recipe.context,
            caches=caches,
        )
        self.stages = self._index.join(stages, self.recipe.rules, files=self._ranks_files)

    @property
    def _ranks_files(self) -> bool:
        return self.recipe.unit == "file"

    @property
    def held(self) -> ChunkIndex:
        """Return the index that is searched."""
        return self._index

    @property
    def caches(self) -> Caches:
        """Return the caches of chunks and vectors."""
        return self._index.caches

    @property
    def fallbacks(self) -> Counter[str]:
        """Return how many documents were cut by a fallback, by reason, since ``index``."""
        return self._index.fallbacks

    @property
    def chunks(self) -> int:
        """Return how many chunks are searched."""
        chunks = self._index.chunks
        return len(chunks) if chunks else 0

    @property
    def index_ns(self) -> int:
        """Return how long the last corpus took: to cut it, and to index it for these stages."""
        return self._index.index_ns(self.stages)

    def share(self, index: ChunkIndex, current: Current) -> None:
        """Search the shared *index* of the same chunker; cache query values in *current*."""
        self._index, self.current = index, current
        self.stages = index.join(self.stages, self.recipe.rules, files=self._ranks_files)

    def index(self, corpus: Corpus) -> None:
        """Cut *corpus* into chunks and index them for every stage."""
        self._index.clear()
        self.show(corpus)

    def show(self, corpus: Corpus) -> None:
        """Search *corpus* from now on; chunks that were shown before are not indexed again."""
        self._index.show(corpus)
        self._is_closed = False

    def work(self) -> Mapping[str, float]:
        """Return the rows indexed since ``index``, and the counts of contexts and stages."""
        writer = self._index.writer
        counts: dict[str, float] = {"rows": len(self._index)}
        counts |= {} if writer is None else writer.work()
        for stage in self.stages:
            counts.update(self._index.work(stage))
        return counts

    def index_bytes(self) -> int:
        """Return the bytes of the postings and vectors since ``index``; texts are not counted."""
        return sum(stage.index_bytes() for stage in self.stages)

    def watch(self, progress: Progress | None) -> None:
        """Let the stages that embed, and the writer of contexts, report their progress."""
        if self._index.writer is not None:
            self._index.writer.progress = progress
        for stage in self.stages:
            stage.watch(progress)

    def expect(self, queries: Sequence[str]) -> None:
        """Prefetch the embeddings of all *queries* in one call."""
        for stage in self.stages:
            stage.expect(queries)

    def metadata(self) -> Mapping[str, object]:
        """Return the tokens and the cost of this thread's last search, if a stage reports them."""
        spending = total(spent(stage.metadata()) for stage in self.stages)
        known = {"tokens": spending.tokens, "cost": spending.cost}
        return {name: value for name, value in known.items() if value is not None}

    def close(self) -> None:
        """Close the connections of remote models; a search then needs another ``index``."""
        self._is_closed = True
        for stage in self.stages:
            stage.close()

    def search(self, query: str, k: int) -> list[Hit]:
        """Return the best *k* chunks."""
        chunks = self._searched(query, k)
        return [] if chunks is None else list(self._ranked(query, k, chunks).hits)

    def explain(self, query: str, k: int) -> list[ExplainedHit]:
        """Return the best *k* chunks with the score of each stage and the ranking factors."""
        chunks = self._searched(query, k)
        if chunks is None:
            return []
        (parts, lifted, _, factors), joined, rows, hits = self._ranked(query, k, chunks)
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
                    "kind": float(factors.kind[row]),
                    **({} if factors.folder is None else {"folder": float(factors.folder[row])}),
                },
            )
            for row, hit in zip(rows, hits, strict=True)
        ]

    def steps(self, query: str, k: int) -> list[SearchStep]:
        """Return the best *k* chunks of each stage alone, of all together, and above the threshold.

        A stage alone is ordered by the same rules, but for folders, as ``bm25`` and ``dense`` are.
        """
        chunks = self._searched(query, k)
        if chunks is None:
            return [SearchStep("stage", ())]
        scored = self._scored(query, chunks, {})
        steps = []
        for stage, part in zip(self.stages, scored.lifted, strict=True):
            scores = scored.factors.kind * part
            rows = self._ordered(scores, chunks, k, close=not stage.by_words)
            steps.append(SearchStep("stage", _hits(rows, scores, chunks)))
        if len(steps) > 1:
            rows, joined = self._deepened(scored, chunks, k)
            steps.append(SearchStep("fusion", _hits(rows, scored.factors.of(joined), chunks)))
        if self.recipe.threshold:
            steps.append(SearchStep("threshold", self.search(query, k)))
        return steps

    def phases_ns(self) -> Mapping[str, int]:
        """Return how long each stage took in this thread's last search."""
        return dict(getattr(self._last, "phases", {}))

    def _searched(self, query: str, k: int) -> ChunkTable | None:
        """Return the chunks to search; None for an empty query or corpus."""
        chunks = self._index.chunks
        if chunks is None or self._is_closed:
            raise EngineError(f"{self.name}: search was called before index")
        if k < 1:
            raise InputError(f"k is {k!r}; expected a whole number from 1 up")
        return chunks if query.strip() and len(chunks) else None

    def _scored(self, query: str, chunks: ChunkTable, phases: dict[str, int]) -> StageScores:
        parts = [self._timed(stage, query, phases) for stage in self.stages]
        lifted = [
            self._raised(stage, part, query) if stage.by_words else part
            for stage, part in zip(self.stages, parts, strict=True)
        ]
        factors = self._index.factors(self.recipe.rules)
        return StageScores(parts, lifted, self._joined(lifted, chunks), factors)

    def _ranked(self, query: str, k: int, chunks: ChunkTable) -> RankedRows:
        def rank() -> RankedRows:
            phases: dict[str, int] = {}
            self._last.phases = phases
            scored = self._scored(query, chunks, phases)
            rows, joined = self._deepened(scored, chunks, k)
            hits = _hits(rows, scored.factors.of(joined), chunks)
            scores = [hit.score for hit in hits]
            count = count_above(scores, self.recipe.threshold, by_score=self.recipe.by_score)
            return RankedRows(scored, joined, rows[:count], hits[:count])

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
        make = partial(boost_names, part, self._index.names, query, rules, unit=unit)
        return self.current.once(query, key, make)

    def _joined(self, parts: Sequence[Scores], chunks: ChunkTable) -> Scores:
        if len(parts) == 1:
            return parts[0]
        recipe = self.recipe
        weights = self.weights.of(chunks)
        return fuse(parts, weights, method=recipe.fusion, rrf_k=recipe.rrf_k)

    def _deepened(
        self, scored: StageScores, chunks: ChunkTable, k: int
    ) -> tuple[NDArray[np.intp], Scores]:
        """Return the best *k* rows, and the joined scores of all.

        Fusion looks at the best of each stage only. Where these are fewer than *k*, what the stages
        found further down follows.
        """
        joined = scored.joined
        rows = self._ordered(scored.factors.of(joined), chunks, k, close=self._close)
        if len(rows) == k or len(scored.parts) == 1:
            return rows, joined
        deeper = rest(joined, scored.lifted, self.weights.of(chunks))
        further = self._ordered(scored.factors.of(deeper), chunks, k)
        return chunks.distinct(np.concatenate([rows, further]))[:k], joined + deeper

    @property
    def _close(self) -> bool:
        """Return whether the fused scores are close together: cosines, or reciprocal ranks."""
        if len(self.stages) == 1:
            return not self.stages[0].by_words
        return self.recipe.fusion == RRF

    def _ordered(
        self, scores: Scores, chunks: ChunkTable, k: int, *, close: bool = False
    ) -> NDArray[np.intp]:
        """Return the best *k* rows, no two of them on the same lines.

        Where files are judged, scores that lie *close* together are stretched first, so that many
        chunks of one file do not outweigh a better chunk of another.
        """
        if close and self.recipe.unit == "file" and self.recipe.rules.mixes_files:
            scores = stretch(scores)
        depth = k
        while True:
            rows = self._deep(scores, chunks, depth)
            distinct = chunks.distinct(rows)
            if len(distinct) >= k or len(rows) < depth:
                return distinct[:k]
            depth *= 2

    def _deep(self, scores: Scores, chunks: ChunkTable, depth: int) -> NDArray[np.intp]:
        if self.recipe.unit == "file":
            return diversify(scores, chunks, depth, self.recipe.rules)
        return top(scores, depth)


def _hits(rows: NDArray[np.intp], scores: Scores, chunks: ChunkTable) -> list[Hit]:
    return chunks.hits(rows.tolist(), _descending(scores[rows]).tolist())


def _lift(before: Scores, after: Scores, row: np.intp) -> float:
    """Return the factor between two scores of *row*; 1 where it has none."""
    return float(after[row] / before[row]) if before[row] else 1.0


def _descending(scores: Scores) -> Scores:
    """Return *scores* made descending: a hit that was moved down scores less than the one above.

    Strictly lower: with a tie, the order would depend on how scores are read.

    >>> _descending(np.array([3, 5, 3, 1], np.float32)).tolist()
    [3.0, 2.999999761581421, 2.999999523162842, 1.0]
    """
    lowered = scores.copy()
    for rank in range(1, len(lowered)):
        if lowered[rank] > lowered[rank - 1]:
            lowered[rank] = np.nextafter(lowered[rank - 1], np.float32(-np.inf))
    return lowered
