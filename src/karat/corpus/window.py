"""The chunker ``window``: the same number of words, characters or tokens each time."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from karat.corpus.chunk import Piece, Split
from karat.corpus.parameters import require_below, spec_of
from karat.corpus.token_windows import token_windows
from karat.corpus.tokenizers import DEFAULT_TOKENIZER, Span, Tokenizer, create_tokenizer
from karat.errors import InputError
from karat.model.spec import Spec

__all__ = ["Window"]

# What most tokenisers keep whole or cut a little: a word, or one sign.
_WORD = re.compile(r"\w+|[^\w\s]")
_CHARACTER = re.compile(r"\S")
_UNITS = {"words": _WORD, "characters": _CHARACTER}
OVERLAP = 32


@dataclass(frozen=True, slots=True)
class Window:
    """Windows of *size* units, each repeating the last *overlap* units of the one before.

    Where nobody says how many, that is 32, and half of a size that is less than twice as large.
    A unit is a word or a sign (``words``, about as many as tokens), a character that is not white
    (``characters``), or what a model reads as one (``tokens``), of the *tokenizer* that is named,
    else of the default embedder's; special tokens do not count. A window may begin and end within
    a line, so that one long line is cut as well; its lines are those that it touches.

    >>> [p.text for p in Window(size=4, overlap=1).split("one two, three four five", "").pieces]
    ['one two, three', 'three four five']
    """

    size: int = 256
    overlap: int | None = None
    unit: str = "words"
    tokenizer: str = ""

    def __post_init__(self) -> None:
        require_below("window", size=self.size, overlap=0 if self.overlap is None else self.overlap)
        if self.unit == "tokens":
            self._tokens()
            return
        if self.unit not in _UNITS:
            units = ", ".join((*_UNITS, "tokens"))
            raise InputError(f"chunker 'window': unit is {self.unit!r}; expected {units}")
        if self.tokenizer:
            raise InputError(
                f"chunker 'window': tokenizer {self.tokenizer!r} counts no {self.unit}; expected "
                "it with unit=tokens"
            )

    @property
    def spec(self) -> Spec:
        """Return the name and parameters, with the hash of the tokenizer."""
        own = spec_of(self, "window")
        params = {**own.params, "overlap": self._repeated}
        if self.unit == "tokens":
            params["tokens"] = self._tokens().digest
        return Spec(own.kind, own.name, params)

    def split(self, text: str, language: str) -> Split:  # noqa: ARG002 - part of the protocol
        """Return the windows of *text*; the *language* does not matter."""
        line_starts = [0, *(found.end() for found in re.finditer("\n", text))]
        return Split(
            [
                Piece(
                    bisect_right(line_starts, start),
                    bisect_right(line_starts, end - 1),
                    text[start:end],
                )
                for start, end in self._windows(text)
            ]
        )

    def _windows(self, text: str) -> Iterator[Span]:
        if self.unit == "tokens":
            yield from token_windows(text, self._tokens(), size=self.size, overlap=self._repeated)
            return
        spans = [found.span() for found in _UNITS[self.unit].finditer(text)]
        firsts = range(0, max(len(spans) - self._repeated, 1), self.size - self._repeated)
        for first in firsts if spans else ():
            yield spans[first][0], spans[min(first + self.size, len(spans)) - 1][1]

    @property
    def _repeated(self) -> int:
        return min(OVERLAP, self.size // 2) if self.overlap is None else self.overlap

    def _tokens(self) -> Tokenizer:
        return create_tokenizer(self.tokenizer or DEFAULT_TOKENIZER)
