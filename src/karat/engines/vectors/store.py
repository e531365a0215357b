"""Vector stores: their protocols, and the back end that checks arguments and reports calls."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import index
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable
from uuid import UUID

from karat.errors import InputError, UnknownName
from karat.registry import Registry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Vectors = NDArray[np.float32]
    Items = Mapping[str, ArrayLike] | Iterable[Mapping[str, object]]


class Neighbour(NamedTuple):
    """An item that a query found, and its cosine similarity to the query (-1 to 1)."""

    key: str
    score: float


class VectorStore(Protocol):
    """Keeps unit vectors by namespace and key, and finds the nearest.

    The caller has checked all arguments: namespaces and keys are well formed, keys of one call
    differ, vectors are float32 rows of length 1 with the namespace's dimension, *k* is 1 or more,
    and every namespace but that of ``upsert`` exists. ``karat.testing.vectors`` holds the suite
    that any store must pass.
    """

    def dimension(self, namespace: str) -> int | None:
        """Return the length of the namespace's vectors, None where it does not exist."""
        ...

    def namespaces(self) -> Sequence[str]:
        """Return the existing namespaces, in any order."""
        ...

    def upsert(self, namespace: str, keys: Sequence[str], vectors: "Vectors") -> None:
        """Insert or replace; create the namespace where it does not exist yet.

        Raise KaratError where it has meanwhile been created with another dimension.
        """
        ...

    def delete(self, namespace: str, keys: Sequence[str]) -> int:
        """Remove *keys* and return how many of them were there; the namespace stays."""
        ...

    def drop(self, namespace: str) -> None:
        """Remove the namespace and all it holds."""
        ...

    def count(self, namespace: str) -> int:
        """Return how many items the namespace holds."""
        ...

    def nearest(self, namespace: str, vector: "Vectors", k: int) -> list[Neighbour]:
        """Return the *k* nearest, all where there are fewer: best first, equal scores by key."""
        ...

    def close(self) -> None:
        """Release connections and files; calling it twice does no harm."""
        ...


@runtime_checkable
class SnapshotStore(VectorStore, Protocol):
    """A vector store that the engine ``dense`` can search: it knows which items are in a snapshot.

    An item is in any number of snapshots; each is a set of keys with a name. Several processes may
    add and mark the same items at once. ``karat.testing.SnapshotStoreSuite`` checks the contract.
    """

    def held(self, namespace: str, keys: Sequence[str]) -> set[str]:
        """Return those of *keys* that are stored; none if the namespace does not exist."""
        ...

    def add(self, namespace: str, keys: Sequence[str], vectors: "Vectors") -> None:
        """Insert items; those that are stored already stay as they are, with their snapshots."""
        ...

    def mark(self, namespace: str, snapshot: str, keys: Sequence[str]) -> None:
        """Add stored items to *snapshot*; marking an item again changes nothing.

        What searches need, such as an approximate index, is built now, also without *keys*.
        """
        ...

    def marked(self, namespace: str, snapshot: str) -> int:
        """Return the number of items in *snapshot*."""
        ...

    def nearest_in(
        self, namespace: str, snapshot: str, vector: "Vectors", k: int, *, exact: bool | None = None
    ) -> list[Neighbour]:
        """Return the *k* nearest items of *snapshot*: best first, equal scores by key.

        *exact* overrides how the store searches: with True every item is compared.
        """
        ...

    def vectors(self, namespace: str, keys: Sequence[str]) -> "Vectors":
        """Return the vectors of *keys*, all of which are stored, in this order."""
        ...


# Digits of a single precision score. Differences beyond them come from the order of a sum and must
# not decide a rank.
DIGITS = 6


def round_score(score: float) -> float:
    """Return *score* to the digits that single precision carries, within -1 and 1.

    >>> round_score(1.0000001), round_score(0.12345678)
    (1.0, 0.123457)
    """
    return min(max(round(score, DIGITS), -1.0), 1.0)


# Valid as the name of a Qdrant collection and of a folder on any disk.
NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def as_key(value: object, where: str) -> str:
    """Return *value* as the text that names an item; *where* leads the error message.

    Text stays as it is; a whole number or a UUID becomes its text, so that 7 and "7" are one key.
    Text that UTF-8 or a database cannot store is rejected, as is any other type.

    >>> as_key(7, "item 1")
    '7'
    >>> as_key("", "item 1")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: item 1: key '' is empty; expected text, a whole number or a UUID
    """
    if isinstance(value, str):
        if not value:
            raise InputError(f"{where}: key '' is empty; expected text, a whole number or a UUID")
        if "\0" in value or not encodable(value):
            raise InputError(
                f"{where}: key {value!r} contains NUL or half a surrogate pair, which cannot be "
                "stored"
            )
        return value
    if isinstance(value, (int, UUID)) and not isinstance(value, bool):
        return str(value)
    raise InputError(
        f"{where}: key {value!r} cannot name an item; expected text, a whole number or a UUID"
    )


def encodable(text: str) -> bool:
    """Return whether UTF-8 can hold *text*; it cannot hold half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_namespace(namespace: object) -> str:
    """Return *namespace*, or raise InputError unless every back end can store it.

    >>> check_namespace("docs; DROP TABLE")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: namespace 'docs; DROP TABLE' is not allowed; expected 1 to 64 ...
    """
    if not isinstance(namespace, str) or not NAMESPACE.fullmatch(namespace):
        raise InputError(
            f"namespace {namespace!r} is not allowed; expected 1 to 64 ASCII letters, digits, "
            "'.', '_' and '-', the first a letter or digit"
        )
    return namespace


def as_count(value: object, name: str = "k") -> int:
    """Return *value* as a whole number from 1 up, or raise InputError that names it.

    >>> as_count(0)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: k is 0; expected a whole number from 1 up
    """
    try:
        number = index(value) if not isinstance(value, bool) else 0  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(f"{name} is {value!r}; expected a whole number from 1 up")
    return number


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
            from karat.engines.vectors.in_memory import unit_rows

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
            from karat.engines.vectors.in_memory import unit_vector

            wanted = as_count(k)
            vector = unit_vector(embedding, "the query")
            self._check_dimension(namespace, len(vector), self._known_dimension(namespace))
            neighbours = self._store.nearest(namespace, vector, wanted)
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


VECTOR_STORES: Registry[Callable[..., VectorStore]] = Registry(
    "vector_store",
    {
        "in_memory": "karat.engines.vectors.in_memory:InMemoryStore",
        "pgvector": "karat.engines.vectors.postgres:PgVectorStore",
        "qdrant": "karat.engines.vectors.qdrant:QdrantStore",
    },
    aliases={"memory": "in_memory", "postgres": "pgvector", "postgresql": "pgvector"},
)


def get_vector_backend(config: Mapping[str, Any]) -> VectorBackend:
    """Return the back end that *config* describes, ready to use.

    ``type`` names the store: ``in_memory``, ``qdrant``, ``pgvector``, a plug-in of the entry point
    group ``karat.vector_stores``, or ``module:Class``. ``metrics_callback`` may be None. Every
    other entry is an option of the store; an unknown one is rejected.

    >>> get_vector_backend({"type": "in_memory", "metrics_callback": None}).namespaces()
    []
    >>> get_vector_backend({"type": "qdrnt"})
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no vector_store named 'qdrnt'; did you mean 'qdrant'?
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
    return VectorBackend(store(**options), metrics_callback=callback)
