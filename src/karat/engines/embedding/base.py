"""The protocol of an embedder, which turns texts into vectors, and its contract."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from karat.errors import EngineError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from karat.engines.remote import Usage

    Vectors = NDArray[np.float32]

__all__ = [
    "Embedder",
    "Kind",
    "PartlyEmbedded",
    "SupportsCheck",
    "SupportsManyTexts",
    "SupportsTokenVectors",
    "SupportsTooLong",
    "SupportsUsage",
]

Kind = Literal["document", "query"]


class PartlyEmbedded(EngineError):
    """Some requests failed; *rows* has the vectors of the texts whose requests succeeded."""

    def __init__(self, message: str, rows: "Mapping[str, Vectors]") -> None:
        super().__init__(message)
        self.rows = rows


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors whose inner product is the similarity of the texts.

    The contract, which ``karat.testing.embedding`` checks:

    - one float32 row per text, in order, of length 1; no texts give no rows;
    - a text without anything to embed, such as blanks, gives a row of zeros;
    - any text will do: what is past ``max_tokens`` is not looked at;
    - a row depends on its text and *kind* only, not on the texts beside it; that of a query is the
      same bit for bit.

    ``digest`` names the weights and every setting that changes a vector, so that a cached vector is
    used only if the embedder would return it again.
    """

    @property
    def name(self) -> str:
        """Return the name that reports show."""
        ...

    @property
    def dimension(self) -> int:
        """Return the length of a row."""
        ...

    @property
    def max_tokens(self) -> int | None:
        """Return how many tokens of a text count, None if unknown."""
        ...

    @property
    def digest(self) -> str:
        """Return the identity of the weights and settings."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> "Vectors":
        """Return one row per text."""
        ...


@runtime_checkable
class SupportsTokenVectors(Protocol):
    """An embedder that also gives a vector for each token, for late interaction."""

    def token_vectors(self, texts: Sequence[str], kind: Kind = "document") -> "Sequence[Vectors]":
        """Return, for each text, one row of length 1 per token; no rows for an empty text."""
        ...


@runtime_checkable
class SupportsTooLong(Protocol):
    """An embedder that knows its tokens without embedding them."""

    def too_long(self, texts: Sequence[str]) -> Sequence[bool]:
        """Return for each text whether some of it is past ``max_tokens``."""
        ...


@runtime_checkable
class SupportsManyTexts(Protocol):
    """An embedder that works on many texts at a time, such as one with several connections."""

    texts_at_once: int


@runtime_checkable
class SupportsUsage(Protocol):
    """An embedder that counts what it has posted, and its cost."""

    @property
    def usage(self) -> "Usage":
        """Return the usage so far."""
        ...


@runtime_checkable
class SupportsCheck(Protocol):
    """A factory of models that can check its argument without loading or connecting anything."""

    def check(self, argument: str) -> None:
        """Raise InputError for an argument that cannot work, such as one whose key is missing."""
        ...
