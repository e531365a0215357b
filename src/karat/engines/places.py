"""The chunks of a corpus as rows that stages score and hits are made from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Chunk, Trait, header
from karat.model import Hit

__all__ = ["Place", "Places"]


@dataclass(frozen=True, slots=True)
class Place:
    """One chunk at one path."""

    path: str
    chunk: Chunk
    traits: Trait

    @property
    def header(self) -> str:
        """Return the path, the scope and the symbols, as text to index."""
        return header(self.chunk, self.path)

    @property
    def text(self) -> str:
        """Return the header and the chunk, as a model reads them."""
        return f"{self.header}\n{self.chunk.text}"


class Places:
    """All chunks of a corpus in order; a row number names a place."""

    def __init__(self, by_document: Iterable[Sequence[Place]]) -> None:
        """Lay the places out, document by document."""
        blocks = list(by_document)
        self.rows: tuple[Place, ...] = tuple(chain.from_iterable(blocks))
        self._sizes = [len(block) for block in blocks]

    def __len__(self) -> int:
        """Return the number of places."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Place]:
        """Iterate over the places in order."""
        return iter(self.rows)

    @cached_property
    def files(self) -> NDArray[np.int32]:
        """Return the number of the file of each place."""
        return np.repeat(np.arange(len(self._sizes), dtype=np.int32), self._sizes)

    @cached_property
    def code(self) -> NDArray[np.bool_]:
        """Return for each place whether it is a piece of code."""
        return np.fromiter((place.chunk.kind == "code" for place in self.rows), np.bool_, len(self))

    def distinct(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return *rows* without those that lie on the same lines as one before them.

        A long line is cut into several chunks, which a hit does not tell apart.
        """
        first: dict[tuple[str, int, int], int] = {}
        for row in rows.tolist():
            place = self.rows[row]
            first.setdefault((place.path, place.chunk.start_line, place.chunk.end_line), row)
        return rows if len(first) == len(rows) else np.array(list(first.values()), np.intp)

    def hit(self, row: int, score: float) -> Hit:
        """Return the hit at *row*."""
        place = self.rows[row]
        chunk = place.chunk
        return Hit(
            place.path,
            score,
            chunk.start_line,
            chunk.end_line,
            " ".join(chunk.symbols),
            tokens(chunk.text),
        )

    def hits(self, rows: Sequence[int], scores: Sequence[float]) -> list[Hit]:
        """Return the hits at *rows* with their *scores*."""
        return [self.hit(row, score) for row, score in zip(rows, scores, strict=True)]


def tokens(text: str) -> int:
    """Return about how many tokens a language model counts in *text*: four characters each.

    >>> tokens("def login(user):")
    4
    """
    return max(1, len(text) // 4)
