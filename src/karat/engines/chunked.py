"""An engine over the chunks of a corpus: stages score, fusion joins them, rules order them."""

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Chunk, Corpus, Document, chunk_corpus, create_chunker
from karat.engines.base import (
    Explained,
    Progress,
    SupportsProgress,
    SupportsSize,
    SupportsWork,
)
from karat.engines.caches import NO_CACHES, Caches
from karat.engines.fusion import RRF_K, Scores, fuse, top
from karat.engines.places import Places
from karat.engines.ranking import RankingRules, diversified, kind_factors, raised
from karat.engines.rows import Rows
from karat.engines.stages import Stage, SupportsRows
from karat.errors import EngineError, InputError
from karat.model import Hit

__all__ = ["ChunkEngine", "Recipe"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an engine cuts, joins and orders.

    *unit* is what is judged, ``lines`` or ``file``: only for files is a second place of one file
    held back. *threshold* drops hits below that share of the best score.
    """

    chunker: str = "auto"
    chunker_options: Mapping[str, object] = field(default_factory=dict)
    fusion: str = "min-max"
    rrf_k: float = RRF_K
    unit: str = "lines"
    threshold: float = 0.0
    rules: RankingRules = field(default_factory=RankingRules)

    def __post_init__(self) -> None:
        """Refuse a unit or a threshold that means nothing."""
        if self.unit not in ("lines", "file"):
            raise InputError(f"unit {self.unit!r} is none of: lines, file")
        if not 0.0 <= self.threshold <= 1.0:
            raise InputError(f"threshold {self.threshold} is not between 0 and 1")


class Shown(NamedTuple):
    """What is searched: the places of the snapshot, and the factor of each."""

    places: Places
    factors: Scores


class ChunkEngine:
    """A search over chunks by one or several stages.

    Places that two snapshots share are indexed once, and searched by the statistics of the
    snapshot that is shown. Searching is safe from several threads; indexing is not.
    """

    thread_safe = True

    def __init__(
        self,
        stages: Sequence[Stage],
        *,
        name: str,
        weights: Sequence[float] | None = None,
        recipe: Recipe | None = None,
        caches: Caches = NO_CACHES,
    ) -> None:
        """Join *stages*, all alike unless *weights* say otherwise."""
        if not stages:
            raise InputError(f"engine {name!r} has no stage; expected one or more")
        self.name = name
        self.stages = tuple(stages)
        self.weights = tuple(weights or [1.0 / len(stages)] * len(stages))
        self.recipe = recipe or Recipe()
        self.caches = caches
        # Documents that were not cut as asked for, by reason, since ``index``.
        self.fallbacks: Counter[str] = Counter()
        self._shown: Shown | None = None
        self._last = threading.local()
        self._forget()

    @property
    def chunks(self) -> int:
        """Return how many chunks are searched."""
        return len(self._shown.places) if self._shown else 0

    def index(self, corpus: Corpus) -> None:
        """Cut *corpus* into chunks and index them for every stage."""
        self._forget()
        self.show(corpus)

    def show(self, corpus: Corpus) -> None:
        """Search *corpus* from now on; places that were shown before are not indexed again."""
        try:
            self._show(corpus)
        except BaseException:
            # Some stages may know rows that others lack.
            self._forget()
            raise

    def work(self) -> Mapping[str, int]:
        """Return the rows indexed since ``index``, and what the stages count."""
        found = {"rows": len(self._rows)}
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

    def search(self, query: str, k: int) -> list[Hit]:
        """Return the best *k* chunks."""
        return [explained.hit for explained in self.explain(query, k)]

    def explain(self, query: str, k: int) -> list[Explained]:
        """Return the best *k* chunks with the score that each stage gave, and what became of it."""
        if self._shown is None:
            raise EngineError(f"{self.name}: search before index; there is no corpus yet")
        places, factors = self._shown
        if k < 1:
            raise InputError(f"k is {k!r}; expected a whole number from 1 up")
        if not query.strip() or not len(places):
            return []
        phases: dict[str, int] = {}
        self._last.phases = phases
        parts = [self._timed(stage, query, phases) for stage in self.stages]
        lifted = [
            raised(part, places, query, self.recipe.rules, unit=self.recipe.unit)
            if stage.by_words
            else part
            for stage, part in zip(self.stages, parts, strict=True)
        ]
        joined = self._joined(lifted)
        scores = factors * joined
        rows = self._ordered(scores, places, k)
        shown = _descending(scores[rows])
        return [
            Explained(
                places.hit(int(row), float(score)),
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
            for row, score in zip(rows, shown, strict=True)
        ]

    def phases_ns(self) -> Mapping[str, int]:
        """Return how long each stage took in this thread's last search."""
        return dict(getattr(self._last, "phases", {}))

    def _forget(self) -> None:
        self._shown = None
        self._rows = Rows()
        self._factors: Scores = np.empty(0, np.float32)
        self.fallbacks.clear()

    def _show(self, corpus: Corpus) -> None:
        first = not len(self._rows)
        places, rows, new = self._rows.show(corpus, self._cut)
        for stage in self.stages:
            if first or not isinstance(stage, SupportsRows):
                stage.index(places)
            else:
                stage.grow(new)
                stage.show(rows)
        self._factors = np.concatenate([self._factors, kind_factors(new, self.recipe.rules)])
        self._shown = Shown(places, self._factors[rows])

    def _cut(self, corpus: Corpus, documents: Sequence[Document]) -> Sequence[Sequence[Chunk]]:
        if not documents:
            return ()
        chunker = create_chunker(self.recipe.chunker, **self.recipe.chunker_options)
        part = Corpus(corpus.name, tuple(documents), corpus.reader)
        with self.caches.chunks() as cache:
            chunked = chunk_corpus(part, chunker, cache=cache)
        self.fallbacks.update(chunked.fallbacks)
        return chunked.by_document

    def _timed(self, stage: Stage, query: str, phases: dict[str, int]) -> Scores:
        start = time.perf_counter_ns()
        scores = stage.scores(query)
        phases[stage.name] = time.perf_counter_ns() - start
        return scores

    def _joined(self, parts: Sequence[Scores]) -> Scores:
        if len(parts) == 1:
            return parts[0]
        recipe = self.recipe
        return fuse(parts, self.weights, method=recipe.fusion, rrf_k=recipe.rrf_k)

    def _ordered(self, scores: Scores, places: Places, k: int) -> NDArray[np.intp]:
        if self.recipe.threshold and len(scores):
            scores = np.where(scores >= self.recipe.threshold * scores.max(), scores, 0)
        if self.recipe.unit == "file":
            return diversified(scores, places, k, self.recipe.rules)
        return top(scores, k)


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
