"""The hits of an answer as bytes: columns that are quick to write, and read only when wanted."""

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import overload

from karat.model.run import Hit

__all__ = ["PackedHits", "packed"]

HEAD = struct.Struct("<BII")
# How many bytes a whole number takes, and how it is written.
WIDTHS = {2: "h", 4: "i"}
# A hit of all its fields; calling the class would take longer than all the rest.
HIT: Callable[[tuple[object, ...]], Hit] = partial(tuple.__new__, Hit)


def packed(hits: Sequence[Hit]) -> bytes:
    """Return *hits* as bytes, bit for bit the same when they are read again.

    After the head (width of whole numbers, hits, distinct paths) come the scores, then first lines,
    last lines, tokens, which of the paths, the lengths of the distinct paths and of the symbols in
    characters, and all of their text. Nothing is compressed: that would take longer than many a
    search.

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
    """Return how the head and all numbers are written."""
    return struct.Struct(f"{HEAD.format}{hits}d{5 * hits + distinct}{WIDTHS[width]}")


class PackedHits(Sequence[Hit]):
    """Hits as :func:`packed` wrote them; each look at them reads them anew, only not their number.

    What passes them on to a file need not look.
    """

    __slots__ = ("data",)
    # Hashing would decode all hits, each time.
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: bytes) -> None:
        """Keep *data* as it is."""
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
        # As bytes first: two scores that are not a number differ, even where they are the same.
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
