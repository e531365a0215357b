"""The index of a corpus: its chunks are cut once, and indexed or embedded once by each stage.

The embed stage of a run puts vectors into the cache before any search: several machines divide the
texts among them, so that each text is embedded by one of them.
"""

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from math import inf
from time import perf_counter_ns
from typing import NamedTuple

import numpy as np

from karat.corpus import Chunk, Corpus, Document, create_chunker, iter_chunks
from karat.corpus.chunkers.base import TIMED_OUT
from karat.engines.base import EmbedPart
from karat.engines.caches import NO_CACHES, Caches, IndexFiles, index_files
from karat.engines.chunk_table import ChunkLocation, ChunkTable, Grower, RowNumbers, SnapshotRows
from karat.engines.columns import Columns, prefixed, without_prefix
from karat.engines.context import create_context
from karat.engines.embedding.texts import CachedEmbedder, EmbeddingCache, vector_key
from karat.engines.fusion import DEFAULT_FUSION, RRF_K, Scores, check_fusion
from karat.engines.ranking import Names, RankingRules, folder_factors, kind_factors
from karat.engines.registry import check_threshold
from karat.engines.stages import DenseStage, RowStage, Stage, texts_of
from karat.errors import InputError

# Texts that are looked up, embedded and stored together.
TEXTS_AT_ONCE = 2_048


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
        self.writer = create_context(context, caches=caches) if context else None
        self.fallbacks: Counter[str] = Counter()
        self._stages: dict[Hashable, Stage] = {}
        # By rules: the factors of all rows, and of the chunks that are shown.
        self._row_factors: dict[RankingRules, Scores] = {}
        self._factors: dict[RankingRules, ChunkFactors] = {}
        self._names_files = False
        self.clear()

    @property
    def identity(self) -> Hashable:
        """Return the identity: indexes of equal identity can be shared."""
        return self.chunker, repr(sorted(self.options.items())), self.context, self.caches.folder

    def join(
        self, stages: Sequence[Stage], rules: RankingRules, *, files: bool = True
    ) -> tuple[Stage, ...]:
        """Return *stages*, each replaced by an equal one that has joined before.

        The factors of *rules* are stored from now on, and with *files* the names of files; the
        corpus must be indexed again.
        """
        self._names_files |= files
        self._row_factors[rules] = np.empty(0, np.float32)
        self.clear()
        return tuple(self._stages.setdefault(stage.identity, stage) for stage in stages)

    @property
    def stages(self) -> Sequence[Stage]:
        """Return the stages of all engines that have joined."""
        return list(self._stages.values())

    @property
    def chunks(self) -> ChunkTable | None:
        """Return the chunks of the current corpus, None if there is none."""
        return self._chunks

    def __len__(self) -> int:
        """Return the number of rows since ``clear``, those of earlier snapshots included."""
        return self._released_rows + len(self._row_numbers)

    def work(self, stage: Stage) -> Mapping[str, float]:
        """Return what *stage* has done since ``clear``."""
        done = Counter(self._released_work.get(stage.identity, {}))
        done.update(stage.work())
        return done

    def factors(self, rules: RankingRules) -> ChunkFactors:
        """Return the factors of each chunk by *rules*, those of an engine that has joined."""
        return self._factors[rules]

    def index_ns(self, stages: Sequence[Stage]) -> int:
        """Return how long the corpus shown last took to cut, and to index for *stages*."""
        return self._cut_ns + sum(self._stage_ns[stage.identity] for stage in stages)

    def clear(self) -> None:
        """Remove the corpus and all rows."""
        self.fallbacks.clear()
        self._released_rows = 0
        self._released_work: dict[Hashable, Mapping[str, float]] = {}
        self._drop()

    def release(self) -> None:
        """Drop all rows, but not the counts of what has been done."""
        self._released_work = {key: self.work(stage) for key, stage in self._stages.items()}
        self._released_rows = len(self)
        for stage in self._stages.values():
            stage.clear()
        self._drop()

    def _drop(self) -> None:
        self._drop_rows()
        self._chunks: ChunkTable | None = None
        self._corpus: Corpus | None = None
        self._cut_ns = 0
        self._stage_ns: dict[Hashable, int] = dict.fromkeys(self._stages, 0)

    def _drop_rows(self) -> None:
        self._row_numbers = RowNumbers()
        self.names = Names(files=self._names_files)
        self._row_factors = dict.fromkeys(self._row_factors, np.empty(0, np.float32))

    def show(self, corpus: Corpus) -> None:
        """Index *corpus*; unchanged documents of the last corpus cost nothing."""
        if corpus is self._corpus:
            return
        try:
            self._show(corpus)
        except BaseException:
            # Some stages may have rows that others lack.
            self.clear()
            raise

    def _show(self, corpus: Corpus) -> None:
        growing = {
            identity: stage
            for identity, stage in self._stages.items()
            if isinstance(stage, RowStage)
        }
        files = None
        if not len(self._row_numbers):
            for stage in self._stages.values():
                stage.clear()
            if self.writer is None:
                files = index_files(corpus, self.chunker, self.options, self.caches)
        self._stage_ns = dict.fromkeys(self._stages, 0)
        started = perf_counter_ns()
        if files is None:
            chunks, rows = self._grown(corpus, growing)
        else:
            chunks, rows = self._shared(corpus, growing, files)
        self.names.show(rows)
        self._cut_ns = perf_counter_ns() - started - sum(self._stage_ns.values())
        for identity, stage in self._stages.items():
            with self._timed(identity):
                stage.move(rows, partial(self._locations, corpus))
        self._factors = {
            rules: ChunkFactors(known[rows], folder_factors(corpus, chunks, rules))
            for rules, known in self._row_factors.items()
        }
        self._chunks, self._corpus = chunks, corpus

    def _grown(self, corpus: Corpus, growing: Mapping[Hashable, RowStage]) -> SnapshotRows:
        """Cut what is new in *corpus*, and add it to all stages of *growing*."""
        factors = {rules: [known] for rules, known in self._row_factors.items()}

        def grow(new: Sequence[ChunkLocation]) -> None:
            # Before any search, so that the first search with a name is not slower.
            self.names.grow(new)
            for rules, parts in factors.items():
                parts.append(kind_factors(new, rules))
            for identity, stage in growing.items():
                with self._timed(identity):
                    stage.grow(new)

        snapshot = self._row_numbers.show(corpus, self._cut, grow)
        self._row_factors = {rules: np.concatenate(parts) for rules, parts in factors.items()}
        return snapshot

    def _shared(
        self, corpus: Corpus, growing: Mapping[Hashable, RowStage], files: IndexFiles
    ) -> SnapshotRows:
        """Map the first snapshot from *files*; the first process to get there writes them."""
        stored = {key: one for key, one in growing.items() if one.file_key}
        name = self._columns_name
        columns, missing = files.read(name), self._not_loaded(stored, files)
        turn: AbstractContextManager[None] = nullcontext()
        if columns is None or missing:
            turn = self.caches.alone(f"{files.key} {name} {[s.file_key for s in stored.values()]}")
        with turn:
            if columns is None or missing:
                # Another process may have written them meanwhile.
                columns, missing = files.read(name), self._not_loaded(missing, files)
            others = {k: one for k, one in growing.items() if k in missing or k not in stored}
            if columns is None or others:
                before = self.fallbacks.copy()
                snapshot = self._grown(corpus, others)
                cut = self.fallbacks - before
                if TIMED_OUT in cut:
                    # Another process may have the time to parse the document, and other chunks.
                    self.fallbacks = before
                    return self._grown_anew(corpus, growing)
                for identity, stage in missing.items():
                    with self._timed(identity):
                        stage.save_files(files)
                columns = files.share(name, partial(self._columns, cut))
                if columns is None:
                    return snapshot
            else:
                self.fallbacks.update(json.loads(columns["fallbacks"].tobytes()))
        self._row_numbers = RowNumbers.of(without_prefix(columns, "rows"), corpus.documents)
        self.names = Names(files=self._names_files, columns=without_prefix(columns, "names"))
        self._row_factors = {
            rules: columns[f"factors.{number}"]  # type: ignore[misc]
            for number, rules in enumerate(self._sorted_rules)
        }
        return self._row_numbers.current

    def _grown_anew(self, corpus: Corpus, growing: Mapping[Hashable, RowStage]) -> SnapshotRows:
        for stage in growing.values():
            stage.clear()
        self._drop_rows()
        return self._grown(corpus, growing)

    def _not_loaded(
        self, stages: Mapping[Hashable, RowStage], files: IndexFiles
    ) -> Mapping[Hashable, RowStage]:
        """Map those of *stages* that a process has written, and return the others."""
        missing = {}
        for identity, stage in stages.items():
            with self._timed(identity):
                if not stage.load_files(files):
                    missing[identity] = stage
        return missing

    @property
    def _sorted_rules(self) -> Sequence[RankingRules]:
        return sorted(self._row_factors, key=repr)

    @property
    def _columns_name(self) -> str:
        return f"chunks {self._sorted_rules} names_files={self._names_files}"

    def _columns(self, fallbacks: Mapping[str, int]) -> Columns:
        """Return all of a first snapshot that its stages do not hold, with its *fallbacks*."""
        factors = [self._row_factors[rules] for rules in self._sorted_rules]
        return {
            **prefixed("rows", self._row_numbers.columns()),
            **prefixed("names", self.names.columns()),
            **{f"factors.{number}": column for number, column in enumerate(factors)},
            "fallbacks": np.frombuffer(json.dumps(fallbacks).encode(), np.uint8),
        }

    @contextmanager
    def _timed(self, identity: Hashable) -> Iterator[None]:
        started = perf_counter_ns()
        yield
        self._stage_ns[identity] += perf_counter_ns() - started

    def _cut(self, corpus: Corpus, documents: Sequence[Document]) -> Iterator[Sequence[Chunk]]:
        if not documents:
            return
        chunker = create_chunker(self.chunker, **self.options)
        with self.caches.chunks() as cache:
            cuts = iter_chunks(corpus, chunker, cache=cache, documents=documents)
            if self.writer is None:
                for cut in cuts:
                    if cut.fallback:
                        self.fallbacks[cut.fallback] += 1
                    yield cut.chunks
                return
            whole = list(cuts)
        self.fallbacks.update(cut.fallback for cut in whole if cut.fallback)
        texts = zip(corpus.reader(documents), (cut.chunks for cut in whole), strict=True)
        yield from self.writer.write(list(texts))

    def pass_new(self, corpus: Corpus, rows: RowNumbers, take: Grower) -> None:
        """Pass the chunks of *corpus* that *rows* lacks to *take*, without indexing them."""
        fallbacks = self.fallbacks.copy()
        rows.show(corpus, self._cut, take)
        self.fallbacks = fallbacks

    def _locations(self, corpus: Corpus) -> list[ChunkLocation]:
        """Return all chunks with their texts, for a stage that cannot move between snapshots."""
        fallbacks = self.fallbacks.copy()
        cuts = zip(corpus, self._cut(corpus, corpus.documents), strict=True)
        locations = [
            ChunkLocation(document.path, chunk, document.traits)
            for document, chunks in cuts
            for chunk in chunks
        ]
        self.fallbacks = fallbacks
        return locations


