"""Rows that outlive a snapshot: a place that several snapshots share is indexed once."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Chunk, Corpus, Document
from karat.engines.places import Place, Places

__all__ = ["Cutter", "Numbers", "Rows", "Shown"]

Numbers = NDArray[np.intp]
# Cuts documents of a corpus into chunks, those of each document together and in order.
Cutter = Callable[[Corpus, Sequence[Document]], Iterable[Sequence[Chunk]]]
# All that a score may depend on: path, traits; the chunk's id, kind, symbols and scope; and how
# many like it precede in the file.
Key = tuple[str, int, str, str, tuple[str, ...], tuple[str, ...], int]


class Shown(NamedTuple):
    """The places of a snapshot, the row of each, and one place for each row that is new."""

    places: Places
    rows: Numbers
    new: Sequence[Place]


class Block(NamedTuple):
    """The places of one document, and the row of each."""

    document: Document
    places: Sequence[Place]
    rows: Sequence[int]


class Rows:
    r"""Numbers every distinct place of all snapshots shown so far; a number never changes.

    Lines do not count: a chunk that moves within its file keeps its row. Two places of one
    snapshot never share a row, so that each counts in the statistics of that snapshot.

    >>> from karat.corpus import chunk_corpus, create_chunker, from_texts
    >>> def cut(corpus, documents):
    ...     part = Corpus("", tuple(documents), corpus.reader)
    ...     return chunk_corpus(part, create_chunker("lines", size=1)).by_document
    >>> rows = Rows()
    >>> rows.show(from_texts({"a": "x", "b": "y"}), cut).rows.tolist()
    [0, 1]
    >>> later = rows.show(from_texts({"a": "z\nx", "b": "y"}), cut)
    >>> later.rows.tolist(), [place.chunk.text for place in later.new]
    ([2, 0, 1], ['z\n'])
    """

    def __init__(self) -> None:
        """Begin without a row."""
        self._numbers: dict[Key, int] = {}
        self._blocks: dict[str, Block] = {}

    def __len__(self) -> int:
        """Return the number of rows, those of earlier snapshots included."""
        return len(self._numbers)

    def show(self, corpus: Corpus, cut: Cutter) -> Shown:
        """Return the places of *corpus*; only documents that the last one lacked are cut."""
        unknown = [document for document in corpus if not self._knows(document)]
        new: list[Place] = []
        for document, chunks in zip(unknown, cut(corpus, unknown), strict=True):
            self._blocks[document.path] = self._block(document, chunks, new)
        # What is no longer shown is forgotten, or a long history would hold all its texts.
        self._blocks = {document.path: self._blocks[document.path] for document in corpus}
        blocks = self._blocks.values()
        places = Places(block.places for block in blocks)
        numbers = chain.from_iterable(block.rows for block in blocks)
        return Shown(places, np.fromiter(numbers, np.intp, len(places)), new)

    def _knows(self, document: Document) -> bool:
        block = self._blocks.get(document.path)
        return block is not None and block.document == document

    def _block(self, document: Document, chunks: Sequence[Chunk], new: list[Place]) -> Block:
        seen: Counter[tuple[object, ...]] = Counter()
        places: list[Place] = []
        rows: list[int] = []
        for chunk in chunks:
            place = Place(document.path, chunk, document.traits)
            alike = (chunk.id, chunk.kind, chunk.symbols, chunk.scope)
            key = (document.path, document.traits.value, *alike, seen[alike])
            seen[alike] += 1
            if key not in self._numbers:
                self._numbers[key] = len(self._numbers)
                new.append(place)
            places.append(place)
            rows.append(self._numbers[key])
        return Block(document, tuple(places), tuple(rows))
