"""Stages: components of an engine that score every chunk; the engine fuses them."""

import threading
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from hashlib import sha256
from math import ceil
from typing import NamedTuple

import numpy as np

from karat.engines.base import Progress
from karat.engines.caches import NO_CACHES, Caches, IndexFiles
from karat.engines.chunk_table import ChunkLocation, Numbers, spans
from karat.engines.embedding import Embedder
from karat.engines.embedding.texts import CachedEmbedder
from karat.engines.engine_group import NOT_KEPT, Current
from karat.engines.fusion import Scores
from karat.engines.lexical.index import BM25, LexicalIndex, mapped_index, shared_index
from karat.engines.nearest import APPROXIMATE_ABOVE, Vectors
from karat.engines.stored_vectors import StoredVectorTable, StoreSpec
from karat.engines.vector_rows import FileVectors, VectorRows, VectorTable, check_vectors
from karat.errors import InputError
from karat.model.timings import spent

# Well below the 256 tokens at which the packaged encoders stop; 800 was a little worse on prose.
CHARACTERS = 500
# Which chunks are embedded in parts. Prose gains most; code costs twice the time for less.
WINDOWED = ("none", "prose", "all")


def check_windows(windows: str) -> str:
    """Return *windows* if it is one of :data:`WINDOWED`."""
    if windows not in WINDOWED:
        raise InputError(
            f"windows {windows!r} is not valid; expected one of: {', '.join(WINDOWED)}"
        )
    return windows


def texts_of(location: ChunkLocation, windows: str) -> list[str]:
    """Return the texts to embed for *location*, each below the header and the context."""
    if windows == "none" or (windows == "prose" and location.chunk.kind != "prose"):
        return [location.text]
    return [f"{location.preamble}\n{part}" for part in parts(location.chunk.text)]


def parts(text: str, size: int = CHARACTERS) -> list[str]:
    r"""Return *text* in as few parts of whole lines as hold about *size* characters, all alike.

    >>> parts("one\ntwo\nthree\nfour\n", 10)
    ['one\ntwo\n', 'three\nfour\n']
    >>> parts("short", 10)
    ['short']
    """
    aim = len(text) / max(1, ceil(len(text) / size))
    parts_so_far = [""]
    length = 0
    for line in text.splitlines(keepends=True):
        # A line goes where its middle falls.
        if parts_so_far[-1] and length + len(line) / 2 > aim * len(parts_so_far):
            parts_so_far.append("")
        parts_so_far[-1] += line
        length += len(line)
    return parts_so_far


# Maximum weight of a header; words are counted in 16 bits.
MOST_HEADER = 1000
# Bytes of a hash; a collision is practically impossible.
KEY_BYTES = 16


class Stage(ABC):
    """Scores every chunk for a query; 0 means not found, and higher is better.

    *by_words* says whether the scores come from words, of which names in code are made. A stage
    that moves between snapshots is a :class:`RowStage`; any other indexes each snapshot anew. All
    that is not abstract has a default, which does or reports nothing.
    """

    name: str
    by_words: bool
    # All that the files of an index depend on, beside the chunks; empty where rows have no files.
    file_key: str = ""
    # Values of the current query that other engines computed; a group replaces it. A stage that
    # prefetches for itself alone needs one of its own.
    current: Current = NOT_KEPT

    @property
    @abstractmethod
    def identity(self) -> Hashable:
        """Return all that the scores depend on; stages of equal identity can be shared."""

    @abstractmethod
    def index(self, chunks: Sequence[ChunkLocation]) -> None:
        """Prepare to score *chunks*, in place of what was indexed before."""

    @abstractmethod
    def scores(self, query: str) -> Scores:
        """Return one score per chunk."""

    def move(
        self,
        rows: Numbers,  # noqa: ARG002 - for a stage with rows
        chunks: Callable[[], Sequence[ChunkLocation]],
    ) -> None:
        """Score another snapshot: these *rows*, which are *chunks*; their texts are then read."""
        self.index(chunks())

    def clear(self) -> None:
        """Start again with no rows."""
        return

    def expect(self, queries: Sequence[str]) -> None:  # noqa: ARG002 - for a subclass
        """Prefetch work for *queries*; see :meth:`Engine.expect`."""
        return

    def watch(self, progress: Progress | None) -> None:  # noqa: ARG002 - for a subclass
        """Call *progress* while indexing; None ends that."""
        return

    def work(self) -> Mapping[str, float]:
        """Return counts of the work since ``index``."""
        return {}

    def index_bytes(self) -> int:
        """Return the bytes that the index takes, in memory or on disk."""
        return 0

    def metadata(self) -> Mapping[str, object]:
        """Return the tokens and the cost of this thread's last ``scores``, if there were any."""
        return {}

    def close(self) -> None:
        """Release connections; calling it twice is allowed."""
        return


