"""What places are called: the names that they define and those of their files, word by word."""

from collections.abc import Collection, Iterable
from functools import lru_cache
from posixpath import basename, dirname, splitext

import numpy as np
from numpy.typing import NDArray

from karat.engines.lexical.tokens import TokenRules
from karat.engines.places import Place

__all__ = ["Names", "Shares", "words_of"]

# File names that say nothing; the folder's name says it for them.
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


class Shares:
    """How far the words of a query make up names, of which every row has some.

    It is the share of a name's words that the query has, so that a name of several words counts in
    full only where the query spells it out. Fewer than *proven* words in common count less.

    >>> shares = Shares(proven=2)
    >>> shares.grow([[frozenset({"check", "login"}), frozenset({"login"})], []])
    >>> shares.of(np.array([1, 0]), frozenset({"login", "user"})).tolist()
    [0.0, 0.5]
    """

    def __init__(self, *, proven: int = 1) -> None:
        """Begin without a row."""
        self._proven = proven
        self._numbers: dict[str, int] = {}
        # The words of all names, one name after the other, and the names of all rows.
        self._words, self._sizes = _no_numbers(), _no_numbers()
        self._first_word, self._first_name, self._counts = (_no_numbers() for _ in range(3))

    def grow(self, rows: Iterable[Iterable[Words]]) -> None:
        """Add rows that have these names; one without words is none."""
        names_of = [[words for words in names if words] for names in rows]
        names = [words for names in names_of for words in names]
        number = self._numbers.setdefault
        words = [number(word, len(self._numbers)) for name in names for word in name]
        self._words = np.append(self._words, np.array(words, np.intp))
        self._sizes = np.append(self._sizes, np.array([len(name) for name in names], np.intp))
        self._counts = np.append(
            self._counts, np.array([len(names) for names in names_of], np.intp)
        )
        self._first_word = np.cumsum(self._sizes) - self._sizes
        self._first_name = np.cumsum(self._counts) - self._counts

    def of(self, rows: Numbers, words: Words) -> NDArray[np.float64]:
        """Return the share of the name of each of *rows* that *words* make up best."""
        counts = self._counts[rows]
        names = _spans(self._first_name[rows], counts)
        sizes = self._sizes[names]
        asked = np.zeros(len(self._numbers), np.intp)
        asked[[self._numbers[word] for word in words if word in self._numbers]] = 1
        found = asked[self._words[_spans(self._first_word[names], sizes)]]
        common = _by_span(np.add, found, sizes)
        shares = common / sizes * np.minimum(1.0, common / self._proven)
        result = np.zeros(len(rows))
        result[counts > 0] = _by_span(np.maximum, shares, counts[counts > 0])
        return result


class Names:
    """The names of the rows of an index, and of those that are shown."""

    def __init__(self) -> None:
        """Begin without a row."""
        self._defined = Shares(proven=PROVEN_WORDS)
        self._files = Shares()
        self._shown = _no_numbers()

    def grow(self, places: Collection[Place]) -> None:
        """Add rows for *places*."""
        self._defined.grow(
            map(words_of, place.chunk.symbols) if place.chunk.kind == "code" else ()
            for place in places
        )
        self._files.grow([words_of(_file_name(place.path))] for place in places)

    def show(self, rows: Numbers) -> None:
        """Speak of *rows* from now on, which are numbered from 0."""
        self._shown = rows

    def defined(self, rows: Numbers, words: Words) -> NDArray[np.float64]:
        """Return how far *words* make up the name of something that each of *rows* defines."""
        return self._defined.of(self._shown[rows], words)

    def files(self, rows: Numbers, words: Words) -> NDArray[np.float64]:
        """Return how far *words* make up the name of the file of each of *rows*."""
        return self._files.of(self._shown[rows], words)


def _file_name(path: str) -> str:
    stem = splitext(basename(path))[0]
    return f"{stem} {basename(dirname(path))}" if stem.lower() in EMPTY_STEMS else stem


def _no_numbers() -> Numbers:
    return np.empty(0, np.intp)


def _spans(begins: Numbers, lengths: Numbers) -> Numbers:
    """Return the numbers of all spans, one after the other.

    >>> _spans(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    shifts: Numbers = np.repeat(begins - (ends - lengths), lengths)
    return np.arange(len(shifts)) + shifts


def _by_span(join: np.ufunc, values: NDArray[np.generic], lengths: Numbers) -> NDArray[np.float64]:
    """Return the *values* of each span joined into one; no span is empty.

    >>> _by_span(np.add, np.array([1, 2, 3]), np.array([1, 2])).tolist()
    [1, 5]
    """
    joined: NDArray[np.float64] = join.reduceat(values, np.cumsum(lengths) - lengths)
    return joined
