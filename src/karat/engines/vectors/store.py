"""The protocols of vector stores; arguments are checked by the back end or engine above them."""

import re
from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable
from uuid import UUID

from karat.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


__all__ = [
    "Neighbour",
    "SnapshotStore",
    "VectorStore",
    "as_count",
    "as_key",
    "check_namespace",
    "round_score",
]


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
