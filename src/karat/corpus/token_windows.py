"""Windows of as many tokens as a model counts in them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from karat.corpus.tokenizers import Span, Tokenizer

__all__ = ["token_windows"]


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
        # One that ends no later than the one before it says nothing new.
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
