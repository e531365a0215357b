"""Search as with grep: which documents hold the most different words of the query."""

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from karat.engines.lexical.index import TermScore
from karat.engines.lexical.postings import Document
from karat.engines.lexical.stopwords import STOP_WORDS
from karat.engines.lexical.topk import Ranking, best
from karat.errors import InputError

__all__ = ["KeywordIndex", "keywords"]

WORD = re.compile(r"\w{2,}")
# Between two documents; no word holds it.
BORDER = "\0"


def keywords(query: str) -> list[str]:
    """Return the different words of *query* in lower case, stop words left out.

    >>> keywords("Where is the URL parsed, the url of a user?")
    ['url', 'parsed', 'user']
    """
    words = dict.fromkeys(WORD.findall(query.lower()))
    return [word for word in words if word not in STOP_WORDS]


class KeywordIndex:
    """What a developer gets from grep; the baseline that a search has to beat.

    A document scores one for each different word of the query that occurs in it, as part of a
    longer word too and in any case; the number of occurrences breaks ties, by less than one in all.
    Nothing is indexed: a query reads all text. Its methods are those of LexicalIndex.

    >>> index = KeywordIndex()
    >>> index.add(["def parse_url(url): ...", "class User: ..."])
    range(0, 2)
    >>> index.search("parse the url", 10)
    Ranking(documents=array([0]), scores=array([2.75], dtype=float32))
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._texts: list[str] = []
        self._starts: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._joined: str | None = None

    def __len__(self) -> int:
        """Return the number of documents, dead ones included."""
        return len(self._texts)

    def add(self, documents: Iterable[Document]) -> range:
        """Append *documents* and return their numbers; a field's weight does not matter here."""
        before = len(self)
        for document in documents:
            fields = [document] if isinstance(document, str) else [text for text, _ in document]
            self._texts.append(BORDER.join(fields).lower())
        self._joined = None
        return range(before, len(self))

    def search(self, query: str, k: int, *, live: NDArray[np.bool_] | None = None) -> Ranking:
        """Return the *k* live documents with the most words of *query*."""
        return best(self.scores(query, live=live), k)

    def scores(self, query: str, *, live: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        """Return the score of every document, dead ones and those without a match as 0."""
        distinct = np.zeros(len(self), dtype=np.float64)
        total = np.zeros(len(self), dtype=np.int64)
        for word in keywords(query):
            found = self._occurrences(word)
            distinct += found > 0
            total += found
        scores = (distinct + total / (total + 1)).astype(np.float32)
        # Very many occurrences must not round up to one more word.
        scores = np.minimum(scores, np.nextafter(distinct + 1, 0, dtype=np.float32))
        return scores if live is None else np.where(self._checked(live), scores, np.float32(0))

    def explain(self, query: str, document: int) -> list[TermScore]:
        """Return one for each word of *query* that *document* holds."""
        if not 0 <= document < len(self):
            raise InputError(f"no document {document}; the index holds {len(self)}")
        text = self._texts[document]
        return [TermScore(word, 1.0) for word in keywords(query) if word in text]

    def _occurrences(self, word: str) -> NDArray[np.int64]:
        """Return how often each document holds *word*."""
        if self._joined is None:
            self._joined = BORDER.join(self._texts)
            sizes = np.array([len(text) + 1 for text in self._texts], dtype=np.int64)
            self._starts = np.cumsum(sizes) - sizes
        matches = re.finditer(re.escape(word), self._joined)
        places = np.fromiter((match.start() for match in matches), dtype=np.int64)
        owners = np.searchsorted(self._starts, places, side="right") - 1
        return np.bincount(owners, minlength=len(self))

    def _checked(self, live: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if live.dtype != np.bool_ or live.shape != (len(self),):
            raise InputError(
                f"a mask of {live.dtype} with shape {live.shape}; expected {len(self)} booleans"
            )
        return live
