"""The chunker ``window``: the same number of words or characters each time."""

import re
from bisect import bisect_right
from dataclasses import dataclass

from karat.corpus.chunk import Piece, Split
from karat.corpus.parameters import require_below, spec_of
from karat.errors import InputError
from karat.model.spec import Spec

__all__ = ["Window"]

# What most tokenisers keep whole or cut a little: a word, or one sign.
_WORD = re.compile(r"\w+|[^\w\s]")
_CHARACTER = re.compile(r"\S")
_UNITS = {"words": _WORD, "characters": _CHARACTER}


@dataclass(frozen=True, slots=True)
class Window:
    """Windows of *size* units, each repeating the last *overlap* units of the one before.

    A unit is a word or a sign (``words``, about as many as tokens), or a character that is not
    white (``characters``). A window may begin and end within a line, so that one long line is cut
    as well; its lines are those that it touches.

    >>> [p.text for p in Window(size=4, overlap=1).split("one two, three four five", "").pieces]
    ['one two, three', 'three four five']
    """

    size: int = 256
    overlap: int = 32
    unit: str = "words"

    def __post_init__(self) -> None:
        require_below("window", size=self.size, overlap=self.overlap)
        if self.unit not in _UNITS:
            raise InputError(f"chunker 'window': unit is {self.unit!r}; expected words, characters")

    @property
    def spec(self) -> Spec:
        """Return the name and parameters."""
        return spec_of(self, "window")

    def split(self, text: str, language: str) -> Split:  # noqa: ARG002 - part of the protocol
        """Return the windows of *text*; the *language* does not matter."""
        spans = [found.span() for found in _UNITS[self.unit].finditer(text)]
        if not spans:
            return Split([])
        line_starts = [0, *(found.end() for found in re.finditer("\n", text))]
        pieces = []
        for first in range(0, max(len(spans) - self.overlap, 1), self.size - self.overlap):
            start = spans[first][0]
            end = spans[min(first + self.size, len(spans)) - 1][1]
            first_line = bisect_right(line_starts, start)
            last_line = bisect_right(line_starts, end - 1)
            pieces.append(Piece(first_line, last_line, text[start:end]))
        return Split(pieces)