class RowStage(Stage):
    """A stage that moves between snapshots; the chunks that it indexed first are rows 0, 1, ...

    After ``show`` the scores are bit for bit those of a stage that indexed just those chunks.
    """

    def index(self, chunks: Sequence[ChunkLocation]) -> None:
        """Score *chunks*, in place of all rows."""
        self.clear()
        self.grow(chunks)
        self.show(np.arange(len(chunks)))

    @abstractmethod
    def clear(self) -> None:
        """Start again with no rows."""

    @abstractmethod
    def grow(self, chunks: Sequence[ChunkLocation]) -> None:
        """Append *chunks* as further rows; none is ever removed.

        It is called several times ahead of a ``show``, and should not hold the texts.
        """

    @abstractmethod
    def show(self, rows: Numbers) -> None:
        """Score *rows*, in this order, from now on."""

    def move(
        self,
        rows: Numbers,
        chunks: Callable[[], Sequence[ChunkLocation]],  # noqa: ARG002 - rows are enough
    ) -> None:
        """Score *rows* from now on; no text is read."""
        self.show(rows)

    def load_files(self, files: IndexFiles) -> bool:  # noqa: ARG002 - for a subclass
        """Use the files of another process instead of ``grow``; False if there are none."""
        return False

    def save_files(self, files: IndexFiles) -> None:  # noqa: ARG002 - for a subclass
        """Write the rows that have grown, and use the files from now on; ahead of ``show``."""
        return


def weighted_fields(location: ChunkLocation, header: int) -> list[tuple[str, int]]:
    """Return the texts whose words are counted, and how often each counts."""
    context = location.chunk.context
    return [
        (location.header, header),
        *([(context, 1)] if context else []),
        (location.chunk.text, 1),
    ]


class LexicalStage(RowStage):
    """BM25 over the text of each chunk, its header counting *header* times."""

    name = "bm25"
    by_words = True

    def __init__(self, *, k1: float = 1.2, b: float = 0.75, header: int = 2) -> None:
        """Store the parameters; nothing is indexed yet."""
        if not 0 <= header <= MOST_HEADER:
            raise InputError(f"header={header}; expected a whole number from 0 to {MOST_HEADER}")
        self.bm25 = BM25(k1, b)
        self.header = header
        # The parameters are stored with the weights.
        self.file_key = f"{self.name} header={header}"
        self._index = LexicalIndex(bm25=self.bm25)
        self._view = self._index.view()
        self._shown_rows: Numbers | None = None
        self._is_new = True

    @property
    def identity(self) -> Hashable:
        """Return the parameters."""
        return type(self), self.bm25, self.header

    def clear(self) -> None:
        """Start again with no rows."""
        self._index = LexicalIndex(bm25=self.bm25)
        self._is_new = True

    def grow(self, chunks: Sequence[ChunkLocation]) -> None:
        """Count the words of further chunks."""
        self._index.add(weighted_fields(location, self.header) for location in chunks)

    def load_files(self, files: IndexFiles) -> bool:
        """Map the index that another process has written; False if there is none."""
        index = mapped_index(files, self.file_key, rules=self._index.rules, bm25=self.bm25)
        if index is None:
            return False
        self._index = index
        return True

    def save_files(self, files: IndexFiles) -> None:
        """Write the index of all rows, and map it."""
        self._index = shared_index(files, self.file_key, self._index)

    def show(self, rows: Numbers) -> None:
        """Score *rows* by the statistics of just those."""
        if self._is_new:
            # The first snapshot has all rows, in order.
            self._view, self._shown_rows, self._is_new = self._index.view(), None, False
            return
        live = np.zeros(len(self._index), np.bool_)
        live[rows] = True
        self._view = self._index.view(live)
        self._shown_rows = rows

    def index_bytes(self) -> int:
        """Return the bytes of the postings."""
        return self._index.nbytes

    def scores(self, query: str) -> Scores:
        """Return the BM25 score of every chunk."""
        scores = self._index.scores(query, live=self._view)
        return scores if self._shown_rows is None else scores[self._shown_rows]


