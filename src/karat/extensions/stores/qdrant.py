"""Qdrant: in this process, in a folder, or on a server or cluster."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from itertools import count
from typing import TypeVar
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from karat.engines.vectors.store import Neighbour, check_namespace
from karat.errors import InputError, KaratError, MissingExtra
from karat.system.files import without_user

try:
    from qdrant_client import QdrantClient, models
    from qdrant_client.http.exceptions import (
        ApiException,
        ResponseHandlingException,
        UnexpectedResponse,
    )
    from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential
except ImportError as missing:
    raise MissingExtra(
        "qdrant-client", extra="qdrant", purpose="the vector back end 'qdrant'"
    ) from missing


# Points are named by numbers or UUIDs only: a key becomes a UUID below this one, kept beside it.
KEYS = UUID("6f0c7a52-6d0e-5f0a-9f43-0d5b4f8a2c11")
BATCH = 256
# Since this version a point can be inserted without replacing one that is there.
OLDEST = (1, 16)
# A search for more items than this is limited to the number that there are.
COUNT_ABOVE = 10_000
# A node that has just died makes requests of others fail for some seconds, until it is noticed.
ATTEMPTS = 8
LONGEST_WAIT_S = 4.0
# Digits of a single precision score. Differences beyond them come from the order of a sum and must
# not decide a rank.
DIGITS = 6

Item = TypeVar("Item")
Result = TypeVar("Result")


class QdrantConnection:
    """A client of Qdrant that retries, and goes on with the next of several URLs.

    Without *url* and *path* the data are in this process; with *path* they are in that folder,
    which one process may open at a time. *url* may be several addresses of one cluster, separated
    by blanks.
    """

    def __init__(
        self,
        *,
        url: str | None,
        path: str | None,
        api_key: str | None,
        timeout_s: int,
    ) -> None:
        """Open the connection; raise KaratError if no server answers."""
        if url is not None and path is not None:
            raise InputError("both url and path are given; expected one of them, or neither")
        self.where = " ".join(map(without_user, url.split())) if url else path or ":memory:"
        self.is_remote = url is not None
        with self.errors():
            if url is not None:
                # The check of versions in the client only warns; Karat has its own.
                self._clients = [
                    QdrantClient(
                        url=one, api_key=api_key, timeout=timeout_s, check_compatibility=False
                    )
                    for one in url.split()
                ]
            elif path is not None:
                self._clients = [QdrantClient(path=path)]
            else:
                self._clients = [QdrantClient(":memory:")]
        self._current = 0
        self.call(lambda client: client.get_collections(), attempts=len(self._clients))
        if self.is_remote:
            self._check_version()

    def _check_version(self) -> None:
        """Raise InputError for a server that would replace points instead of leaving them."""
        version = self.call(lambda client: client.info().version)
        numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
        if numbers < OLDEST:
            raise InputError(
                f"Qdrant at {self.where} is version {version}; expected "
                f"{'.'.join(map(str, OLDEST))} or newer"
            )

    def call(
        self, request: "Callable[[QdrantClient], Result]", *, attempts: int = ATTEMPTS
    ) -> Result:
        """Return the result of *request*, which may run again if a node fails."""

        def once() -> Result:
            try:
                return request(self._clients[self._current])
            except ResponseHandlingException:
                self._current = (self._current + 1) % len(self._clients)
                raise

        retrying = Retrying(
            stop=stop_after_attempt(max(attempts, 1)),
            wait=wait_random_exponential(multiplier=0.1, max=LONGEST_WAIT_S),
            retry=retry_if_exception(_is_passing),
            reraise=True,
        )
        with self.errors():
            return retrying(once)

    def call_each(
        self,
        items: Sequence[Item],
        request: "Callable[[Sequence[Item], QdrantClient], None]",
    ) -> None:
        """Call *request* with a few hundred of *items* at a time."""
        for start in range(0, len(items), BATCH):
            self.call(partial(request, items[start : start + BATCH]))

    def create(self, collection: str, **options: object) -> None:
        """Create *collection*, unless another process was faster."""
        try:
            self.call(lambda client: client.create_collection(collection, **options))  # type: ignore[arg-type]
        except KaratError as error:
            cause = error.__cause__
            if (
                not isinstance(cause, UnexpectedResponse)
                or cause.status_code != HTTPStatus.CONFLICT
            ):
                raise

    def close(self) -> None:
        """Close the connection, or write the folder."""
        for client in self._clients:
            client.close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of the client into one sentence with the address."""
        try:
            yield
        except ApiException as error:
            raise KaratError(f"Qdrant at {self.where} failed: {error}") from error
        except RuntimeError as error:  # the folder is open in another process
            raise KaratError(f"Qdrant at {self.where} cannot be opened: {error}") from error


