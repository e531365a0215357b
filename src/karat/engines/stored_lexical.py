"""BM25 on a service: term frequencies from here, IDF by the service."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from hashlib import sha256
from typing import Protocol

import numpy as np

from karat.engines.base import Progress
from karat.engines.chunk_table import ChunkLocation
from karat.engines.fusion import Scores
from karat.engines.lexical.index import BM25
from karat.engines.lexical.tokens import TokenRules
from karat.engines.spec import check_options
from karat.engines.stages import Stage, weighted_fields
from karat.engines.stored_vectors import StoreSpec
from karat.engines.vector_rows import MOST_NEAREST
from karat.errors import InputError
from karat.registry import Registry

# Raise it when the words of a text, or the weights that are uploaded, change.
VERSION = 1
CHUNKS_AT_ONCE = 1_024

TermWeights = Mapping[int, float]


def term_number(term: str) -> int:
    """Return the 32-bit number of *term*: the same everywhere, without a shared vocabulary.

    Of a million terms some hundred share a number with another one.

    >>> term_number("login") == term_number("login") != term_number("logout")
    True
    """
    return int.from_bytes(sha256(term.encode()).digest()[:4], "big")


class LexicalStore(Protocol):
    """Keeps the weighted terms of chunks by index and number of the chunk, and ranks the chunks.

    A score is the sum, over the terms of a query, of both weights and the term's IDF, as BM25
    defines it over the chunks of the index.
    """

    def create(self, name: str) -> None:
        """Create the index *name* if it does not exist."""
        ...

    def held(self, name: str, rows: range) -> set[int]:
        """Return those of *rows* that are stored."""
        ...

    def count(self, name: str) -> int:
        """Return the number of stored chunks."""
        ...

    def add(self, name: str, rows: Mapping[int, TermWeights]) -> None:
        """Insert or replace chunks."""
        ...

    def best(self, name: str, terms: TermWeights, k: int) -> list[tuple[int, float]]:
        """Return the best *k* chunks and their scores."""
        ...

    def close(self) -> None:
        """Close the connection; calling it twice does no harm."""
        ...


LEXICAL_STORES: Registry[Callable[..., LexicalStore]] = Registry("lexical_store", {})


class StoredLexicalStage(Stage):
    """BM25 over the words of each chunk, on a service.

    The length of a chunk counts against the average of the snapshot, so each snapshot has an index
    of its own; one that the service has already is not uploaded again, and an interrupted upload
    continues. Chunks that the service does not return score 0.
    """

    name = "bm25"
    by_words = True

    def __init__(
        self,
        spec: StoreSpec,
        *,
        k1: float = 1.2,
        b: float = 0.75,
        header: int = 2,
    ) -> None:
        """Store the parameters; the store *spec* is loaded, and not yet connected."""
        if not LEXICAL_STORES.has(spec.name):
            known = ", ".join(LEXICAL_STORES)
            hint = f"expected {known}" if known else "no extension that is installed adds one"
            raise InputError(f"bm25: store {spec.name!r} has no word search; {hint}")
        LEXICAL_STORES.get(spec.name)
        self.spec = spec
        self.bm25 = BM25(k1, b)
        self.header = header
        self._rules = TokenRules()
        self._store: LexicalStore | None = None
        self._index = ""
        self._length = 0
        self._uploaded = 0
        self._progress: Progress | None = None

    @property
    def identity(self) -> Hashable:
        """Return the parameters and the store."""
        return type(self), self.bm25, self.header, self.spec

    def watch(self, progress: Progress | None) -> None:
        """Report to *progress* how many chunks are uploaded."""
        self._progress = progress

    def work(self) -> Mapping[str, float]:
        """Return how many chunks were uploaded since the stage was made."""
        return {"uploaded": self._uploaded}

    def index(self, chunks: Sequence[ChunkLocation]) -> None:
        """Upload the chunks that the service lacks."""
        store = self._connected()
        self._index, self._length = self._identify(chunks), len(chunks)
        store.create(self._index)
        if store.count(self._index) == len(chunks):
            return
        average = sum(sum(self._counts(location).values()) for location in chunks) / len(chunks)
        for start in range(0, len(chunks), CHUNKS_AT_ONCE):
            rows = range(start, min(start + CHUNKS_AT_ONCE, len(chunks)))
            held = store.held(self._index, rows)
            missing = [row for row in rows if row not in held]
            store.add(self._index, {row: self._weights(chunks[row], average) for row in missing})
            self._uploaded += len(missing)
            if self._progress:
                self._progress(rows.stop, len(chunks))

    def scores(self, query: str) -> Scores:
        """Return the BM25 score of every chunk that the service returns; others have 0."""
        scores: Scores = np.zeros(self._length, np.float32)
        counts = Counter(self._rules.terms(query))
        if counts and self._length:
            terms = {term_number(term): float(number) for term, number in counts.items()}
            for row, score in self._connected().best(self._index, terms, MOST_NEAREST):
                scores[row] = score
        return scores

    def close(self) -> None:
        """Close the connection; the index stays on the service."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _connected(self) -> LexicalStore:
        if self._store is None:
            factory = LEXICAL_STORES.get(self.spec.name)
            options = check_options(factory, self.spec.params, what=f"store {self.spec.name}")
            self._store = factory(**options)
        return self._store

    def _identify(self, chunks: Sequence[ChunkLocation]) -> str:
        """Return the name of the index: the hash of all that its weights depend on."""
        digest = sha256(f"{VERSION} {self.bm25} {self.header}".encode())
        for location in chunks:
            for part in (location.header, location.chunk.context, location.chunk.id):
                digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()[:32]

    def _counts(self, location: ChunkLocation) -> Counter[str]:
        counts: Counter[str] = Counter()
        for text, weight in weighted_fields(location, self.header):
            for term in self._rules.terms(text):
                counts[term] += weight
        return counts

    def _weights(self, location: ChunkLocation, average: float) -> TermWeights:
        counts = self._counts(location)
        length = np.array([counts.total()], np.int32)
        norm = float(self.bm25.norms(length, average)[0])
        weights: dict[int, float] = {}
        for term, number in counts.items():
            key = term_number(term)
            weights[key] = weights.get(key, 0.0) + number / (number + norm)
        return weights