@dataclass(frozen=True, slots=True)
class IndexRecipe:
    """How an engine chunks, fuses and ranks.

    *unit* is what is judged, ``lines`` or ``file``: only for files is a second chunk of one file
    held back. *threshold* drops hits that score below that share of the best one, or with
    *by_score* below the threshold itself. *context* is the chat model that writes a sentence about
    each chunk, with options; empty for none.
    """

    chunker: str = "auto"
    chunker_options: Mapping[str, object] = field(default_factory=dict)
    fusion: str = DEFAULT_FUSION
    rrf_k: float = RRF_K
    unit: str = "lines"
    threshold: float = 0.0
    by_score: bool = False
    rules: RankingRules = field(default_factory=RankingRules)
    context: str = ""

    def __post_init__(self) -> None:
        """Reject values that are out of range."""
        if self.unit not in ("lines", "file"):
            raise InputError(f"unit {self.unit!r} is not valid; expected lines or file")
        check_fusion(self.fusion)
        if not 0 <= self.rrf_k < inf:
            raise InputError(f"rrf_k={self.rrf_k}; expected a number from 0")
        check_threshold(self.threshold)


class _PartEmbedder:
    """Embeds the texts of *stage* that belong to *part*, each once."""

    def __init__(self, stage: DenseStage, cache: EmbeddingCache, part: EmbedPart) -> None:
        self._windows = stage.windows
        self._digest = stage.embedder.digest
        self._cache = cache
        self._cached = CachedEmbedder(stage.embedder, cache)
        self._part = part
        self._seen: set[bytes] = set()
        self._waiting: dict[bytes, str] = {}

    @property
    def embedded(self) -> int:
        """Return how many texts were embedded; the others were in the cache."""
        return len(self._seen) - len(self._waiting) - self._cached.reused

    def add(self, chunks: Sequence[ChunkLocation]) -> None:
        """Embed the texts of *chunks*, as soon as there are enough of them."""
        for location in chunks:
            for text in texts_of(location, self._windows):
                key = vector_key(text, digest=self._digest, kind="document")
                if self._part.has(key) and key not in self._seen:
                    self._seen.add(key)
                    self._waiting[key] = text
        if len(self._waiting) >= TEXTS_AT_ONCE:
            self.embed()

    def embed(self) -> None:
        """Embed all texts that wait, and let other machines find them."""
        if self._waiting:
            self._cached.embed(list(self._waiting.values()), "document")
            self._cache.publish(list(self._waiting))
            self._waiting.clear()