def key_in(variable: str) -> str | None:
    """Return the API key in the environment *variable*; None without a variable."""
    if variable and not os.environ.get(variable):
        raise InputError(f"the environment variable {variable} of key_env is not set")
    return os.environ[variable] if variable else None


def _is_passing(error: BaseException) -> bool:
    """Return whether *error* may vanish: no connection, or an error of the server."""
    if isinstance(error, UnexpectedResponse):
        return error.status_code is not None and error.status_code >= 500
    return isinstance(error, ResponseHandlingException)


class QdrantStore:
    """One collection per namespace, named *prefix* + namespace; other collections are not touched.

    Without *url* and *path* it lives in this process, with *path* in that folder. Both compare
    every vector in Python: they are for trying out, from one thread. *url* may be several addresses
    of one cluster, separated by blanks. *key_env* names an environment variable with the API key,
    in place of *api_key*. *exact* searches a server without its approximate index, so
    that a ranking depends on the vectors alone; scores are rounded to six digits, so that equal
    vectors tie. New collections have *shards* parts, each on *replicas* nodes.
    """

    # Options with which only one process at a time can open the store.
    one_process = ("path",)

    def __init__(
        self,
        *,
        url: str | None = None,
        path: str | None = None,
        api_key: str | None = None,
        key_env: str = "",
        prefix: str = "karat-",
        exact: bool = True,
        timeout_s: int = 30,
        shards: int | None = None,
        replicas: int | None = None,
    ) -> None:
        """Open the store; raise KaratError if the server at *url* does not answer."""
        check_namespace(f"{prefix}x")
        for name, number in (("shards", shards), ("replicas", replicas)):
            if number is not None and number < 1:
                raise InputError(f"{name} is {number}; expected a whole number from 1 up")
        self._prefix = prefix
        self._exact = exact
        self._layout = {"shard_number": shards, "replication_factor": replicas}
        self._connection = QdrantConnection(
            url=url, path=path, api_key=api_key or key_in(key_env), timeout_s=timeout_s
        )

    def dimension(self, namespace: str) -> int | None:
        """Return the length of the namespace's vectors, None where it does not exist."""
        collection = self._prefix + namespace
        if not self._exists(collection):
            return None
        info = self._connection.call(lambda client: client.get_collection(collection))
        parameters = info.config.params.vectors
        if not isinstance(parameters, models.VectorParams):
            raise InputError(
                f"Qdrant at {self._connection.where}: collection {collection!r} was not "
                "created by Karat; choose another prefix"
            )
        return parameters.size

    def namespaces(self) -> list[str]:
        """Return the existing namespaces."""
        names = [
            collection.name
            for collection in self._connection.call(
                lambda client: client.get_collections()
            ).collections
        ]
        return [name.removeprefix(self._prefix) for name in names if name.startswith(self._prefix)]

    def upsert(self, namespace: str, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Insert or replace points, a few hundred per request; a replaced one is in no snapshot."""
        self._write(namespace, keys, vectors, update_filter=None)

    def add(self, namespace: str, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Insert points, without replacing any."""
        nothing = models.Filter(must=[models.HasIdCondition(has_id=[])])
        self._write(namespace, keys, vectors, update_filter=nothing)

    def _write(
        self,
        namespace: str,
        keys: Sequence[str],
        vectors: NDArray[np.float32],
        *,
        update_filter: models.Filter | None,
    ) -> None:
        collection = self._prefix + namespace
        if not self._exists(collection):
            size = models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE)
            self._connection.create(collection, vectors_config=size, **self._layout)

        def put(some: "Sequence[tuple[str, NDArray[np.float32]]]", client: QdrantClient) -> None:
            points = [
                models.PointStruct(id=point_id(key), vector=row.tolist(), payload={"key": key})
                for key, row in some
            ]
            client.upsert(collection, points, wait=True, update_filter=update_filter)

        self._connection.call_each(list(zip(keys, vectors, strict=True)), put)

    def delete(self, namespace: str, keys: Sequence[str]) -> int:
        """Remove points and return how many there were."""
        collection = self._prefix + namespace
        held = sorted(self.held(namespace, keys))

        def remove(some: Sequence[str], client: QdrantClient) -> None:
            selector = models.PointIdsList(points=[point_id(key) for key in some])
            client.delete(collection, selector, wait=True)

        self._connection.call_each(held, remove)
        return len(held)

    def drop(self, namespace: str) -> None:
        """Remove the collection."""
        self._connection.call(lambda client: client.delete_collection(self._prefix + namespace))

    def count(self, namespace: str, snapshot: str = "") -> int:
        """Return the number of points."""
        within = _within(snapshot)
        return self._connection.call(
            lambda client: client.count(self._prefix + namespace, count_filter=within, exact=True)
        ).count

    def held(self, namespace: str, keys: Sequence[str]) -> set[str]:
        """Return the keys that are stored."""
        collection = self._prefix + namespace
        if not self._exists(collection):
            return set()
        held: set[str] = set()
        by_point = {point_id(key): key for key in keys}

        def look(some: Sequence[str], client: QdrantClient) -> None:
            records = client.retrieve(collection, some, with_payload=False)
            held.update(by_point[str(record.id)] for record in records)

        self._connection.call_each(list(by_point), look)
        return held

    def mark(self, namespace: str, snapshot: str, keys: Sequence[str]) -> None:
        """Set the field of *snapshot* of each point.

        A field per snapshot can be set by several processes at once; a list in one field could not.
        """
        collection, field = self._prefix + namespace, _field(snapshot)

        def set_field(some: Sequence[str], client: QdrantClient) -> None:
            points = models.PointIdsList(points=[point_id(key) for key in some])
            client.set_payload(collection, {field: True}, points=points, wait=True)

        self._connection.call_each(keys, set_field)
        if self._connection.is_remote and not self._exact:
            self._connection.call(
                lambda client: client.create_payload_index(
                    collection, field, field_schema=models.PayloadSchemaType.BOOL, wait=True
                )
            )

    def nearest(
        self,
        namespace: str,
        vector: NDArray[np.float32],
        k: int,
        *,
        snapshot: str = "",
        exact: bool | None = None,
    ) -> list[Neighbour]:
        """Return the nearest points.

        Qdrant orders equal scores as it likes: more are fetched until the tie at the cut ends, so
        that keys decide which are included.
        """
        how = self._exact if exact is None else exact
        most = min(k, self.count(namespace, snapshot)) if k > COUNT_ABOVE else k
        limits = (most * 2**step + 1 for step in count())
        while most:
            limit = next(limits)
            neighbours = self._fetch(namespace, vector, limit, _within(snapshot), exact=how)
            if len(neighbours) < limit or neighbours[-1].score < neighbours[most - 1].score:
                neighbours.sort(key=lambda neighbour: (-neighbour.score, neighbour.key))
                return neighbours[:most]
        return []

    def vectors(self, namespace: str, keys: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of *keys*."""
        points = [point_id(key) for key in keys]
        records = self._connection.call(
            lambda client: client.retrieve(
                self._prefix + namespace, points, with_payload=False, with_vectors=True
            )
        )
        rows = {str(record.id): record.vector for record in records}
        return np.array([rows[point] for point in points], np.float32)

    def close(self) -> None:
        """Close the connection, or write the folder."""
        self._connection.close()

    def _exists(self, collection: str) -> bool:
        return self._connection.call(lambda client: client.collection_exists(collection))

    def _fetch(
        self,
        namespace: str,
        vector: NDArray[np.float32],
        limit: int,
        within: models.Filter | None,
        *,
        exact: bool,
    ) -> list[Neighbour]:
        # The local modes are always exact, and warn if that is requested.
        search = models.SearchParams(exact=exact) if self._connection.is_remote else None
        answer = self._connection.call(
            lambda client: client.query_points(
                self._prefix + namespace,
                query=vector.tolist(),
                query_filter=within,
                limit=limit,
                with_payload=["key"],
                search_params=search,
            )
        )
        return [
            Neighbour(str((point.payload or {})["key"]), round_score(point.score))
            for point in answer.points
        ]


def _field(snapshot: str) -> str:
    return f"snapshot_{snapshot}"


def _within(snapshot: str) -> models.Filter | None:
    if not snapshot:
        return None
    condition = models.FieldCondition(key=_field(snapshot), match=models.MatchValue(value=True))
    return models.Filter(must=[condition])


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
