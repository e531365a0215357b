"""The chunks of a corpus, cut once, and indexed once by each stage that scores them."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from time import perf_counter_ns
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karat.corpus import Chunk, Corpus, Document, chunk_corpus, create_chunker
from karat.engines.caches import NO_CACHES, Caches
from karat.engines.chunk_table import ChunkTable, RowNumbers
from karat.engines.fusion import RRF_K, Scores, check_fusion
from karat.engines.ranking import Names, RankingRules, folder_factors, kind_factors
from karat.engines.stages import Stage, SupportsRows
from karat.engines.threshold import check_threshold
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.engines.context import ContextWriter

__all__ = ["ChunkFactors", "ChunkIndex", "IndexRecipe"]


class ChunkFactors(NamedTuple):
    """Factors on the score of each chunk: by its kind, and by its folder if that matters."""

    kind: Scores
    folder: Scores | None

    def of(self, scores: Scores) -> Scores:
        """Return *scores* with both factors."""
        ranked: Scores = self.kind * scores
        return ranked if self.folder is None else ranked * self.folder


class ChunkIndex:
    """The index of one engine, or of several engines with the same chunker.

    Chunks that two snapshots share are indexed once, and scored by the statistics of the snapshot
    that is shown. *fallbacks* counts documents that were cut by a fallback, by reason, since
    the index was empty.
    """

    def __init__(
        self,
        chunker: str = "auto",
        options: Mapping[str, object] | None = None,
        *,
        context: str = "",
        caches: Caches = NO_CACHES,
    ) -> None:
        """Store the chunker, and the model of contexts if any; no engine has joined yet."""
        self.chunker = chunker
        self.options = dict(options or {})
        self.context = context
        self.caches = caches
        self.writer = _writer(context, caches) if context else None
        self.fallbacks: Counter[str] = Counter()
        self._stages: dict[Hashable, Stage] = {}
        # By rules: the factors of all rows, and of the chunks that are shown.
        self._of_rows: dict[RankingRules, Scores] = {}
        self._factors: dict[RankingRules, ChunkFactors] = {}
        self.clear()

    @property
    def identity(self) -> Hashable:
        """Return the identity: indexes of equal identity can be shared."""
        return self.chunker, repr(sorted(self.options.items())), self.context, self.caches.folder

    def join(self, stages: Sequence[Stage], rules: RankingRules) -> tuple[Stage, ...]:
        """Return *stages*, each replaced by one that is here already and scores alike.

        The factors of *rules* are stored from now on; the corpus must be indexed again.
        """
        self._of_rows[rules] = np.empty(0, np.float32)
        self.clear()
        return tuple(self._stages.setdefault(stage.identity, stage) for stage in stages)

    @property
    def chunks(self) -> ChunkTable | None:
        """Return the chunks of the current corpus, None if there is none."""
        return self._chunks

    def __len__(self) -> int:
        """Return the number of rows, those of earlier snapshots included."""
        return len(self._rows)

    def factors(self, rules: RankingRules) -> ChunkFactors:
        """Return the factors of each chunk by *rules*, those of an engine that has joined."""
        return self._factors[rules]

    def index_ns(self, stages: Sequence[Stage]) -> int:
        """Return how long the corpus shown last took to cut, and to index for *stages*."""
        return self._cut_ns + sum(self._stage_ns[stage.identity] for stage in stages)

    def clear(self) -> None:
        """Start again, without a corpus."""
        self.fallbacks.clear()
        self._rows = RowNumbers()
        self.names = Names()
        self._chunks: ChunkTable | None = None
        self._corpus: Corpus | None = None
        self._of_rows = dict.fromkeys(self._of_rows, np.empty(0, np.float32))
        self._cut_ns = 0
        self._stage_ns: dict[Hashable, int] = dict.fromkeys(self._stages, 0)

    def show(self, corpus: Corpus) -> None:
        """Index *corpus*; unchanged documents of the last corpus cost nothing."""
        if corpus is self._corpus:
            return
        try:
            self._show(corpus)
        except BaseException:
            # Some stages may know rows that others lack.
            self.clear()
            raise

    def _show(self, corpus: Corpus) -> None:
        first = not len(self._rows)
        started = perf_counter_ns()
        chunks, rows, new = self._rows.show(corpus, self._cut)
        # Ahead of all searches, or the first one to meet a name would pay for it.
        self.names.grow(new)
        self.names.show(rows)
        for rules, known in self._of_rows.items():
            self._of_rows[rules] = np.concatenate([known, kind_factors(new, rules)])
        self._cut_ns = perf_counter_ns() - started
        for identity, stage in self._stages.items():
            started = perf_counter_ns()
            if first or not isinstance(stage, SupportsRows):
                stage.index(chunks)
            else:
                stage.grow(new)
                stage.show(rows)
            self._stage_ns[identity] = perf_counter_ns() - started
        self._factors = {
            rules: ChunkFactors(factors[rows], folder_factors(corpus, chunks, rules))
            for rules, factors in self._of_rows.items()
        }
        self._chunks, self._corpus = chunks, corpus

    def _cut(self, corpus: Corpus, documents: Sequence[Document]) -> Sequence[Sequence[Chunk]]:
        if not documents:
            return ()
        chunker = create_chunker(self.chunker, **self.options)
        part = Corpus(corpus.name, tuple(documents), corpus.reader)
        with self.caches.chunks() as cache:
            chunked = chunk_corpus(part, chunker, cache=cache)
        self.fallbacks.update(chunked.fallbacks)
        if self.writer is None:
            return chunked.by_document
        return self.writer.write(
            list(zip(part.reader(documents), chunked.by_document, strict=True))
        )


def _writer(context: str, caches: Caches) -> "ContextWriter":
    from karat.engines.context import ContextWriter

    return ContextWriter(context, caches=caches)


@dataclass(frozen=True, slots=True)
class IndexRecipe:
    """How an engine cuts, joins and orders.

    *unit* is what is judged, ``lines`` or ``file``: only for files is a second chunk of one file
    held back. *threshold* drops hits that score below that share of the best one, or with
    *by_score* below the threshold itself. *context* is the chat model that writes a sentence about
    each chunk, with options; empty for none.
    """

    chunker: str = "auto"
    chunker_options: Mapping[str, object] = field(default_factory=dict)
    fusion: str = "min-max"
    rrf_k: float = RRF_K
    unit: str = "lines"
    threshold: float = 0.0
    by_score: bool = False
    rules: RankingRules = field(default_factory=RankingRules)
    context: str = ""

    def __post_init__(self) -> None:
        """Reject values that are out of range."""
        if self.unit not in ("lines", "file"):
            raise InputError(f"unit {self.unit!r} is none of: lines, file")
        check_fusion(self.fusion)
        if not 0 <= self.rrf_k < inf:
            raise InputError(f"rrf_k={self.rrf_k}; expected a number from 0")
        check_threshold(self.threshold)
