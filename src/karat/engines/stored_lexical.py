"""BM25 on a Qdrant server: chunks as sparse vectors, term frequencies here, IDF by the server."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from hashlib import sha256

import numpy as np

from karat.engines.base import Progress
from karat.engines.chunk_table import ChunkLocation
from karat.engines.fusion import Scores
from karat.engines.lexical.index import BM25
from karat.engines.lexical.tokens import TokenRules
from karat.engines.spec import check_options
from karat.engines.stages import weighted_fields
from karat.engines.stored_vectors import FOUND, StoreSpec, parse_store
from karat.engines.vectors.store import check_namespace
from karat.errors import InputError, MissingExtra
from karat.registry import Registry

try:
    from qdrant_client import QdrantClient, models

    from karat.engines.vectors.qdrant import QdrantConnection, key_in
except ImportError as missing:
    raise MissingExtra(
        "qdrant-client", extra="qdrant", purpose="the option store of bm25"
    ) from missing


# Raise it when the words of a text, or the weights that are uploaded, change.
VERSION = 1
CHUNKS_AT_ONCE = 1_024
VECTOR = "words"

Terms = Mapping[int, float]


def term_number(term: str) -> int:
    """Return the 32-bit number of *term*: the same everywhere, without a shared vocabulary.

    Of a million terms some hundred share a number with another one.

    >>> term_number("login") == term_number("login") != term_number("logout")
    True
    """
    return int.from_bytes(sha256(term.encode()).digest()[:4], "big")


class QdrantTerms:
    """One collection of sparse vectors per index; a point is named by the number of its chunk.

    *shards* and *replicas* are those of new collections. Each shard computes the IDF from its own
    chunks.
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        path: str | None = None,
        key_env: str = "",
        prefix: str = "karat-words-",
        timeout_s: int = 30,
        shards: int | None = None,
        replicas: int | None = None,
    ) -> None:
        """Connect to the server."""
        check_namespace(f"{prefix}x")
        self._prefix = prefix
        self._layout = {"shard_number": shards, "replication_factor": replicas}
        self._connection = QdrantConnection(
            url=url, path=path, api_key=key_in(key_env), timeout_s=timeout_s
        )

    def create(self, name: str) -> None:
        """Create the index *name* if it does not exist."""
        collection = self._prefix + name
        if not self._connection.call(lambda client: client.collection_exists(collection)):
            words = models.SparseVectorParams(modifier=models.Modifier.IDF)
            self._connection.create(
                collection, vectors_config={}, sparse_vectors_config={VECTOR: words}, **self._layout
            )

    def held(self, name: str, rows: range) -> set[int]:
        """Return those of *rows* that are stored."""
        found = self._connection.call(
            lambda client: client.retrieve(self._prefix + name, list(rows), with_payload=False)
        )
        return {int(record.id) for record in found}

    def count(self, name: str) -> int:
        """Return the number of stored chunks."""
        return self._connection.call(
            lambda client: client.count(self._prefix + name, exact=True)
        ).count

    def add(self, name: str, rows: Mapping[int, Terms]) -> None:
        """Insert or replace chunks."""

        def put(some: Sequence[tuple[int, Terms]], client: QdrantClient) -> None:
            points = [
                models.PointStruct(
                    id=row,
                    payload={},
                    vector={
                        VECTOR: models.SparseVector(
                            indices=list(terms), values=list(terms.values())
                        )
                    },
                )
                for row, terms in some
            ]
            client.upsert(self._prefix + name, points, wait=True)

        self._connection.call_each(list(rows.items()), put)

    def best(self, name: str, terms: Terms, k: int) -> list[tuple[int, float]]:
        """Return the best *k* chunks and their scores."""
        query = models.SparseVector(indices=list(terms), values=list(terms.values()))
        answer = self._connection.call(
            lambda client: client.query_points(
                self._prefix + name, query=query, using=VECTOR, limit=k, with_payload=False
            )
        )
        return [(int(point.id), point.score) for point in answer.points]

    def drop(self, name: str) -> None:
        """Remove the index *name*."""
        self._connection.call(lambda client: client.delete_collection(self._prefix + name))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


LEXICAL_STORES: Registry[type[QdrantTerms]] = Registry(
    "lexical_store", {"qdrant": "karat.engines.stored_lexical:QdrantTerms"}
)


class StoredLexicalStage:
    """BM25 over the words of each chunk, on a server.

    The length of a chunk counts against the average of the snapshot, so each snapshot has an index
    of its own; one that the server has already is not uploaded again, and an interrupted upload
    continues. Chunks that the server does not return score 0.
    """

    name = "bm25"
    by_words = True

    def __init__(
        self,
        store: str | Mapping[str, object],
        *,
        k1: float = 1.2,
        b: float = 0.75,
        header: int = 2,
    ) -> None:
        """Store the parameters; no connection is opened yet."""
        spec = parse_store(store, "bm25")
        if spec is None or spec.name not in set(LEXICAL_STORES):
            name = spec.name if spec else ""
            raise InputError(
                f"bm25: store {name!r} has no word search; expected {', '.join(LEXICAL_STORES)}"
            )
        self.spec: StoreSpec = spec
        self.bm25 = BM25(k1, b)
        self.header = header
        self._rules = TokenRules()
        self._terms: QdrantTerms | None = None
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
        """Upload the chunks that the server lacks."""
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
        """Return the BM25 score of every chunk that the server returns; others have 0."""
        scores: Scores = np.zeros(self._length, np.float32)
        counts = Counter(self._rules.terms(query))
        if counts and self._length:
            terms = {term_number(term): float(number) for term, number in counts.items()}
            for row, score in self._connected().best(self._index, terms, FOUND):
                scores[row] = score
        return scores

    def close(self) -> None:
        """Close the connection; the index stays on the server."""
        if self._terms is not None:
            self._terms.close()
            self._terms = None

    def _connected(self) -> QdrantTerms:
        if self._terms is None:
            factory = LEXICAL_STORES.get(self.spec.name)
            options = check_options(factory, self.spec.params, what=f"store {self.spec.name}")
            self._terms = factory(**options)
        return self._terms

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

    def _weights(self, location: ChunkLocation, average: float) -> Terms:
        counts = self._counts(location)
        length = np.array([counts.total()], np.int32)
        norm = float(self.bm25.norms(length, average)[0])
        weights: dict[int, float] = {}
        for term, number in counts.items():
            key = term_number(term)
            weights[key] = weights.get(key, 0.0) + number / (number + norm)
        return weights
