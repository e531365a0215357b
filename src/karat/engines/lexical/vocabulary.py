"""Words become numbers; each distinct word is split and stemmed once."""

from array import array
from collections.abc import Iterable, Sequence
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from karat.engines.lexical.tokens import TokenRules, raw_words

__all__ = ["Vocabulary"]


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
        self.terms: dict[str, int] = {term: number for number, term in enumerate(terms)}
        self._words = _Words(self.terms, rules)

    def __len__(self) -> int:
        """Return the number of terms."""
        return len(self.terms)

    def expand(self, words: Sequence[bytes]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the term numbers of *words*, in order, and how many terms each word has."""
        codes = self._words.codes(words)
        ends = np.frombuffer(self._words.ends, dtype=np.int64)
        flat = np.frombuffer(self._words.flat, dtype=np.int32)
        starts = ends[codes]
        counts = (ends[codes + 1] - starts).astype(np.int32)
        # Where each word's terms begin in the answer; what remains counts up from there.
        shifts = starts - (np.cumsum(counts, dtype=np.int64) - counts)
        places = np.repeat(shifts, counts)
        places += np.arange(len(places))
        return flat[places], counts

    def find(self, text: str) -> dict[int, int]:
        """Return how often *text* holds which of the terms known so far; it adds none."""
        # Not a Counter: counting by hand takes one part in twenty-five off a search.
        counts: dict[int, int] = {}
        for word in raw_words(text):
            for number in self._known(word):
                counts[number] = counts.get(number, 0) + 1
        return counts

    def _known(self, word: bytes) -> Sequence[int]:
        code = self._words.get(word)
        if code is None:
            terms = self.rules.of_word(word)
            return [self.terms[term] for term in terms if term in self.terms]
        # Seen before, so that there is nothing to split.
        return self._words.flat[self._words.ends[code] : self._words.ends[code + 1]]


class _Words(dict[bytes, int]):
    """Numbers of raw words; the terms of word *n* are ``flat[ends[n]:ends[n + 1]]``."""

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
        if len(words) < 2:
            return np.array([self[word] for word in words], dtype=np.int64)
        # One call for all takes an eighth less than a map, and this line is most of the cost.
        return np.array(itemgetter(*words)(self), dtype=np.int64)
