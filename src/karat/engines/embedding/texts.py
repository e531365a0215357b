"""Shared by all embedders: skip empty texts, embed equal texts once, scale rows to length 1."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError

__all__ = ["embed_distinct", "embeddable", "unit"]

Vectors = NDArray[np.float32]


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
        vectors = embed(distinct)
        number_of = {text: number for number, text in enumerate(distinct)}
        filled = [number for number, text in enumerate(cleaned) if text in number_of]
        rows[filled] = vectors[[number_of[cleaned[number]] for number in filled]]
    return rows
