"""The chunks of a corpus as rows that stages score and hits are made from."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Chunk, Corpus, Document, Trait, header
from karat.engines.columns import Columns, WordNumbers, prefixed, without_prefix, word_columns
from karat.engines.hit_tokens import tokens
from karat.model import Hit


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


Numbers = NDArray[np.intp]
# Cuts documents of a corpus into chunks, those of each document together and in order.
Cutter = Callable[[Corpus, Sequence[Document]], Iterable[Sequence[Chunk]]]
# Receives the chunks of further rows, some at a time; it is the only one that sees their texts.
Grower = Callable[[Sequence[ChunkLocation]], None]

# All that a score may depend on: path, traits; the chunk's id, kind, symbols and scope; and how
# many like it precede in the file.
Key = tuple[str, int, str, str, tuple[str, ...], tuple[str, ...], int]
# As long as the id of a chunk, which is in it: two that differ do not agree by chance.
DIGEST_BYTES = 16
# Chunks that are in memory with their texts at a time.
ROWS_AT_ONCE = 4096


# The columns of facts with their types.
FACT_KINDS = {"symbol": "i", "tokens": "i", "is_code": "b"}


class ChunkFacts:
    """Fields of hits besides path and lines, for all rows of an index."""

    def __init__(self, columns: Columns | None = None) -> None:
        """Start with no rows, or with a copy of *columns*."""
        stored = columns or {}
        self._names = list(WordNumbers(without_prefix(stored, "symbols"))) if columns else []
        self._symbols = {symbols: number for number, symbols in enumerate(self._names)}
        self._symbol, self._tokens, self._is_code = (
            array(kind, stored[name].tobytes() if columns else b"")
            for name, kind in FACT_KINDS.items()
        )

    def add(self, chunk: Chunk) -> None:
        """Append a row."""
        symbols = " ".join(chunk.symbols)
        number = self._symbols.setdefault(symbols, len(self._names))
        if number == len(self._names):
            self._names.append(symbols)
        self._symbol.append(number)
        self._tokens.append(tokens(chunk.text))
        self._is_code.append(chunk.kind == "code")

    def symbols(self, row: int) -> str:
        """Return the names that the chunk defines."""
        return self._names[self._symbol[row]]

    def tokens(self, row: int) -> int:
        """Return about how many tokens the chunk has."""
        return self._tokens[row]

    def code(self, rows: Numbers) -> NDArray[np.bool_]:
        """Return for each of *rows* whether it is a piece of code."""
        # A copy: a view would keep the array from growing.
        is_code: NDArray[np.bool_] = np.frombuffer(self._is_code, np.bool_)[rows]
        return is_code

    def columns(self) -> Columns:
        """Return all rows as columns."""
        arrays = zip(FACT_KINDS.items(), (self._symbol, self._tokens, self._is_code), strict=True)
        return {
            **{name: np.array(column, kind) for (name, kind), column in arrays},
            **prefixed("symbols", word_columns(self._names)),
        }


class MappedFacts:
    """The facts of rows whose columns are mapped."""

    def __init__(self, columns: Columns) -> None:
        """Look at *columns*, those of :class:`ChunkFacts`."""
        self.columns = columns
        self._names = WordNumbers(without_prefix(columns, "symbols"))

    def symbols(self, row: int) -> str:
        """Return the names that the chunk defines."""
        return self._names.word(int(self.columns["symbol"][row]))

    def tokens(self, row: int) -> int:
        """Return about how many tokens the chunk has."""
        return int(self.columns["tokens"][row])

    def code(self, rows: Numbers) -> NDArray[np.bool_]:
        """Return for each of *rows* whether it is a piece of code."""
        return self.columns["is_code"][rows].astype(np.bool_)


class Layout(NamedTuple):
    """The chunks of a snapshot in order: the row of each, and its lines.

    Those of document *n* are from ``begins[n]`` up to ``begins[n + 1]``.
    """

    rows: Numbers
    start_lines: NDArray[np.int32]
    end_lines: NDArray[np.int32]
    begins: NDArray[np.int64]


class ChunkTable:
    """All chunks of a corpus in order; a position names a chunk. It holds no text."""

    def __init__(
        self, documents: Sequence[Document], layout: Layout, facts: ChunkFacts | MappedFacts
    ) -> None:
        """Store the columns."""
        self._documents = documents
        self._layout = layout
        self._facts = facts
        sizes = np.diff(layout.begins)
        self.files: NDArray[np.int32] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        self.code = facts.code(layout.rows)

    @classmethod
    def of(cls, documents: Sequence[Document], by_document: Iterable[Sequence[Chunk]]) -> Self:
        """Return the chunks of *documents*, which are given with their texts."""
        facts = ChunkFacts()
        block = _Block()
        for chunks in by_document:
            for chunk in chunks:
                block.add(len(block), chunk)
                facts.add(chunk)
            block.end()
        return cls(documents, block.layout(), facts)

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self._layout.rows)

    def distinct(self, positions: Numbers) -> Numbers:
        """Return *positions* without those on the same lines as an earlier one.

        A long line is cut into several chunks, which a hit cannot distinguish.
        """
        lines = (self.files, self._layout.start_lines, self._layout.end_lines)
        first: dict[tuple[int, ...], int] = {}
        for position, *where in zip(
            positions.tolist(), *(column[positions].tolist() for column in lines), strict=True
        ):
            first.setdefault(tuple(where), position)
        if len(first) == len(positions):
            return positions
        return np.array(list(first.values()), np.intp)

    def hit(self, position: int, score: float) -> Hit:
        """Return the hit at *position*."""
        row = int(self._layout.rows[position])
        return Hit(
            self._documents[int(self.files[position])].path,
            score,
            int(self._layout.start_lines[position]),
            int(self._layout.end_lines[position]),
            self._facts.symbols(row),
            self._facts.tokens(row),
        )

    def hits(self, positions: Sequence[int], scores: Sequence[float]) -> list[Hit]:
        """Return the hits at *positions* with their *scores*."""
        return [
            self.hit(position, score) for position, score in zip(positions, scores, strict=True)
        ]


class _Block:
    """The layout of documents that are being cut."""

    def __init__(self) -> None:
        self._rows = array("q")
        self._starts = array("i")
        self._ends = array("i")
        self._begins = array("q", [0])

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: int, chunk: Chunk) -> None:
        """Append a chunk of the current document."""
        self._rows.append(row)
        self._starts.append(chunk.start_line)
        self._ends.append(chunk.end_line)

    def end(self) -> None:
        """End the current document."""
        self._begins.append(len(self._rows))

    def layout(self) -> Layout:
        """Return the arrays."""
        return Layout(
            np.frombuffer(self._rows, np.int64).astype(np.intp, copy=False),
            np.frombuffer(self._starts, np.int32),
            np.frombuffer(self._ends, np.int32),
            np.frombuffer(self._begins, np.int64),
        )


class SnapshotRows(NamedTuple):
    """The chunks of a snapshot, and the row of each."""

    chunks: ChunkTable
    rows: Numbers


class RowNumbers:
    r"""Numbers every distinct chunk of all snapshots shown so far; a number never changes.

    Lines do not count: a chunk that moves within its file keeps its row. Two chunks of one
    snapshot never share a row, so that each counts in the statistics of that snapshot.

    >>> from karat.corpus import chunk_corpus, create_chunker, from_texts
    >>> def cut(corpus, documents):
    ...     part = Corpus("", tuple(documents), corpus.reader)
    ...     return chunk_corpus(part, create_chunker("lines", size=1)).by_document
    >>> rows, new = RowNumbers(), []
    >>> rows.show(from_texts({"a": "x", "b": "y"}), cut, new.extend).rows.tolist()
    [0, 1]
    >>> rows.show(from_texts({"a": "z\nx", "b": "y"}), cut, new.extend).rows.tolist()
    [2, 0, 1]
    >>> [location.chunk.text for location in new]
    ['x', 'y', 'z\n']
    """

    def __init__(self) -> None:
        """Start with no rows."""
        self._facts = ChunkFacts()
        # In place of these facts, until rows are added.
        self._mapped: MappedFacts | None = None
        self._length = 0
        # The digests of all rows; by digest, their numbers, once a second snapshot asks for them.
        self._digests = bytearray()
        self._numbers: dict[bytes, int] | None = None
        self._documents: Sequence[Document] = ()
        self._layout = _Block().layout()

    def __len__(self) -> int:
        """Return the number of rows, those of earlier snapshots included."""
        return self._length

    @classmethod
    def of(cls, columns: Columns, documents: Sequence[Document]) -> Self:
        """Return the rows of a first snapshot of *documents*, from :meth:`columns`."""
        rows = cls()
        rows._mapped = MappedFacts(without_prefix(columns, "facts"))
        rows._documents, rows._layout = documents, Layout(**without_prefix(columns, "layout"))  # type: ignore[arg-type]
        rows._length = len(rows._layout.rows)
        return rows

    def columns(self) -> Columns:
        """Return the rows of a first snapshot."""
        return {
            **prefixed("facts", self._facts.columns()),
            **prefixed("layout", self._layout._asdict()),
            "facts.digests": np.array(self._digests, np.uint8),
        }

    @property
    def current(self) -> SnapshotRows:
        """Return the snapshot that was shown last."""
        facts = self._mapped or self._facts
        return SnapshotRows(ChunkTable(self._documents, self._layout, facts), self._layout.rows)

    def _own(self) -> None:
        """Number the rows so far by their digests; mapped columns are copied, to grow."""
        if self._mapped is not None:
            columns = self._mapped.columns
            self._digests = bytearray(columns["digests"].tobytes())
            self._facts, self._mapped = ChunkFacts(columns), None
        self._numbers = _numbered(self._digests)
        self._digests.clear()

    def show(self, corpus: Corpus, cut: Cutter, grow: Grower) -> SnapshotRows:
        """Return the chunks of *corpus*; only documents that the last one lacked are cut.

        *grow* receives the chunks of new rows in the order of the rows.
        """
        if not len(self):
            unknown: Sequence[Document] = corpus.documents
            layout = self._cut(corpus, unknown, cut, grow)
        else:
            known = {one.path: number for number, one in enumerate(self._documents)}
            spans = np.full(len(corpus), -1, np.int64)
            unknown = []
            for index, document in enumerate(corpus):
                number = known.get(document.path)
                if number is not None and self._documents[number] == document:
                    spans[index] = number
                else:
                    unknown.append(document)
            if self._numbers is None:
                self._own()
            layout = _joined(self._layout, self._cut(corpus, unknown, cut, grow), spans)
        self._documents, self._layout = corpus.documents, layout
        return self.current

    def _cut(
        self, corpus: Corpus, documents: Sequence[Document], cut: Cutter, grow: Grower
    ) -> Layout:
        block = _Block()
        new: list[ChunkLocation] = []
        for document, chunks in zip(documents, cut(corpus, documents), strict=True):
            seen: Counter[tuple[object, ...]] = Counter()
            for chunk in chunks:
                alike = (chunk.id, chunk.kind, chunk.symbols, chunk.scope)
                row = self._row((document.path, document.traits.value, *alike, seen[alike]))
                seen[alike] += 1
                if row == self._length:
                    self._length += 1
                    self._facts.add(chunk)
                    new.append(ChunkLocation(document.path, chunk, document.traits))
                block.add(row, chunk)
            block.end()
            if len(new) >= ROWS_AT_ONCE:
                grow(new)
                new = []
        if new:
            grow(new)
        return block.layout()

    def _row(self, key: Key) -> int:
        """Return the row of *key*, the next one if it is new."""
        digest = blake2b(repr(key).encode(), digest_size=DIGEST_BYTES).digest()
        if self._numbers is not None:
            return self._numbers.setdefault(digest, self._length)
        # The keys of one snapshot are all different.
        self._digests += digest
        return self._length


def _numbered(digests: bytearray) -> dict[bytes, int]:
    """Return the number of each of *digests*."""
    starts = range(0, len(digests), DIGEST_BYTES)
    return {bytes(digests[start : start + DIGEST_BYTES]): n for n, start in enumerate(starts)}


def _joined(old: Layout, new: Layout, taken: NDArray[np.int64]) -> Layout:
    """Return a layout of which document *n* is number ``taken[n]`` of *old*.

    Where that is negative, it is the next document of *new*.
    """
    is_new = taken < 0
    sizes = np.empty(len(taken), np.int64)
    firsts = np.empty(len(taken), np.int64)
    sizes[is_new], firsts[is_new] = np.diff(new.begins), len(old.rows) + new.begins[:-1]
    old_numbers = taken[~is_new]
    sizes[~is_new], firsts[~is_new] = np.diff(old.begins)[old_numbers], old.begins[old_numbers]
    entries = spans(firsts, sizes)
    return Layout(
        np.concatenate([old.rows, new.rows])[entries],
        np.concatenate([old.start_lines, new.start_lines])[entries],
        np.concatenate([old.end_lines, new.end_lines])[entries],
        np.concatenate(([0], np.cumsum(sizes))),
    )


def spans(begins: Numbers, lengths: Numbers) -> Numbers:
    """Return the numbers of all spans, one after the other.

    >>> spans(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    shifts: Numbers = np.repeat(begins - (ends - lengths), lengths)
    return np.arange(len(shifts)) + shifts