class QueryVector(NamedTuple):
    """The embedding of a query, and the tokens and the cost that a remote embedder reports."""

    vector: Vectors
    metadata: Mapping[str, object]


class DenseStage(RowStage):
    """Cosine between the embedding of the query and that of each chunk with its header.

    *windows* says which chunks are embedded in parts; the score of the chunk is that of its nearest
    part. Each distinct text is embedded once, and not at all where *caches* hold its vector. The
    embedding of a query never comes from a cache, so that its latency is real, unless it was
    prefetched. With a *store*, vectors are stored and searched there instead of in this process.
    """

    name = "dense"
    by_words = False

    def __init__(
        self,
        embedder: Embedder,
        *,
        windows: str = "none",
        vectors: str = "float32",
        caches: Caches = NO_CACHES,
        approximate_above: int = APPROXIMATE_ABOVE,
        store: StoreSpec | None = None,
    ) -> None:
        """Store the *embedder*; nothing is embedded yet, and no *store* of vectors is opened."""
        self.vectors = check_vectors(vectors)
        self.embedder = embedder
        self.store = store
        self.windows = check_windows(windows)
        self.caches = caches
        self.current = Current(keeps=False)
        self._last = threading.local()
        self._above = approximate_above
        self._progress: Progress | None = None
        self._made: VectorRows | None = None
        self.clear()

    def clear(self) -> None:
        """Start again with no rows."""
        if self._made is not None:
            self._made.close()
        self._made = None
        self._vectors = 0
        # Texts to embed when rows are shown, all in one call.
        self._waiting: list[str] = []
        # By chunk and header: the number of the first of its vectors, and how many it has.
        self._known: dict[bytes, tuple[int, int]] = {}
        self._first, self._count = array("q"), array("i")
        self._shown: Numbers = np.empty(0, np.intp)
        self._firsts: Numbers = self._shown
        self._live = np.empty(0, np.bool_)
        self._embedded = self._reused = 0
        self._spent: dict[str, float] = {}

    @property
    def identity(self) -> Hashable:
        """Return the model, and which parts of a chunk it embeds."""
        settings = self.windows, self.vectors, self._above, self.store
        return type(self), self.embedder.digest, *settings

    @property
    def _table(self) -> VectorRows:
        """Return the vectors; a store is connected when they are first needed."""
        if self._made is None:
            if self.store is not None:
                self._made = StoredVectorTable(self.store, self.embedder.digest)
            elif self.vectors == "float32":
                self._made = VectorTable(approximate_above=self._above)
            else:
                self._made = FileVectors(kind=self.vectors)
        return self._made

    @property
    def recall(self) -> float | None:
        """Return the share of the nearest chunks that are found; None where all are compared."""
        return None if self._made is None else self._made.recall

    def watch(self, progress: Progress | None) -> None:
        """Report the number of embedded texts to *progress* while indexing."""
        self._progress = progress

    def work(self) -> Mapping[str, float]:
        """Return how many texts were embedded since ``index``, and how many came from a cache.

        A remote embedder adds the tokens that it counted for them, and their cost.
        """
        counts = {"embedded": self._embedded, "reused": self._reused}
        return {**counts, **self._spent}

    def grow(self, chunks: Sequence[ChunkLocation]) -> None:
        """Add *chunks*; texts that no earlier chunk had are embedded by the next ``show``."""
        for location in chunks:
            key = sha256(f"{location.header}\0{location.chunk.id}".encode("utf-8", "surrogatepass"))
            digest = key.digest()[:KEY_BYTES]
            if digest not in self._known:
                texts = texts_of(location, self.windows)
                self._known[digest] = self._vectors, len(texts)
                self._vectors += len(texts)
                self._waiting += texts
            first, count = self._known[digest]
            self._first.append(first)
            self._count.append(count)

    def show(self, rows: Numbers) -> None:
        """Score *rows*, after what is new has been embedded."""
        if self._waiting:
            self._embed(self._waiting)
            self._waiting = []
        counts = np.array(self._count, np.intp)[rows]
        self._shown = spans(np.array(self._first, np.intp)[rows], counts)
        self._firsts = np.cumsum(counts) - counts
        self._live = np.zeros(len(self._table), np.bool_)
        self._live[self._shown] = True
        self._table.prepare(self._live)

    def index_bytes(self) -> int:
        """Return the bytes of the vectors."""
        return 0 if self._made is None else self._made.nbytes

    def expect(self, queries: Sequence[str]) -> None:
        """Embed *queries* in one call; each has an equal share of its cost."""
        self.current.expect(queries, self.embedder.digest, partial(self._query_vectors, queries))

    def metadata(self) -> Mapping[str, object]:
        """Return the tokens and the cost of embedding this thread's last query, if reported."""
        reported: Mapping[str, object] = getattr(self._last, "metadata", {})
        return reported

    def close(self) -> None:
        """Close the connections of a remote embedder and of a store."""
        self.embedder.close()
        if self._made is not None:
            self._made.close()

    def scores(self, query: str) -> Scores:
        """Return the cosine of every chunk; negative cosines count 0."""
        make = partial(self._query_vectors, [query])
        vector, self._last.metadata = self.current.once(
            query, self.embedder.digest, lambda: make()[0]
        )
        products = self._table.products(vector, self._live)[self._shown]
        scores: Scores = np.maximum.reduceat(products, self._firsts) if len(products) else products
        return scores

    def _query_vectors(self, queries: Sequence[str]) -> list[QueryVector]:
        rows = self.embedder.embed(queries, "query")
        whole = spent(self.embedder.metadata())
        known = {"tokens": whole.tokens, "cost": whole.cost}
        reported = {name: n / len(queries) for name, n in known.items() if n is not None}
        return [QueryVector(row, reported) for row in rows]

    def _embed(self, texts: Sequence[str]) -> None:
        before = _usage(self.embedder)
        digest = self.embedder.digest
        alone = self.caches.alone(f"vectors {digest}") if self.embedder.is_remote else nullcontext()
        with alone, self.caches.vectors() as cache:
            cached = None if cache is None else CachedEmbedder(self.embedder, cache)
            embed = (cached or self.embedder).embed
            size = max(self._table.texts_at_once, self.embedder.texts_at_once)
            needed = 0
            for start in range(0, len(texts), size):
                some = texts[start : start + size]
                needed += self._table.add(some, embed, left=len(texts) - start)
                if self._progress:
                    self._progress(start + len(some), len(texts))
            embedded = needed - (cached.reused if cached else 0)
        self._reused += len(texts) - embedded
        self._embedded += embedded
        for name, amount in _usage(self.embedder).items():
            self._spent[name] = self._spent.get(name, 0) + amount - before[name]


def _usage(embedder: Embedder) -> dict[str, float]:
    """Return the tokens and, where there is a price, the cost of a remote *embedder* so far."""
    usage = embedder.usage
    if usage is None:
        return {}
    cost = {} if usage.cost is None else {"embedding_cost": usage.cost}
    return {"embedding_tokens": usage.tokens, **cost}
