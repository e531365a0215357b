"""Ranking rules for code: definitions first; tests, copies and prose later.

The factors were chosen by cross-validation over repositories; see design/0004-order-of-code.md.
"""

from array import array
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from posixpath import basename, dirname, splitext
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.corpus import Corpus, Trait, main_docs_folder
from karat.engines.chunk_table import ChunkLocation, ChunkTable, spans
from karat.engines.columns import Columns, WordNumbers, prefixed, without_prefix, word_columns
from karat.engines.fusion import Scores, top
from karat.engines.lexical.tokens import TokenRules

# Generic file names; the name of the folder is used instead.
EMPTY_STEMS = frozenset({"mod", "index", "__init__", "lib", "main", "core"})
TERMS = TokenRules()
# One word in common, such as "new" or "parse", proves half of what two do.
PROVEN_WORDS = 2

Numbers = NDArray[np.intp]
Words = frozenset[str]


@lru_cache(maxsize=1 << 16)
def words_of(name: str) -> Words:
    """Return the words that *name* is made of.

    >>> sorted(words_of("checkLogin"))
    ['check', 'checklogin', 'login']
    """
    return frozenset(TERMS.terms(name))


class _NameColumns(NamedTuple):
    words: NDArray[np.int32]
    sizes: NDArray[np.int32]
    counts: NDArray[np.int32]
    first_word: NDArray[np.int64]
    first_name: NDArray[np.int64]


class NameShares:
    """How far the words of a query make up names, of which every row has some.

    It is the share of a name's words that the query has, so that a name of several words counts in
    full only where the query spells it out. Fewer than *proven* words in common count less.

    >>> shares = NameShares(proven=2)
    >>> shares.grow([[frozenset({"check", "login"}), frozenset({"login"})], []])
    >>> shares.of(np.array([1, 0]), frozenset({"login", "user"})).tolist()
    [0.0, 0.5]
    """

    def __init__(self, *, proven: int = 1, columns: Columns | None = None) -> None:
        """Start with no rows, or with those of *columns*, which may be mapped."""
        self._proven = proven
        self._numbers: dict[str, int] | WordNumbers = {}
        # The words of all names, one name after the other; how many each name has, and how many
        # names each row.
        self._words, self._sizes, self._counts = (array("i") for _ in range(3))
        self._columns: _NameColumns | None = None
        if columns:
            self._numbers = WordNumbers(without_prefix(columns, "numbers"))
            self._columns = _NameColumns(**without_prefix(columns, "names"))  # type: ignore[arg-type]

    def columns(self) -> Columns:
        """Return all rows as columns."""
        return {
            **prefixed("numbers", word_columns(self._numbers)),
            **prefixed("names", self._laid_out()._asdict()),
        }

    def _growing(self) -> dict[str, int]:
        """Return the numbers of words as a dictionary; mapped columns are copied, to grow."""
        if isinstance(self._numbers, WordNumbers):
            self._numbers = {word: number for number, word in enumerate(self._numbers)}
            self._words, self._sizes, self._counts = (
                array("i", column.tobytes()) for column in self._laid_out()[:3]
            )
        return self._numbers

    def grow(self, rows: Iterable[Iterable[Words]]) -> None:
        """Add rows with these names; a name without words is ignored."""
        numbers = self._growing()
        # The arrays cannot grow while columns look at them.
        self._columns = None
        number = numbers.setdefault
        for names in rows:
            before = len(self._sizes)
            for name in names:
                if name:
                    self._words.extend([number(word, len(numbers)) for word in name])
                    self._sizes.append(len(name))
            self._counts.append(len(self._sizes) - before)

    def prepare(self) -> None:
        """Build the columns before the first search."""
        self._laid_out()

    def _laid_out(self) -> _NameColumns:
        if (columns := self._columns) is None:
            words, sizes, counts = (
                np.frombuffer(column, np.int32)
                for column in (self._words, self._sizes, self._counts)
            )
            first_word, first_name = (
                np.cumsum(lengths, dtype=np.int64) - lengths for lengths in (sizes, counts)
            )
            columns = _NameColumns(words, sizes, counts, first_word, first_name)
            self._columns = columns
        return columns

    def of(self, rows: Numbers, words: Words) -> NDArray[np.float64]:
        """Return the share of the name of each of *rows* that *words* make up best."""
        columns = self._laid_out()
        counts = columns.counts[rows].astype(np.intp)
        names = spans(columns.first_name[rows], counts)
        sizes = columns.sizes[names].astype(np.intp)
        asked = np.zeros(len(self._numbers), np.intp)
        numbers = map(self._numbers.get, words)
        asked[[number for number in numbers if number is not None]] = 1
        matches = asked[columns.words[spans(columns.first_word[names], sizes)]]
        common = _by_span(np.add, matches, sizes)
        shares = common / sizes * np.minimum(1.0, common / self._proven)
        result = np.zeros(len(rows))
        result[counts > 0] = _by_span(np.maximum, shares, counts[counts > 0])
        return result


