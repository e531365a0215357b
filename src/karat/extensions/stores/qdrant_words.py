"""Words on a Qdrant server: chunks as sparse vectors, whose IDF the server computes."""

from collections.abc import Mapping, Sequence

from karat.engines.stored_lexical import TermWeights
from karat.engines.vectors.store import check_namespace
from karat.errors import MissingExtra

try:
    from qdrant_client import QdrantClient, models

    from karat.extensions.stores.qdrant import QdrantConnection, key_in
except ImportError as missing:
    raise MissingExtra(
        "qdrant-client", extra="qdrant", purpose="the option store of bm25"
    ) from missing


VECTOR = "words"


class QdrantWords:
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
        records = self._connection.call(
            lambda client: client.retrieve(self._prefix + name, list(rows), with_payload=False)
        )
        return {int(record.id) for record in records}

    def count(self, name: str) -> int:
        """Return the number of stored chunks."""
        return self._connection.call(
            lambda client: client.count(self._prefix + name, exact=True)
        ).count

    def add(self, name: str, rows: Mapping[int, TermWeights]) -> None:
        """Insert or replace chunks."""

        def put(some: Sequence[tuple[int, TermWeights]], client: QdrantClient) -> None:
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

    def best(self, name: str, terms: TermWeights, k: int) -> list[tuple[int, float]]:
        """Return the best *k* chunks and their scores."""
        query = models.SparseVector(indices=list(terms), values=list(terms.values()))
        answer = self._connection.call(
            lambda client: client.query_points(
                self._prefix + name, query=query, using=VECTOR, limit=k, with_payload=False
            )
        )
        return [(int(point.id), point.score) for point in answer.points]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
