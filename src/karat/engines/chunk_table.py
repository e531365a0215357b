"""The chunks of a corpus as rows that stages score and hits are made from."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Chunk, Corpus, Document, Trait, header
from karat.model import Hit

__all__ = ["ChunkLocation", "ChunkTable", "Cutter", "Numbers", "RowNumbers", "SnapshotRows"]


@dataclass(frozen=True, slots=True)
class ChunkLocation:
    """One chunk at one path."""

    path: str
    chunk: Chunk
    traits: Trait

    @property
    def header(self) -> str:
        """Return the path, the scope and the symbols, as text to index."""
        return header(self.chunk, self.path)

    @property
    def preamble(self) -> str:
        """Return the header, and the context if there is one, as a model reads them."""
        return f"{self.header}\n{self.chunk.context}" if self.chunk.context else self.header

    @property
    def text(self) -> str:
        """Return the header, the context and the chunk, as a model reads them."""
        return f"{self.preamble}\n{self.chunk.text}"


class ChunkTable:
    """All chunks of a corpus in order; a row number names a chunk."""

    def __init__(self, by_document: Iterable[Sequence[ChunkLocation]]) -> None:
        """Lay the chunks out, document by document."""
        blocks = list(by_document)
        self.rows: tuple[ChunkLocation, ...] = tuple(chain.from_iterable(blocks))
        self._sizes = [len(block) for block in blocks]

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self.rows)

    def __iter__(self) -> Iterator[ChunkLocation]:
        """Iterate over the chunks in order."""
        return iter(self.rows)

    @cached_property
    def files(self) -> NDArray[np.int32]:
        """Return the number of the file of each chunk."""
        return np.repeat(np.arange(len(self._sizes), dtype=np.int32), self._sizes)

    @cached_property
    def code(self) -> NDArray[np.bool_]:
        """Return for each chunk whether it is a piece of code."""
        return np.fromiter(
            (location.chunk.kind == "code" for location in self.rows), np.bool_, len(self)
        )

    def distinct(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return *rows* without those that lie on the same lines as one before them.

        A long line is cut into several chunks, which a hit cannot distinguish.
        """
        first: dict[tuple[str, int, int], int] = {}
        for row in rows.tolist():
            location = self.rows[row]
            first.setdefault(
                (location.path, location.chunk.start_line, location.chunk.end_line), row
            )
        return rows if len(first) == len(rows) else np.array(list(first.values()), np.intp)

    def hit(self, row: int, score: float) -> Hit:
        """Return the hit at *row*."""
        location = self.rows[row]
        chunk = location.chunk
        return Hit(
            location.path,
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


Numbers = NDArray[np.intp]
# Cuts documents of a corpus into chunks, those of each document together and in order.
Cutter = Callable[[Corpus, Sequence[Document]], Iterable[Sequence[Chunk]]]
# All that a score may depend on: path, traits; the chunk's id, kind, symbols and scope; and how
# many like it precede in the file.
Key = tuple[str, int, str, str, tuple[str, ...], tuple[str, ...], int]


class SnapshotRows(NamedTuple):
    """The chunks of a snapshot, the row of each, and one chunk for each row that is new."""

    chunks: ChunkTable
    rows: Numbers
    new: Sequence[ChunkLocation]


class Block(NamedTuple):
    """The chunks of one document, and the row of each."""

    document: Document
    locations: Sequence[ChunkLocation]
    rows: Sequence[int]


class RowNumbers:
    r"""Numbers every distinct chunk of all snapshots shown so far; a number never changes.

    Lines do not count: a chunk that moves within its file keeps its row. Two chunks of one
    snapshot never share a row, so that each counts in the statistics of that snapshot.

    >>> from karat.corpus import chunk_corpus, create_chunker, from_texts
    >>> def cut(corpus, documents):
    ...     part = Corpus("", tuple(documents), corpus.reader)
    ...     return chunk_corpus(part, create_chunker("lines", size=1)).by_document
    >>> rows = RowNumbers()
    >>> rows.show(from_texts({"a": "x", "b": "y"}), cut).rows.tolist()
    [0, 1]
    >>> later = rows.show(from_texts({"a": "z\nx", "b": "y"}), cut)
    >>> later.rows.tolist(), [location.chunk.text for location in later.new]
    ([2, 0, 1], ['z\n'])
    """

    def __init__(self) -> None:
        """Start with no rows."""
        self._numbers: dict[Key, int] = {}
        self._blocks: dict[str, Block] = {}

    def __len__(self) -> int:
        """Return the number of rows, those of earlier snapshots included."""
        return len(self._numbers)

    def show(self, corpus: Corpus, cut: Cutter) -> SnapshotRows:
        """Return the chunks of *corpus*; only documents that the last one lacked are cut."""
        unknown = [document for document in corpus if not self._knows(document)]
        new: list[ChunkLocation] = []
        for document, chunks in zip(unknown, cut(corpus, unknown), strict=True):
            self._blocks[document.path] = self._block(document, chunks, new)
        # Drop documents of earlier snapshots, or a long history would hold all its texts.
        self._blocks = {document.path: self._blocks[document.path] for document in corpus}
        blocks = self._blocks.values()
        table = ChunkTable(block.locations for block in blocks)
        numbers = chain.from_iterable(block.rows for block in blocks)
        return SnapshotRows(table, np.fromiter(numbers, np.intp, len(table)), new)

    def _knows(self, document: Document) -> bool:
        block = self._blocks.get(document.path)
        return block is not None and block.document == document

    def _block(
        self, document: Document, chunks: Sequence[Chunk], new: list[ChunkLocation]
    ) -> Block:
        seen: Counter[tuple[object, ...]] = Counter()
        locations: list[ChunkLocation] = []
        rows: list[int] = []
        for chunk in chunks:
            location = ChunkLocation(document.path, chunk, document.traits)
            alike = (chunk.id, chunk.kind, chunk.symbols, chunk.scope)
            key = (document.path, document.traits.value, *alike, seen[alike])
            seen[alike] += 1
            if key not in self._numbers:
                self._numbers[key] = len(self._numbers)
                new.append(location)
            locations.append(location)
            rows.append(self._numbers[key])
        return Block(document, tuple(locations), tuple(rows))