class Names:
    """The names of the rows of an index, and of those that are shown.

    Without *files*, the names of files are left out: only engines that rank files use them.
    """

    def __init__(self, *, files: bool = True, columns: Columns | None = None) -> None:
        """Start with no rows, or with those of *columns*, which may be mapped."""
        stored = columns or {}
        self._has_files = files
        self._defined = NameShares(proven=PROVEN_WORDS, columns=without_prefix(stored, "defined"))
        self._files = NameShares(columns=without_prefix(stored, "files"))
        self._shown: Numbers = np.empty(0, np.intp)

    def columns(self) -> Columns:
        """Return all rows as columns."""
        return {
            **prefixed("defined", self._defined.columns()),
            **prefixed("files", self._files.columns()),
        }

    def grow(self, chunks: Collection[ChunkLocation]) -> None:
        """Add rows for *chunks*."""
        self._defined.grow(
            map(words_of, location.chunk.symbols) if location.chunk.kind == "code" else ()
            for location in chunks
        )
        if self._has_files:
            self._files.grow([words_of(_file_name(location.path))] for location in chunks)

    def show(self, rows: Numbers) -> None:
        """Use *rows* from now on, numbered from 0."""
        self._shown = rows
        self._defined.prepare()
        self._files.prepare()

    def defined(self, rows: Numbers, words: Words) -> NDArray[np.float64]:
        """Return how far *words* make up the name of something that each of *rows* defines."""
        return self._defined.of(self._shown[rows], words)

    def files(self, rows: Numbers, words: Words) -> NDArray[np.float64]:
        """Return how far *words* make up the name of the file of each of *rows*."""
        return self._files.of(self._shown[rows], words)


def _file_name(path: str) -> str:
    stem = splitext(basename(path))[0]
    return f"{stem} {basename(dirname(path))}" if stem.lower() in EMPTY_STEMS else stem


def _by_span(join: np.ufunc, values: NDArray[np.generic], lengths: Numbers) -> NDArray[np.float64]:
    """Return the *values* of each span joined into one; no span is empty.

    >>> _by_span(np.add, np.array([1, 2, 3]), np.array([1, 2])).tolist()
    [1, 5]
    """
    joined: NDArray[np.float64] = join.reduceat(values, np.cumsum(lengths) - lengths)
    return joined


TEST_SCOPES = frozenset({"test", "tests", "spec", "specs"})
# Number of further chunks that raise the score of a file.
WITNESSES = 3
# Rows below this rank are not boosted for names in the query; none of them would reach the top.
RAISED = 500


@dataclass(frozen=True, slots=True)
class RankingRules:
    """Factors on a chunk's score; 1 leaves it as it is.

    *test*, *docs*, *config*, *vendored* and *generated* are for chunks of that kind, whatever found
    them. *outside* is for documents outside of the main folder of documentation, where nothing but
    documentation is searched; 0.9 suits scores that are spread over 0 to 1. *definition* is for
    words in code that defines a name made of them. The others hold only where whole files are
    judged: *stem* is for words in a file whose name is made of them, a file's best chunk earns the
    share *coherence* of the next ones, and each further chunk counts *diversity* of the one before.
    """

    test: float = 0.7
    docs: float = 0.5
    config: float = 0.5
    vendored: float = 0.5
    generated: float = 0.5
    outside: float = 1.0
    definition: float = 1.8
    stem: float = 1.5
    coherence: float = 0.1
    diversity: float = 0.5

    @property
    def mixes_files(self) -> bool:
        """Return whether other chunks of the same file change the score of a chunk."""
        return self.coherence != 0.0 or self.diversity != 1.0


