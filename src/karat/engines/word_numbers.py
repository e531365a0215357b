"""Words by number and numbers by word, as columns instead of Python objects."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from karat.engines.column_files import Columns

__all__ = ["WordNumbers", "word_columns"]


def word_columns(words: Iterable[str]) -> Columns:
    """Return the columns of a :class:`WordNumbers` of distinct *words*, numbered from 0."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    ends = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=ends[1:])
    order = sorted(range(len(encoded)), key=encoded.__getitem__)
    return {
        "text": np.frombuffer(b"".join(encoded), np.uint8),
        "ends": ends,
        "order": np.array(order, np.int32),
    }


class WordNumbers(Mapping[str, int]):
    """The numbers of words, found by binary search; it iterates in the order of the numbers.

    >>> table = WordNumbers(word_columns(["user", "name", "été"]))
    >>> table["name"], table.word(2), table.get("users"), list(table)
    (1, 'été', None, ['user', 'name', 'été'])
    """

    def __init__(self, columns: Columns) -> None:
        """Look at *columns*, which may be mapped."""
        # Memory views return plain numbers and bytes, faster than arrays do.
        self._text, self._ends, self._order = (
            columns[name].data for name in ("text", "ends", "order")
        )

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, word: str) -> int:
        wanted = word.encode("utf-8", "surrogatepass")
        place = bisect_left(self._order, wanted, key=self._bytes)
        if place < len(self) and self._bytes(number := self._order[place]) == wanted:
            return number
        raise KeyError(word)

    def __iter__(self) -> Iterator[str]:
        return map(self.word, range(len(self)))

    def word(self, number: int) -> str:
        """Return the word with this number."""
        return self._bytes(number).decode("utf-8", "surrogatepass")

    def _bytes(self, number: int) -> bytes:
        return bytes(self._text[self._ends[number] : self._ends[number + 1]])