def embed_ahead(
    indexes: Iterable[ChunkIndex], corpora: Iterable[Corpus], part: EmbedPart
) -> dict[Hashable, int]:
    """Embed the texts of *corpora* that belong to *part*, as the stages of *indexes* would.

    Nothing is indexed, and nothing is embedded by a remote model, for a store, or without a cache.
    The result is the number of texts that each stage has embedded, by its identity.
    """
    with ExitStack() as opened:
        by_identity: dict[Hashable, _PartEmbedder] = {}
        cuts: list[tuple[ChunkIndex, RowNumbers, Grower]] = []
        for index in indexes:
            embedders = {
                stage.identity: _PartEmbedder(stage, cache, part)
                for stage in index.stages
                if isinstance(stage, DenseStage)
                and stage.store is None
                and not stage.embedder.is_remote
                and (cache := opened.enter_context(stage.caches.vectors())) is not None
            }
            if embedders:
                by_identity |= embedders
                cuts.append((index, RowNumbers(), partial(_add, tuple(embedders.values()))))
        for corpus in corpora:
            for index, rows, take in cuts:
                index.pass_new(corpus, rows, take)
        for embedder in by_identity.values():
            embedder.embed()
        return {identity: embedder.embedded for identity, embedder in by_identity.items()}


def _add(embedders: Iterable[_PartEmbedder], chunks: Sequence[ChunkLocation]) -> None:
    for embedder in embedders:
        embedder.add(chunks)
