"""What turns texts into vectors, and the law that every embedder keeps."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError

__all__ = [
    "Embedder",
    "Kind",
    "SupportsTokenVectors",
    "SupportsTooLong",
    "embed_distinct",
    "embeddable",
    "unit",
]

Vectors = NDArray[np.float32]

Kind = Literal["document", "query"]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors whose inner product says how alike the texts are.

    The law, which ``karat.testing.embedding`` checks:

    - one float32 row a text, in order, of length 1; no texts give no rows;
    - a text without anything to embed, such as blanks, gives a row of zeros;
    - any text will do: what is past ``max_tokens`` is not looked at;
    - a row depends on its text and *kind* only, not on the texts beside it; that of a query is the
      same bit for bit.

    ``digest`` names the weights and every setting that changes a vector, so that a stored vector
    is used only where it would come out again.
    """

    @property
    def name(self) -> str:
        """Return what a report calls it."""
        ...

    @property
    def dimension(self) -> int:
        """Return the length of a row."""
        ...

    @property
    def max_tokens(self) -> int | None:
        """Return how many tokens of a text count, None where nobody says."""
        ...

    @property
    def digest(self) -> str:
        """Return the identity of the weights and settings."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> "Vectors":
        """Return one row a text."""
        ...


@runtime_checkable
class SupportsTokenVectors(Protocol):
    """An embedder that also gives a vector for each token, for late interaction."""

    def token_vectors(self, texts: Sequence[str], kind: Kind = "document") -> "Sequence[Vectors]":
        """Return, for each text, one row of length 1 a token; no rows for an empty text."""
        ...


@runtime_checkable
class SupportsTooLong(Protocol):
    """An embedder that knows its tokens without embedding them."""

    def too_long(self, texts: Sequence[str]) -> Sequence[bool]:
        """Return for each text whether some of it is past ``max_tokens``."""
        ...


def embeddable(text: str) -> str:
    r"""Return *text* as UTF-8 can hold it; half of a surrogate pair becomes a question mark.

    >>> embeddable("naïve 🙂"), embeddable("half \ud83d")
    ('naïve 🙂', 'half ?')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def unit(rows: NDArray[np.floating]) -> Vectors:
    """Return *rows* at length 1; a row of zeros has no direction and stays.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def embed_distinct(
    texts: Sequence[str], dimension: int, embed: Callable[[list[str]], Vectors]
) -> Vectors:
    """Return a row for each of *texts*; *embed* sees each distinct text that is not blank, once."""
    if isinstance(texts, str):
        raise InputError(f"texts is one text, {texts[:40]!r}; expected a list of texts")
    cleaned = [embeddable(text) for text in texts]
    distinct = list(dict.fromkeys(text for text in cleaned if text.strip()))
    rows = np.zeros((len(cleaned), dimension), dtype=np.float32)
    if distinct:
        found = embed(distinct)
        place = {text: number for number, text in enumerate(distinct)}
        filled = [number for number, text in enumerate(cleaned) if text in place]
        rows[filled] = found[[place[cleaned[number]] for number in filled]]
    return rows
