"""The vector back end: it checks arguments, calls a store and reports each operation."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from karat.engines.vectors.store import (
    VECTOR_STORES,
    Neighbour,
    VectorStore,
    check_namespace,
    check_store,
)
from karat.errors import InputError, UnknownName
from karat.extensions.ndcg.arguments import as_count, as_key

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Items = Mapping[str, ArrayLike] | Iterable[Mapping[str, object]]


class Operation(NamedTuple):
    """The record that a metrics callback receives after each operation.

    *name* is ``upsert``, ``delete``, ``drop``, ``count`` or ``query``; *items* is how many items
    it wrote, removed, counted or found; *error* is the class of the exception that ended it.
    """

    name: str
    namespace: str
    items: int
    duration_ns: int
    error: str | None


class VectorBackend:
    """Nearest neighbours by cosine similarity, in namespaces of one dimension each.

    A namespace appears with its first item and keeps that item's dimension; it stays when its
    items are deleted, until :meth:`drop`. Only directions are kept: embeddings are scaled to
    length 1, in single precision. A ranking is the same on every back end: best first, equal
    scores by key.

    Wrong input raises InputError before anything is written; a namespace that does not exist
    raises UnknownName. *metrics_callback* is called with an :class:`Operation` after each
    operation, failed ones included; what it raises is raised.

    >>> from karat.ndcg import get_vector_backend
    >>> backend = get_vector_backend({"type": "in_memory"})
    >>> backend.upsert("colours", {"red": [1.0, 0.0], "green": [0.0, 1.0], "orange": [0.9, 0.3]})
    3
    >>> [found.key for found in backend.query("colours", [1.0, 0.1], k=2)]
    ['red', 'orange']
    """

    def __init__(
        self,
        store: VectorStore,
        *,
        metrics_callback: Callable[[Operation], object] | None = None,
        clock: Callable[[], int] = perf_counter_ns,
    ) -> None:
        """Wrap *store*; *clock* counts nanoseconds."""
        self._store = store
        self._callback = metrics_callback
        self._clock = clock

    def upsert(self, namespace: str, items: "Items") -> int:
        """Insert or replace *items*, and return how many there were.

        They are ``{key: embedding}``, or records with ``key`` (or ``id``) and ``embedding``; other
        fields are not kept. A key may come once. An empty list does nothing.
        """
        check_namespace(namespace)
        with self._reported("upsert", namespace) as done:
            keys, embeddings = read_items(items)
            if not keys:
                return 0
            from karat.extensions.ndcg.unit_vectors import unit_rows

            vectors = unit_rows(keys, embeddings)
            self._check_dimension(namespace, vectors.shape[1], self._store.dimension(namespace))
            self._store.upsert(namespace, keys, vectors)
            done(len(keys))
            return len(keys)

    def delete(self, namespace: str, keys: Iterable[str]) -> int:
        """Remove the items named by *keys*, and return how many of them were there."""
        check_namespace(namespace)
        with self._reported("delete", namespace) as done:
            if isinstance(keys, (str, bytes)):
                raise InputError(f"keys {keys!r} is a string; expected a list of keys")
            names = [as_key(key, f"key {number}") for number, key in enumerate(keys, start=1)]
            self._known_dimension(namespace)
            removed = self._store.delete(namespace, list(dict.fromkeys(names))) if names else 0
            done(removed)
            return removed

    def drop(self, namespace: str) -> None:
        """Remove *namespace* and all it holds."""
        check_namespace(namespace)
        with self._reported("drop", namespace):
            self._known_dimension(namespace)
            self._store.drop(namespace)

    def count(self, namespace: str) -> int:
        """Return how many items *namespace* holds."""
        check_namespace(namespace)
        with self._reported("count", namespace) as done:
            self._known_dimension(namespace)
            held = self._store.count(namespace)
            done(held)
            return held

    def query(self, namespace: str, embedding: "ArrayLike", k: int = 10) -> list[Neighbour]:
        """Return the *k* items nearest to *embedding*: best first, equal scores by key.

        All of them where the namespace holds fewer than *k*. An empty namespace raises InputError:
        searching before anything is indexed is a mistake, and would score 0 unnoticed.
        """
        check_namespace(namespace)
        with self._reported("query", namespace) as done:
            from karat.extensions.ndcg.unit_vectors import unit_vector

            k = as_count(k)
            vector = unit_vector(embedding, "the query")
            self._check_dimension(namespace, len(vector), self._known_dimension(namespace))
            neighbours = self._store.nearest(namespace, vector, k)
            if not neighbours:
                raise InputError(f"namespace {namespace!r} is empty; upsert items before a query")
            done(len(neighbours))
            return neighbours

    def namespaces(self) -> list[str]:
        """Return the names of all namespaces, sorted."""
        return sorted(self._store.namespaces())

    def close(self) -> None:
        """Release connections and files."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _known_dimension(self, namespace: str) -> int:
        dimension = self._store.dimension(namespace)
        if dimension is None:
            known = ", ".join(self.namespaces()) or "none yet"
            raise UnknownName(f"no namespace named {namespace!r}; known: {known}")
        return dimension

    def _check_dimension(self, namespace: str, given: int, expected: int | None) -> None:
        if expected is not None and given != expected:
            raise InputError(
                f"the embedding has {given} dimensions; namespace {namespace!r} expects {expected}"
            )

    @contextmanager
    def _reported(self, name: str, namespace: str) -> Iterator[Callable[[int], None]]:
        """Report the outcome of the operation inside to the callback."""
        counted = 0

        def done(items: int) -> None:
            nonlocal counted
            counted = items

        start = self._clock()
        problem: str | None = None
        try:
            yield done
        except BaseException as error:
            problem = type(error).__name__
            raise
        finally:
            if self._callback is not None:
                spent = self._clock() - start
                self._callback(Operation(name, namespace, counted, spent, problem))


