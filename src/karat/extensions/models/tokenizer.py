"""The tokenizer.json of a model."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from karat.engines.embedding.texts import embeddable
from karat.errors import InputError, MissingExtra

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
