"""The chunker ``lines``: the same number of lines each time."""

from dataclasses import dataclass

from karat.corpus.chunk import Split
from karat.corpus.parameters import require_below, spec_of
from karat.corpus.pieces import piece_of
from karat.corpus.text_lines import lines_of
from karat.model.spec import Spec

__all__ = ["Lines"]


@dataclass(frozen=True, slots=True)
class Lines:
    r"""Pieces of *size* lines; each repeats the last *overlap* lines of the one before.

    Blank lines around a piece are left out.

    >>> split = Lines(size=3, overlap=1).split("a\nb\nc\nd", "")
    >>> [(piece.start_line, piece.end_line) for piece in split.pieces]
    [(1, 3), (3, 4)]
    """

    size: int = 40
    overlap: int = 0

    def __post_init__(self) -> None:
        require_below("lines", size=self.size, overlap=self.overlap)

    @property
    def spec(self) -> Spec:
        """Return the name and parameters."""
        return spec_of(self, "lines")

    def split(self, text: str, language: str) -> Split:  # noqa: ARG002 - part of the protocol
        """Return the pieces of *text*; the *language* does not matter."""
        lines = lines_of(text)
        step = self.size - self.overlap
        # The last piece ends with the text; one that only repeated its end would say nothing new.
        starts = range(0, max(len(lines) - self.overlap, 1), step)
        ranges = ((first, min(first + self.size, len(lines)) - 1) for first in starts)
        pieces = (piece_of(lines, first, last) for first, last in ranges)
        return Split([piece for piece in pieces if piece])