PLAIN = RankingRules(
    test=1.0,
    docs=1.0,
    config=1.0,
    vendored=1.0,
    generated=1.0,
    outside=1.0,
    definition=1.0,
    stem=1.0,
    coherence=0.0,
    diversity=1.0,
)


def kind_factors(chunks: Collection[ChunkLocation], rules: RankingRules) -> Scores:
    """Return the factor of each chunk that depends on its kind, for any query."""
    return np.fromiter((_factor(location, rules) for location in chunks), np.float32, len(chunks))


def folder_factors(corpus: Corpus, chunks: ChunkTable, rules: RankingRules) -> Scores | None:
    """Return the factor of each chunk of *corpus* that depends on its folder; None if all are 1.

    A README of a package or instructions for contributors match questions about a product by
    chance more often than they answer them.
    """
    folder = main_docs_folder(corpus) if rules.outside != 1.0 else ""
    if not folder:
        return None
    inside = np.array([document.path.startswith(f"{folder}/") for document in corpus])
    return np.where(inside[chunks.files], np.float32(1), np.float32(rules.outside))


def boost_names(
    scores: Scores, names: Names, query: str, rules: RankingRules, *, unit: str
) -> Scores:
    """Return the *scores* of words, more where words of *query* make up a name.

    That is the name of something defined, and where *unit* is ``file`` that of the file as well.
    """
    result = scores.copy()
    words = words_of(query)
    rows = top(scores, RAISED)
    result[rows] *= _factors(names.defined(rows, words), rules.definition)
    if unit == "file":
        result[rows] *= _factors(names.files(rows, words), rules.stem)
    return result


def diversify(scores: Scores, chunks: ChunkTable, k: int, rules: RankingRules) -> NDArray[np.intp]:
    """Return *k* rows, best first, for users who want files.

    A file's best chunk is worth its score and a share of the next ones; its second chunk counts
    ``rules.diversity`` of its own score, its third that of the second, and so on. Both rules
    expect scores whose ratios mean something: cosines and reciprocal ranks are stretched before.
    """
    rows = top(scores, len(scores))
    worth = scores[rows]
    # The chunks of each file stand together here, best first; the n-th of its file has turn n.
    together = np.argsort(chunks.files[rows], kind="stable")
    files = chunks.files[rows[together]]
    begins = np.flatnonzero(np.diff(files, prepend=-1))
    turns = np.arange(len(rows)) - np.repeat(begins, np.diff(begins, append=len(rows)))
    shares = [rules.diversity**turn for turn in range(int(turns.max(initial=0)) + 1)]
    earned = np.zeros(len(begins), np.float32)
    for witness in range(1, WITNESSES + 1):
        of_file = np.flatnonzero(turns == witness)
        earned[np.searchsorted(begins, of_file, side="right") - 1] += worth[together[of_file]]
    counted = worth[together] * np.array(shares, np.float32)[turns]
    counted[begins] += (rules.coherence * earned.astype(np.float64)).astype(np.float32)
    worth[together] = counted
    order = np.argsort(-worth, kind="stable")
    return rows[order[:k]]


def _factors(shares: NDArray[np.float64], most: float) -> Scores:
    """Return a factor from 1 to *most* for each of *shares*."""
    return (1.0 + (most - 1.0) * shares).astype(np.float32)


def _factor(location: ChunkLocation, rules: RankingRules) -> float:
    of_trait: Mapping[Trait, float] = {
        Trait.DOCS: rules.docs,
        Trait.CONFIG: rules.config,
        Trait.LOCK: rules.config,
        Trait.VENDORED: rules.vendored,
        Trait.GENERATED: rules.generated,
        Trait.MINIFIED: rules.generated,
    }
    factor = rules.test if _is_test(location) else 1.0
    for trait, penalty in of_trait.items():
        if trait in location.traits:
            factor *= penalty
    return factor


def _is_test(location: ChunkLocation) -> bool:
    if location.chunk.kind == "prose":
        # A page of a manual about testing is not a test.
        return False
    if Trait.TEST in location.traits:
        return True
    return any(
        name.lower() in TEST_SCOPES for name in (*location.chunk.scope, *location.chunk.symbols)
    )
