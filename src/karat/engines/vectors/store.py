"""What a vector store must do; everything else is done once, in the back end above it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

__all__ = ["Neighbour", "VectorStore"]


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
        """Let go of connections and files; calling it twice does no harm."""
        ...
