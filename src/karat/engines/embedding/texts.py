"""Shared by all embedders: skip empty texts, embed equal texts once, scale rows to length 1."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, MissingExtra

__all__ = ["ModelTokenizer", "embed_distinct", "embeddable", "unit"]

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
        raise InputError(f"texts is a string, {texts[:40]!r}; expected a list of texts")
    cleaned = [embeddable(text) for text in texts]
    distinct = list(dict.fromkeys(text for text in cleaned if text.strip()))
    rows = np.zeros((len(cleaned), dimension), dtype=np.float32)
    if distinct:
        vectors = embed(distinct)
        number_of = {text: number for number, text in enumerate(distinct)}
        filled = [number for number, text in enumerate(cleaned) if text in number_of]
        rows[filled] = vectors[[number_of[cleaned[number]] for number in filled]]
    return rows


# No token of these vocabularies is longer on average; more text than this is never looked at.
MOST_CHARACTERS_A_TOKEN = 64


class ModelTokenizer:
    """A tokenizer.json, cut at *max_tokens* including the special ones; nothing is padded."""

    def __init__(
        self, description: str, *, max_tokens: int | None, special: bool = True, where: str
    ) -> None:
        """Read the JSON *description*; *where* is named when it cannot be read."""
        try:
            import tokenizers
        except ImportError:
            raise MissingExtra(
                "tokenizers", extra="dense", purpose="dense or hybrid search"
            ) from None
        try:
            self._tokenizer = tokenizers.Tokenizer.from_str(description)
        except Exception as error:  # it raises no narrower class
            raise InputError(f"{where}: cannot read the tokenizer: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.digest = sha256(description.encode()).hexdigest()
        self._special = special
        self._most = max_tokens
        if max_tokens is not None:
            self._tokenizer.enable_truncation(max_tokens)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token numbers of each text."""
        return [encoding.ids for encoding in self._encoded([self._cut(text) for text in texts])]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the characters of each token, from first to past the last, special ones absent."""
        encoding = self._tokenizer.encode(embeddable(text), add_special_tokens=False)
        offsets: list[tuple[int, int]] = encoding.offsets
        return offsets

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        """Return for each text whether the model reads only its beginning."""
        cut = [self._cut(text) for text in texts]
        return [
            len(short) < len(text) or bool(encoding.overflowing)
            for text, short, encoding in zip(texts, cut, self._encoded(cut), strict=True)
        ]

    def encode_pairs(self, first: str, seconds: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """Return, for *first* with each of *seconds*, the token numbers and which text each is of.

        Too long a pair loses tokens at the end of the longer text.
        """
        pairs = [(self._cut(first), self._cut(second)) for second in seconds]
        return [(encoding.ids, encoding.type_ids) for encoding in self._encoded(pairs)]

    def _cut(self, text: str) -> str:
        return text if self._most is None else text[: self._most * MOST_CHARACTERS_A_TOKEN]

    def _encoded(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> Sequence[Any]:
        encode = self._tokenizer.encode_batch_fast
        encodings: Sequence[Any] = encode(list(texts), add_special_tokens=self._special)
        return encodings

    def tokens(self) -> list[str]:
        """Return the vocabulary, in the order of its numbers; a gap is an empty text."""
        vocabulary = self._tokenizer.get_vocab(with_added_tokens=True)
        named = [""] * (max(vocabulary.values(), default=-1) + 1)
        for token, number in vocabulary.items():
            named[number] = token
        return named

    def number(self, token: str) -> int | None:
        """Return the number of *token*, None where the vocabulary lacks it."""
        token_id: int | None = self._tokenizer.token_to_id(token)
        return token_id
