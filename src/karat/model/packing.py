"""Hits of an answer packed as bytes: columns that are fast to write and decoded on demand."""

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import overload

from karat.model.run import Hit

__all__ = ["PackedHits", "packed"]

HEAD = struct.Struct("<BII")
# The width of an integer in bytes, and its struct format.
WIDTHS = {2: "h", 4: "i"}
# Builds a hit from all its fields; calling the class would dominate the time.
HIT: Callable[[tuple[object, ...]], Hit] = partial(tuple.__new__, Hit)


def packed(hits: Sequence[Hit]) -> bytes:
    """Return *hits* as bytes; decoding restores them bit for bit.

    After the head (width of integers, hits, distinct paths) come the scores, then first lines, last
    lines, tokens, path indexes, the lengths of the distinct paths and of the symbols in characters,
    and all of their text. There is no compression: it would take longer than many searches.

    >>> PackedHits(packed([Hit("a.py", 0.5, 3, 9, "login"), Hit("a.py")]))[0]
    Hit(path='a.py', score=0.5, start_line=3, end_line=9, symbol='login', tokens=-1)
    """
    if isinstance(hits, PackedHits):
        return hits.data
    if not hits:
        return HEAD.pack(2, 0, 0)
    paths, scores, starts, ends, symbols, tokens = zip(*hits, strict=True)
    distinct: dict[str, int] = {}
    which = [distinct.setdefault(path, len(distinct)) for path in paths]
    texts = [*distinct, *symbols]
    values = (*scores, *starts, *ends, *tokens, *which, *map(len, texts))
    counts = len(paths), len(distinct)
    try:
        numbers = _numbers(2, *counts).pack(2, *counts, *values)
    except struct.error:
        numbers = _numbers(4, *counts).pack(4, *counts, *values)
    return numbers + "".join(texts).encode("utf-8", "surrogatepass")


def _numbers(width: int, hits: int, distinct: int) -> struct.Struct:
    """Return the struct format of the head and all numbers."""
    return struct.Struct(f"{HEAD.format}{hits}d{5 * hits + distinct}{WIDTHS[width]}")


class PackedHits(Sequence[Hit]):
    """Hits as :func:`packed` wrote them; every access decodes them again, except their number.

    Code that only copies them to a file need not decode.
    """

    __slots__ = ("data",)
    # Hashing would decode all hits, each time.
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: bytes) -> None:
        """Store *data* without decoding."""
        self.data = data

    def __len__(self) -> int:
        """Return the number of hits."""
        count: int = HEAD.unpack_from(self.data)[1]
        return count

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._read())

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, place: int | slice) -> Hit | tuple[Hit, ...]:
        return self._read()[place]

    def __eq__(self, other: object) -> bool:
        # As bytes first, so that identical NaN scores are equal.
        if isinstance(other, PackedHits) and self.data == other.data:
            return True
        return isinstance(other, Sequence) and self._read() == tuple(other)

    def __repr__(self) -> str:
        return repr(self._read())

    def _read(self) -> tuple[Hit, ...]:
        width, count, distinct = HEAD.unpack_from(self.data)
        if not count:
            return ()
        form = _numbers(width, count, distinct)
        numbers = form.unpack_from(self.data)[3:]
        scores, starts, ends, tokens, which = (
            numbers[start : start + count] for start in range(0, 5 * count, count)
        )
        text = self.data[form.size :].decode("utf-8", "surrogatepass")
        cuts = accumulate(numbers[5 * count :], initial=0)
        texts = [text[start:end] for start, end in pairwise(cuts)]
        paths, symbols = map(texts.__getitem__, which), texts[distinct:]
        return tuple(map(HIT, zip(paths, scores, starts, ends, symbols, tokens, strict=True)))
