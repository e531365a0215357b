"""The chunker ``window``: the same number of words, characters or tokens each time."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from karat.corpus.chunkers.base import (
    Piece,
    SplitResult,
    lines_of,
    piece_of,
    require_below,
    spec_of,
)
from karat.errors import InputError, MissingExtra
from karat.model.spec import Spec
from karat.registry import Registry

Span = tuple[int, int]


class Tokenizer(Protocol):
    """Finds the tokens of a text.

    The contract: equal texts have equal tokens, in the order of the text. Tokens need not cover
    the text; several may share a character, and one may have none. ``digest`` identifies all that
    they depend on.
    """

    @property
    def digest(self) -> str:
        """Return the identity of the vocabulary and settings."""
        ...

    def spans(self, text: str) -> Sequence[Span]:
        """Return the characters of each token, from first to past the last, special ones absent."""
        ...


# The tokenizer of the default embedder.
DEFAULT_TOKENIZER = "granite"

# Embedding models bring them.
TOKENIZERS: Registry[Callable[[str], Tokenizer]] = Registry("tokenizer", {}, closed=True)


def create_tokenizer(spec: str = DEFAULT_TOKENIZER) -> Tokenizer:
    """Return the tokenizer that *spec* describes: a name, and an argument after a colon.

    ``granite``, ``minilm``, ``file:<tokenizer.json or its folder>``, or that of an
    extension.
    """
    factory, argument = TOKENIZERS.split(spec)
    try:
        return factory(argument)
    except MissingExtra as error:
        package = error.name or "tokenizers"
        raise MissingExtra(package, extra="dense", purpose="counting a model's tokens") from None


def token_windows(text: str, tokenizer: Tokenizer, *, size: int, overlap: int) -> Iterator[Span]:
    """Yield where the windows of *text* begin and end, without blanks around them.

    Each has at most *size* tokens when it is counted by itself: a word that is cut, or has lost
    the blank before it, may be read as more tokens than in the whole text. Only a window of one
    token there may be read as more than *size*. The next one repeats up to *overlap* tokens.
    """
    starts, before = _cuts(text, tokenizer.spans(text))
    first, reached, last = 0, 0, len(starts) - 1
    while reached < last:
        end = max(bisect_right(before, before[first] + size) - 1, first + 1)
        window = _trimmed(text, starts[first], starts[end])
        while end > first + 1 and (excess := _count(text, window, tokenizer) - size) > 0:
            end = max(bisect_right(before, before[end] - excess) - 1, first + 1)
            window = _trimmed(text, starts[first], starts[end])
        # Skip a window that ends no later than the one before it.
        if end > reached:
            yield window
            reached = end
        first = max(bisect_left(before, before[end] - overlap), first + 1)


def _cuts(text: str, spans: Sequence[Span]) -> tuple[list[int], list[int]]:
    """Return where a window may begin or end, and how many tokens stand before that.

    A window begins with a token that is not blank, and at a character of its own. What belongs to
    no token, as a sign that the model does not know, stays with the token before it.
    """
    starts: list[int] = []
    before: list[int] = []
    for number, (start, end) in enumerate(spans):
        if text[start:end].strip() and (not starts or start > starts[-1]):
            starts.append(start)
            before.append(number)
    if not starts:
        return ([0, len(text)], [0, len(spans)]) if text.strip() else ([], [])
    return [0, *starts[1:], len(text)], [*before, len(spans)]


def _trimmed(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


def _count(text: str, window: Span, tokenizer: Tokenizer) -> int:
    return len(tokenizer.spans(text[slice(*window)]))


# Units that most tokenizers keep whole or split a little: a word, or one punctuation mark.
_WORD = re.compile(r"\w+|[^\w\s]")
_CHARACTER = re.compile(r"\S")
_UNITS = {"words": _WORD, "characters": _CHARACTER}
OVERLAP = 32


@dataclass(frozen=True, slots=True)
class Window:
    """Windows of *size* units, each repeating the last *overlap* units of the one before.

    The default overlap is 32, or half of *size* if that is less. A unit is a word or a sign
    (``words``, about as many as tokens), a character that is not white (``characters``), or what a
    model reads as one (``tokens``), of the *tokenizer* that is named, else of the default
    embedder's; special tokens do not count. A window may begin and end within a line, so that one
    long line is cut as well; its lines are those that it touches.

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
                f"chunker 'window': tokenizer {self.tokenizer!r} needs unit=tokens, "
                f"not unit={self.unit}"
            )

    @property
    def spec(self) -> Spec:
        """Return the name and parameters, with the hash of the tokenizer."""
        own = spec_of(self, "window")
        params = {**own.params, "overlap": self._repeated}
        if self.unit == "tokens":
            params["tokens"] = self._tokens().digest
        return Spec(own.kind, own.name, params)

    def split(self, text: str, language: str) -> SplitResult:  # noqa: ARG002 - part of the protocol
        """Return the windows of *text*; the *language* does not matter."""
        line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        return SplitResult(
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
        spans = [match.span() for match in _UNITS[self.unit].finditer(text)]
        firsts = range(0, max(len(spans) - self._repeated, 1), self.size - self._repeated)
        for first in firsts if spans else ():
            yield spans[first][0], spans[min(first + self.size, len(spans)) - 1][1]

    @property
    def _repeated(self) -> int:
        return min(OVERLAP, self.size // 2) if self.overlap is None else self.overlap

    def _tokens(self) -> Tokenizer:
        return create_tokenizer(self.tokenizer or DEFAULT_TOKENIZER)


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

    def split(self, text: str, language: str) -> SplitResult:  # noqa: ARG002 - part of the protocol
        """Return the pieces of *text*; the *language* does not matter."""
        lines = lines_of(text)
        step = self.size - self.overlap
        # The last piece ends with the text; one that only repeated its end would say nothing new.
        starts = range(0, max(len(lines) - self.overlap, 1), step)
        ranges = ((first, min(first + self.size, len(lines)) - 1) for first in starts)
        pieces = (piece_of(lines, first, last) for first, last in ranges)
        return SplitResult([piece for piece in pieces if piece])
