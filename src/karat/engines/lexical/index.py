"""A lexical index: documents in, ranked document numbers out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.engines.lexical.bm25 import BM25, DocumentRanking, View
from karat.engines.lexical.postings import Document, Postings, Vocabulary, collect, merge
from karat.engines.lexical.tokens import TokenRules
from karat.errors import InputError

__all__ = ["LexicalIndex", "Query", "TermScore"]


# A text, or terms as the index knows them with a boost each.
Query = str | Mapping[str, float]
# Which documents count: all, a mask over all of them, or an earlier view.
Live: TypeAlias = NDArray[np.bool_] | View | None


class TermScore(NamedTuple):
    """What one term of a query adds to the score of a document."""

    term: str
    score: float


class LexicalIndex:
    """BM25 over documents that are numbered from 0 in the order in which they were added.

    Documents are never removed: a mask says which are alive, and the answer is bit for bit that of
    an index of just those. Searching is safe from several threads, adding is not.

    >>> index = LexicalIndex()
    >>> index.add(["def parse_url(text): ...", [("src/user.py", 2), ("class UserStore: ...", 1)]])
    range(0, 2)
    >>> index.search("where are users stored?", 10).documents
    array([1])
    """

    def __init__(self, *, rules: TokenRules | None = None, bm25: BM25 | None = None) -> None:
        """Begin empty, with these *rules* for terms and parameters of *bm25*."""
        self.rules = rules or TokenRules()
        self.bm25 = bm25 or BM25()
        self._vocabulary = Vocabulary(self.rules)
        self._parts: list[Postings] = []
        self._everything: View | None = None

    @classmethod
    def of_parts(
        cls, parts: Sequence[Postings], terms: Iterable[str], *, rules: TokenRules, bm25: BM25
    ) -> "LexicalIndex":
        """Return an index of postings that exist already."""
        index = cls(rules=rules, bm25=bm25)
        index._vocabulary = Vocabulary(rules, terms)
        index._parts = list(parts)
        return index

    def __len__(self) -> int:
        """Return the number of documents, dead ones included."""
        return self._parts[-1].first + len(self._parts[-1].lengths) if self._parts else 0

    @property
    def terms(self) -> Sequence[str]:
        """The terms by number."""
        return tuple(self._vocabulary.terms)

    @property
    def nbytes(self) -> int:
        """Return the bytes of the postings; the terms come on top."""
        return sum(part.nbytes for part in self._parts)

    def add(self, documents: Iterable[Document]) -> range:
        """Append *documents*, texts or weighted fields, and return their numbers."""
        before = len(self)
        runs = list(collect(documents, self._vocabulary, first=before))
        if runs:
            # A part swallows its elder unless that is more than twice its size: at most
            # logarithmically many parts remain, and a posting moves as rarely.
            elder = self._parts
            size = sum(len(run.documents) for run in runs)
            while elder and len(elder[-1].documents) <= 2 * size:
                last = elder.pop()
                size += len(last.documents)
                runs.insert(0, last.run())
            elder.append(merge(runs, terms=len(self._vocabulary)))
            self._everything = None
        return range(before, len(self))

    def compact(self) -> Postings:
        """Make the index one part, the fastest to search, and return it."""
        if len(self._parts) != 1:
            runs = [part.run() for part in self._parts]
            self._parts = [merge(runs, terms=len(self._vocabulary))]
            self._everything = None
        return self._parts[0]

    def view(self, live: NDArray[np.bool_] | None = None) -> View:
        """Return the documents that are alive, to be searched many times; None means all."""
        if live is None:
            if self._everything is None:
                self._everything = View(tuple(self._parts), bm25=self.bm25)
            return self._everything
        if live.dtype != np.bool_ or live.shape != (len(self),):
            raise InputError(
                f"a mask of {live.dtype} with shape {live.shape}; expected {len(self)} booleans"
            )
        return View(tuple(self._parts), bm25=self.bm25, live=live)

    def search(self, query: Query, k: int, *, live: Live = None) -> DocumentRanking:
        """Return the best *k* live documents that hold a term of *query*."""
        return self._view(live).search(list(self._numbered(query).items()), k)

    def scores(self, query: Query, *, live: Live = None) -> NDArray[np.float32]:
        """Return the score of every document, dead ones and those without a match as 0."""
        return self._view(live).scores(list(self._numbered(query).items()))

    def explain(self, query: Query, document: int, *, live: Live = None) -> list[TermScore]:
        """Return what each term of *query* that *document* holds adds to its score, most first.

        >>> index = LexicalIndex()
        >>> index.add(["alpha beta", "alpha"])
        range(0, 2)
        >>> [term.term for term in index.explain("alpha beta gamma", 0)]
        ['beta', 'alpha']
        """
        if not 0 <= document < len(self):
            raise InputError(f"no document {document}; the index holds {len(self)}")
        view = self._view(live)
        position = np.array([document], dtype=np.int32)
        names = self.terms
        contributions = [
            TermScore(names[term], float(view.contributions(term, position)[0]) * boost)
            for term, boost in self._numbered(query).items()
        ]
        return sorted((term for term in contributions if term.score), key=lambda term: -term.score)

    def _view(self, live: Live) -> View:
        return live if isinstance(live, View) else self.view(live)

    def _numbered(self, query: Query) -> Mapping[int, float]:
        """Return the query's terms with boosts; a word that a text repeats counts as often."""
        if isinstance(query, str):
            return self._vocabulary.find(query)
        known = self._vocabulary.terms
        return {known[term]: boost for term, boost in query.items() if term in known}
