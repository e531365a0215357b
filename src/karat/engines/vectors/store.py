"""The contract of vector stores, and the stores by name."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from karat.errors import InputError
from karat.registry import Registry
from karat.system.words import join_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Neighbour(NamedTuple):
    """An item that a query found, and its cosine similarity to the query (-1 to 1)."""

    key: str
    score: float


@runtime_checkable
class VectorStore(Protocol):
    """Keeps unit vectors by namespace and key, and finds the nearest, of all or of a snapshot.

    The engine ``dense`` and ``karat.ndcg`` use the same stores. An item is in any number of
    snapshots; each is a set of keys with a name, and "" stands for all items of a namespace.
    Several processes may add and mark the same items at once.

    The caller has checked all arguments: namespaces and keys are well formed, keys of one call
    differ, vectors are float32 rows of length 1 with the namespace's dimension, *k* is 1 or more,
    and every namespace but that of ``upsert``, ``add`` and ``held`` exists.
    ``karat.testing.VectorStoreSuite`` checks the contract.
    """

    def dimension(self, namespace: str) -> int | None:
        """Return the length of the namespace's vectors, None where it does not exist."""
        ...

    def namespaces(self) -> Sequence[str]:
        """Return the existing namespaces, in any order."""
        ...

    def upsert(self, namespace: str, keys: Sequence[str], vectors: "Vectors") -> None:
        """Insert or replace items; a replaced one is in no snapshot.

        Create the namespace where it does not exist yet. Raise KaratError where it has meanwhile
        been created with another dimension.
        """
        ...

    def add(self, namespace: str, keys: Sequence[str], vectors: "Vectors") -> None:
        """Insert items; those that are stored already stay as they are, with their snapshots."""
        ...

    def held(self, namespace: str, keys: Sequence[str]) -> set[str]:
        """Return those of *keys* that are stored; none if the namespace does not exist."""
        ...

    def delete(self, namespace: str, keys: Sequence[str]) -> int:
        """Remove *keys* and return how many of them were there; the namespace stays."""
        ...

    def drop(self, namespace: str) -> None:
        """Remove the namespace and all it holds."""
        ...

    def mark(self, namespace: str, snapshot: str, keys: Sequence[str]) -> None:
        """Add stored items to *snapshot*; marking an item again changes nothing.

        What searches need, such as an approximate index, is built now, also without *keys*.
        """
        ...

    def count(self, namespace: str, snapshot: str = "") -> int:
        """Return the number of items."""
        ...

    def nearest(
        self,
        namespace: str,
        vector: "Vectors",
        k: int,
        *,
        snapshot: str = "",
        exact: bool | None = None,
    ) -> list[Neighbour]:
        """Return the *k* nearest, all where there are fewer: best first, equal scores by key.

        *exact* overrides how the store searches: with True every item is compared.
        """
        ...

    def vectors(self, namespace: str, keys: Sequence[str]) -> "Vectors":
        """Return the vectors of *keys*, all of which are stored, in this order."""
        ...

    def close(self) -> None:
        """Release connections and files; calling it twice does no harm."""
        ...


METHODS = tuple(name for name in vars(VectorStore) if not name.startswith("_"))


def check_store(store: object, name: str) -> VectorStore:
    """Return *store*, or raise InputError with the methods of a vector store that it lacks."""
    if isinstance(store, VectorStore):
        return store
    lacking = [method for method in METHODS if not hasattr(store, method)]
    raise InputError(
        f"store {name} lacks {join_names(lacking)}; see vector store in docs/extending.md"
    )


# Valid in the names of a service's collections, and as a folder on any disk.
NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


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


VECTOR_STORES: Registry[Callable[..., VectorStore]] = Registry(
    "vector_store",
    {"in_memory": "karat.engines.vectors.in_memory:InMemoryStore"},
    aliases={"memory": "in_memory"},
)
