"""Qdrant: in this process, in a folder, or on a server."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, KaratError, MissingExtra
from karat.ndcg.vectors.store import Neighbour, check_namespace

try:
    from qdrant_client import QdrantClient, models
    from qdrant_client.http.exceptions import ApiException, UnexpectedResponse
except ImportError as missing:
    raise MissingExtra(
        "qdrant-client", extra="qdrant", purpose="the vector back end 'qdrant'"
    ) from missing

__all__ = ["QdrantStore"]

# Points are named by numbers or UUIDs only: a key becomes a UUID below this one, kept beside it.
KEYS = UUID("6f0c7a52-6d0e-5f0a-9f43-0d5b4f8a2c11")
BATCH = 256
# Digits of a single precision score. What differs beyond them is the order of a sum, not a rank.
DIGITS = 6


class QdrantStore:
    """One collection per namespace, named *prefix* + namespace; other collections are not touched.

    Without *url* and *path* it lives in this process; with *path* in that folder, which one process
    may open at a time. Both compare every vector in Python: they are for trying out, from one
    thread. *exact* searches a server without its approximate index, so that a ranking depends on
    the vectors alone; scores are rounded to six digits, so that equal vectors tie.
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        path: str | None = None,
        api_key: str | None = None,
        prefix: str = "karat-",
        exact: bool = True,
        timeout_s: int = 30,
    ) -> None:
        """Open the store; raise KaratError where the server at *url* does not answer."""
        if url is not None and path is not None:
            raise InputError("both url and path are given; expected one of them, or neither")
        check_namespace(f"{prefix}x")
        self._prefix = prefix
        # The local modes are always exact, and warn if that is requested.
        self._search = None if url is None else models.SearchParams(exact=exact)
        self._where = url or path or ":memory:"
        with self._asking():
            if url is not None:
                # Its own check of versions only warns; a request that fails says more.
                self._client = QdrantClient(
                    url=url, api_key=api_key, timeout=timeout_s, check_compatibility=False
                )
            elif path is not None:
                self._client = QdrantClient(path=path)
            else:
                self._client = QdrantClient(":memory:")
            self._client.get_collections()

    def dimension(self, namespace: str) -> int | None:
        """Return the length of the namespace's vectors, None where it does not exist."""
        with self._asking():
            if not self._client.collection_exists(self._prefix + namespace):
                return None
            parameters = self._client.get_collection(self._prefix + namespace).config.params.vectors
        if not isinstance(parameters, models.VectorParams):
            raise InputError(
                f"Qdrant at {self._where}: collection {self._prefix + namespace!r} is not Karat's; "
                "choose another prefix"
            )
        return parameters.size

    def namespaces(self) -> list[str]:
        """Return the existing namespaces."""
        with self._asking():
            names = [entry.name for entry in self._client.get_collections().collections]
        mine = [name for name in names if name.startswith(self._prefix)]
        return [name.removeprefix(self._prefix) for name in mine]

    def upsert(self, namespace: str, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Insert or replace points, a few hundred a request."""
        collection = self._prefix + namespace
        with self._asking():
            if not self._client.collection_exists(collection):
                self._create(collection, vectors.shape[1])
            for start in range(0, len(keys), BATCH):
                part = keys[start : start + BATCH]
                rows = vectors[start : start + BATCH].tolist()
                points = [
                    models.PointStruct(id=point_id(key), vector=row, payload={"key": key})
                    for key, row in zip(part, rows, strict=True)
                ]
                self._client.upsert(collection, points, wait=True)

    def _create(self, collection: str, dimension: int) -> None:
        params = models.VectorParams(size=dimension, distance=models.Distance.COSINE)
        try:
            self._client.create_collection(collection, vectors_config=params)
        except UnexpectedResponse as error:
            # Another process was faster; what it made serves as well.
            if error.status_code != HTTPStatus.CONFLICT:
                raise

    def delete(self, namespace: str, keys: Sequence[str]) -> int:
        """Remove points and return how many there were."""
        collection = self._prefix + namespace
        removed = 0
        with self._asking():
            for start in range(0, len(keys), BATCH):
                ids = [point_id(key) for key in keys[start : start + BATCH]]
                held = self._client.retrieve(collection, ids, with_payload=False)
                selector = models.PointIdsList(points=[point.id for point in held])
                self._client.delete(collection, selector, wait=True)
                removed += len(held)
        return removed

    def drop(self, namespace: str) -> None:
        """Remove the collection."""
        with self._asking():
            self._client.delete_collection(self._prefix + namespace)

    def count(self, namespace: str) -> int:
        """Return the number of points."""
        with self._asking():
            return self._client.count(self._prefix + namespace, exact=True).count

    def nearest(self, namespace: str, vector: NDArray[np.float32], k: int) -> list[Neighbour]:
        """Return the nearest points.

        Qdrant orders equal scores as it likes: more are fetched until the tie at the cut ends, so
        that keys decide which are included.
        """
        held = self.count(namespace)
        wanted = min(k, held)
        limit = wanted + 1
        while True:
            neighbours = self._fetch(namespace, vector, min(limit, held))
            if (
                limit >= held
                or len(neighbours) < limit
                or neighbours[-1].score < neighbours[wanted - 1].score
            ):
                neighbours.sort(key=lambda neighbour: (-neighbour.score, neighbour.key))
                return neighbours[:wanted]
            limit *= 2

    def close(self) -> None:
        """Close the connection, or write the folder."""
        self._client.close()

    def _fetch(self, namespace: str, vector: NDArray[np.float32], limit: int) -> list[Neighbour]:
        if not limit:
            return []
        with self._asking():
            answer = self._client.query_points(
                self._prefix + namespace,
                query=vector.tolist(),
                limit=limit,
                with_payload=["key"],
                search_params=self._search,
            )
        return [
            Neighbour(str((point.payload or {})["key"]), round_score(point.score))
            for point in answer.points
        ]

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Turn what the client raises into one sentence that says where."""
        try:
            yield
        except ApiException as error:
            raise KaratError(f"Qdrant at {self._where} failed: {error}") from error
        except RuntimeError as error:  # the folder is open in another process
            raise KaratError(f"Qdrant at {self._where} cannot be opened: {error}") from error


def point_id(key: str) -> str:
    """Return the UUID that names *key* in Qdrant, the same on every machine.

    >>> point_id("doc_1") == point_id("doc_1") != point_id("doc_2")
    True
    """
    return str(uuid5(KEYS, key))


def round_score(score: float) -> float:
    """Return *score* to the digits that single precision carries, within -1 and 1.

    >>> round_score(1.0000001), round_score(0.12345678)
    (1.0, 0.123457)
    """
    return min(max(round(score, DIGITS), -1.0), 1.0)