def read_items(items: "Items") -> tuple[list[str], "Sequence[ArrayLike]"]:
    """Return keys and embeddings; raise InputError for a record without, or a key given twice."""
    embeddings: dict[str, ArrayLike] = {}
    if isinstance(items, Mapping):
        pairs = list(items.items())
    else:
        pairs = [read_record(item, number) for number, item in enumerate(items, start=1)]
    for number, (name, embedding) in enumerate(pairs, start=1):
        key = as_key(name, f"item {number}")
        if key in embeddings:
            raise InputError(f"item {number}: key {key!r} is given twice")
        embeddings[key] = embedding
    return list(embeddings), list(embeddings.values())


def read_record(item: object, number: int) -> "tuple[str, ArrayLike]":
    """Return key and embedding of one record."""
    if not isinstance(item, Mapping):
        raise InputError(f"item {number} is {item!r}; expected a record with key and embedding")
    name = item.get("key")
    if name is None:
        name = item.get("id")
    if name is None or item.get("embedding") is None:
        lacking = "key (or id)" if name is None else "embedding"
        raise InputError(f"item {number} has no {lacking}; expected key and embedding")
    return name, item["embedding"]


def get_vector_backend(config: Mapping[str, Any]) -> VectorBackend:
    """Return the back end that *config* describes, ready to use.

    ``type`` names the store: ``in_memory``, one of an extension such as ``qdrant``, or
    ``module:Class``. ``metrics_callback`` may be None. Every other entry is an option of the
    store; an unknown one is rejected.

    >>> get_vector_backend({"type": "in_memory", "metrics_callback": None}).namespaces()
    []
    >>> get_vector_backend({"type": "in_memry"})
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no vector store named 'in_memry'; did you mean 'in_memory'?
    """
    options = dict(config)
    kind = options.pop("type", None)
    if not isinstance(kind, str):
        known = ", ".join(sorted(VECTOR_STORES))
        raise InputError(f"the back end's type is {kind!r}; expected one of: {known}")
    callback = options.pop("metrics_callback", None)
    if callback is not None and not callable(callback):
        raise InputError(f"metrics_callback is {callback!r}; expected a function or None")
    store = VECTOR_STORES.get(kind)
    signature = inspect.signature(store)
    try:
        signature.bind(**options)
    except TypeError as error:
        known = ", ".join(signature.parameters) or "no options"
        raise InputError(f"vector back end {kind!r}: {error}; expected {known}") from None
    return VectorBackend(check_store(store(**options), kind), metrics_callback=callback)
