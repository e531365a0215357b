"""Postings: the documents of each term with counts, in compressed rows, built in batches."""

import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import IO, NamedTuple, TypeVar
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from karat.engines.columns import WordNumbers
from karat.engines.lexical.tokens import TokenRules, raw_words
from karat.errors import InputError


class Vocabulary:
    """The terms seen so far, numbered from 0 in the order of their first appearance.

    >>> vocabulary = Vocabulary(TokenRules())
    >>> vocabulary.expand([b"userName", b"user", b"the"])
    (array([0, 1, 2, 1], dtype=int32), array([3, 1, 0], dtype=int32))
    >>> list(vocabulary.terms)
    ['username', 'user', 'nam']
    """

    def __init__(self, rules: TokenRules, terms: Iterable[str] = ()) -> None:
        """Begin with *terms*, which have their numbers already."""
        self.rules = rules
        # A table of words is copied only when terms are added.
        self.terms: Mapping[str, int]
        self._words: _Words | None = None
        if isinstance(terms, WordNumbers):
            self.terms = terms
        else:
            self._growing(terms)

    def _growing(self, terms: Iterable[str]) -> "_Words":
        own = {term: number for number, term in enumerate(terms)}
        self.terms, self._words = own, _Words(own, self.rules)
        return self._words

    def __len__(self) -> int:
        """Return the number of terms."""
        return len(self.terms)

    def expand(self, words: Sequence[bytes]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the term numbers of *words*, in order, and how many terms each word has."""
        known = self._growing(self.terms) if self._words is None else self._words
        codes = known.codes(words)
        ends = np.frombuffer(known.ends, dtype=np.int64)
        flat = np.frombuffer(known.flat, dtype=np.int32)
        starts = ends[codes]
        counts = (ends[codes + 1] - starts).astype(np.int32)
        # Where each word's terms begin in the answer; what remains counts up from there.
        shifts = starts - (np.cumsum(counts, dtype=np.int64) - counts)
        positions = np.repeat(shifts, counts)
        positions += np.arange(len(positions))
        return flat[positions], counts

    def find(self, text: str) -> dict[int, int]:
        """Return how often *text* holds which of the terms known so far; it adds none."""
        # Not a Counter: counting by hand takes one part in twenty-five off a search.
        counts: dict[int, int] = {}
        for word in raw_words(text):
            for number in self._known(word):
                counts[number] = counts.get(number, 0) + 1
        return counts

    def _known(self, word: bytes) -> Sequence[int]:
        code = None if self._words is None else self._words.get(word)
        if self._words is None or code is None:
            terms = self.rules.of_word(word)
            numbers = map(self.terms.get, terms)
            return [number for number in numbers if number is not None]
        # Seen before, so that there is nothing to split.
        return self._words.flat[self._words.ends[code] : self._words.ends[code + 1]]


# Raw words whose terms are remembered. Ids, hashes and numbers occur once and would fill it.
MOST_WORDS = 1 << 18


class _Words(dict[bytes, int]):
    """Numbers of raw words; the terms of word *n* are ``flat[ends[n]:ends[n + 1]]``.

    Beyond MOST_WORDS it starts again, so that a number holds for one call of ``codes`` only.
    """

    def __init__(self, terms: dict[str, int], rules: TokenRules) -> None:
        super().__init__()
        self._terms = terms
        self._rules = rules
        self.flat = array("i")
        self.ends = array("q", [0])

    def __missing__(self, word: bytes) -> int:
        for term in self._rules.of_word(word):
            self.flat.append(self._terms.setdefault(term, len(self._terms)))
        self.ends.append(len(self.flat))
        self[word] = number = len(self)
        return number

    def codes(self, words: Sequence[bytes]) -> NDArray[np.int64]:
        """Return the number of each word."""
        if len(self) > MOST_WORDS:
            self.clear()
            self.flat, self.ends = array("i"), array("q", [0])
        if len(words) < 2:
            return np.array([self[word] for word in words], dtype=np.int64)
        # One call for all takes an eighth less than a map, and this line is most of the cost.
        return np.array(itemgetter(*words)(self), dtype=np.int64)


# A text, or fields with the number of times that each counts: [(header, 2), (body, 1)].
Document = str | Sequence[tuple[str, int]]

# A batch ends at the first of these, so that memory stays bounded.
BATCH_DOCUMENTS = 1 << 10
BATCH_WORDS = 1 << 18
MOST_OFTEN = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True)
class PostingRun:
    """Postings of neighbouring documents, sorted by term, then by document.

    *terms* are the distinct ones, *held* says how many postings each has. *lengths* are the terms
    per document, from document *first* on; document numbers are those of the whole index.
    """

    first: int
    lengths: NDArray[np.int32]
    terms: NDArray[np.int32]
    held: NDArray[np.int32]
    documents: NDArray[np.int32]
    counts: NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Postings:
    """The documents of term *t* are ``documents[offsets[t]:offsets[t + 1]]``, ascending.

    Terms past the last offset, which came later, have none. The rest is as in :class:`PostingRun`.
    """

    first: int
    lengths: NDArray[np.int32]
    offsets: NDArray[np.int64]
    documents: NDArray[np.int32]
    counts: NDArray[np.uint16]

    @property
    def nbytes(self) -> int:
        """Return the bytes of all columns."""
        return sum(c.nbytes for c in (self.lengths, self.offsets, self.documents, self.counts))

    def span(self, term: int) -> slice:
        """Return where the documents of *term* stand."""
        if term + 1 >= len(self.offsets):
            return slice(0, 0)
        return slice(int(self.offsets[term]), int(self.offsets[term + 1]))

    def run(self) -> PostingRun:
        """Return the same, ready to be merged."""
        held = np.diff(self.offsets).astype(np.int32)
        terms = np.arange(len(held), dtype=np.int32)
        return PostingRun(self.first, self.lengths, terms, held, self.documents, self.counts)


def collect(
    documents: Iterable[Document], vocabulary: Vocabulary, *, first: int
) -> Iterator[PostingRun]:
    """Yield the postings of *documents*, numbered from *first*, batch by batch."""
    words: list[bytes] = []
    sizes: list[int] = []
    for document in documents:
        before = len(words)
        words += words_of(document)
        sizes.append(len(words) - before)
        if len(sizes) == BATCH_DOCUMENTS or len(words) >= BATCH_WORDS:
            yield count(words, sizes, vocabulary, first=first)
            first += len(sizes)
            words, sizes = [], []
    if sizes:
        yield count(words, sizes, vocabulary, first=first)


def words_of(document: Document) -> list[bytes]:
    """Return the raw words of *document*; those of a field with weight 2 twice.

    >>> words_of([("a/b.py", 2), ("x", 1)])
    [b'a', b'b', b'py', b'a', b'b', b'py', b'x']
    """
    if isinstance(document, str):
        return raw_words(document)
    words: list[bytes] = []
    for text, weight in document:
        if weight < 0 or weight != int(weight):
            raise InputError(f"a field weighs {weight!r}; expected a whole number from 0")
        words += raw_words(text) * int(weight)
    return words


def count(
    words: list[bytes], sizes: list[int], vocabulary: Vocabulary, *, first: int
) -> PostingRun:
    """Return the postings of one batch: *sizes* says how many *words* each document has."""
    terms, per_word = vocabulary.expand(words)
    keys = terms.astype(np.int64) * len(sizes)
    keys += np.repeat(np.repeat(np.arange(len(sizes)), sizes), per_word)
    keys.sort()
    heads = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(heads, append=len(keys))
    rows, local = np.divmod(keys[heads], len(sizes))
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    return PostingRun(
        first=first,
        lengths=np.bincount(local, weights=counts, minlength=len(sizes)).astype(np.int32),
        terms=rows[starts].astype(np.int32),
        held=np.diff(starts, append=len(rows)).astype(np.int32),
        documents=(local + first).astype(np.int32),
        counts=np.minimum(counts, MOST_OFTEN).astype(np.uint16),
    )


# Runs beyond this many bytes wait in a temporary file: merged, they take as much memory again.
MEMORY_BYTES = 64 * 1024**2


class _StoredRun(NamedTuple):
    """A run with *terms* terms and *postings* postings in a file."""

    first: int
    lengths: NDArray[np.int32]
    terms: int
    postings: int


class RunBuffer:
    """Runs that wait to be merged: in memory, and beyond *memory_bytes* in a temporary file.

    The file has no name and is gone when the buffer is.
    """

    def __init__(self, *, memory_bytes: int = MEMORY_BYTES) -> None:
        """Start with no runs."""
        self.documents = self.postings = 0
        self._memory_bytes = memory_bytes
        self._bytes = 0
        self._stored: list[_StoredRun] = []
        self._file: IO[bytes] | None = None
        self._runs: list[PostingRun] = []

    def add(self, run: PostingRun) -> None:
        """Append *run*, whose documents follow those of the last one."""
        self._runs.append(run)
        self.documents += len(run.lengths)
        self.postings += len(run.documents)
        self._bytes += sum(column.nbytes for column in _columns(run))
        if self._bytes > self._memory_bytes:
            self._store()

    def __iter__(self) -> Iterator[PostingRun]:
        """Yield all runs, in the order of their documents."""
        if self._file is not None:
            self._file.seek(0)
            for stored in self._stored:
                yield _read_run(self._file, stored)
        yield from self._runs

    def _store(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="karat-index-")  # noqa: SIM115 - kept open
            finalize(self, self._file.close)
        self._file.seek(0, 2)
        for run in self._runs:
            for column in _columns(run):
                self._file.write(column.tobytes())
            self._stored.append(
                _StoredRun(run.first, run.lengths, len(run.terms), len(run.documents))
            )
        self._runs = []
        self._bytes = 0


def _columns(run: PostingRun) -> tuple[NDArray[np.generic], ...]:
    return run.terms, run.held, run.documents, run.counts


Number = TypeVar("Number", bound=np.generic)


def _read_run(file: IO[bytes], stored: _StoredRun) -> PostingRun:
    def column(kind: type[Number], count: int) -> NDArray[Number]:
        return np.frombuffer(file.read(count * np.dtype(kind).itemsize), kind)

    return PostingRun(
        stored.first,
        stored.lengths,
        column(np.int32, stored.terms),
        column(np.int32, stored.terms),
        column(np.int32, stored.postings),
        column(np.uint16, stored.postings),
    )


def merge(runs: Iterable[PostingRun], *, terms: int) -> Postings:
    """Return neighbouring *runs*, in the order of their documents, as one over *terms* terms.

    They are read twice, one at a time.
    """
    held = np.zeros(terms, dtype=np.int64)
    lengths = [np.empty(0, dtype=np.int32)]
    firsts = []
    for run in runs:
        held[run.terms] += run.held
        lengths.append(run.lengths)
        firsts.append(run.first)
    offsets = np.concatenate(([0], np.cumsum(held)))
    documents = np.empty(offsets[-1], dtype=np.int32)
    counts = np.empty(offsets[-1], dtype=np.uint16)
    cursor = offsets[:-1].copy()
    for run in runs:
        shifts = cursor[run.terms] - (np.cumsum(run.held, dtype=np.int64) - run.held)
        positions = np.repeat(shifts, run.held)
        positions += np.arange(len(positions))
        documents[positions] = run.documents
        counts[positions] = run.counts
        cursor[run.terms] += run.held
    first = firsts[0] if firsts else 0
    return Postings(first, np.concatenate(lengths), offsets, documents, counts)
