"""A lexical index: documents in, ranked document numbers out; in memory or in files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import inf, log
from operator import itemgetter
from threading import Lock, local
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.engines.caches import IndexFiles
from karat.engines.columns import Columns, WordNumbers, prefixed, without_prefix, word_columns
from karat.engines.lexical.postings import (
    Document,
    PostingRun,
    Postings,
    RunBuffer,
    Vocabulary,
    collect,
    merge,
)
from karat.engines.lexical.tokens import TokenRules
from karat.errors import InputError

# Up to this number of postings, all weights are computed in advance, for 12 bytes each. Above it,
# the weights of the terms are computed with each query; the bits are the same.
READY_POSTINGS = 1 << 24

# Scores are laid out in this many rows; the maximum of a column stands for all scores in it.
ROWS = 64

POSTING_COLUMNS = ("lengths", "offsets", "documents", "counts")


class DocumentRanking(NamedTuple):
    """Document numbers, best first, with their scores."""

    documents: NDArray[np.intp]
    scores: NDArray[np.float32]


def best(scores: NDArray[np.float32], k: int) -> DocumentRanking:
    """Return the *k* best positive scores; a score of 0 means that nothing matched.

    >>> best(np.array([1, 0, 3, 1], dtype=np.float32), 2)
    DocumentRanking(documents=array([2, 0]), scores=array([3., 1.], dtype=float32))
    """
    if k <= 0:
        return DocumentRanking(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32))
    columns = -(-len(scores) // ROWS)
    if columns < 4 * k:
        chosen = np.flatnonzero(scores > 0)
        return rank_documents(chosen, scores[chosen], k)
    if len(scores) < columns * ROWS:
        scores = pad_scores(scores)
    table = scores.reshape(ROWS, columns)
    # Down the columns: whole rows are compared at once, which within a row is not possible.
    maxima = table.max(axis=0)
    # At least k documents score as much as the k-th largest maximum; so each of the best k is in a
    # column whose maximum is at least that.
    least = np.partition(maxima, columns - k)[columns - k]
    if least <= 0:
        chosen = np.flatnonzero(scores > 0)
        return rank_documents(chosen, scores[chosen], k)
    near = np.flatnonzero(maxima >= least)
    inside = table[:, near]
    rows, positions = np.nonzero(inside >= least)
    return rank_documents(rows * columns + near[positions], inside[rows, positions], k)


def pad_scores(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return *scores* with zeros behind them, so that they fill whole rows.

    >>> len(pad_scores(np.ones(100, dtype=np.float32)))
    128
    """
    filled = np.zeros(-(-len(scores) // ROWS) * ROWS, dtype=np.float32)
    filled[: len(scores)] = scores
    return filled


def rank_documents(
    documents: NDArray[np.intp], scores: NDArray[np.float32], k: int
) -> DocumentRanking:
    """Return the best *k* of ascending *documents*."""
    if len(documents) > 8 * k:
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        positions = np.flatnonzero(scores >= least)
        documents, scores = documents[positions], scores[positions]
    # Stable, so that equal scores keep the order of their documents.
    order = np.argsort(-scores, kind="stable")[:k]
    return DocumentRanking(documents[order], scores[order])


@dataclass(frozen=True, slots=True)
class BM25:
    """The parameters: *k1* is the saturation of term frequency, *b* the normalisation by length."""

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        if not (0 <= self.k1 < inf and 0 <= self.b <= 1):
            raise InputError(f"k1={self.k1}, b={self.b}; expected k1 from 0 and b from 0 to 1")

    def norms(self, lengths: NDArray[np.int32], average: float) -> NDArray[np.float32]:
        """Return what is added to a term's count in the divisor, for documents of *lengths*."""
        relative = lengths / average if average else np.zeros(len(lengths))
        norms: NDArray[np.float32] = (self.k1 * (1 - self.b + self.b * relative)).astype(np.float32)
        return norms


def idf(documents: int, frequency: int) -> np.float32:
    """Return Lucene's inverse document frequency, which is never negative.

    >>> float(idf(3, 1)).__round__(4)
    0.9808
    """
    return np.float32(log(1 + (documents - frequency + 0.5) / (frequency + 0.5)))


Numbers = NDArray[np.int32] | NDArray[np.intp]


class TermContribution(NamedTuple):
    """The scores that a query term adds to documents, for each part of the index.

    *frequency* is the number of live documents that hold it.
    """

    frequency: int
    postings: Sequence[tuple[Numbers, NDArray[np.float32]]]


class View:
    """The live documents of an index as if nothing else had ever been indexed.

    Scores are bit for bit those of an index of only these documents. A term adds
    ``idf * tf / (tf + k1 * (1 - b + b * length / average))``, from the rarest term to the most
    frequent. A view of all documents has its weights computed ahead unless there are very many; one
    with a mask computes them per query. Several threads may search one view.
    """

    def __init__(
        self,
        parts: Sequence[Postings],
        *,
        bm25: BM25,
        live: NDArray[np.bool_] | None = None,
        ready: "PostingWeights | None" = None,
    ) -> None:
        """Look at *parts*; *live* says which documents count, None means all.

        *ready* are the weights of all documents, if they have been computed.
        """
        self._parts = parts
        lengths = np.concatenate([part.lengths for part in parts] or [np.empty(0, np.int32)])
        alive = lengths if live is None else lengths[live]
        self._alive = len(alive)
        self._norms = bm25.norms(lengths, float(alive.sum(dtype=np.int64)) / max(len(alive), 1))
        if live is not None:
            # tf / (tf + infinity) is 0: a dead document never scores.
            self._norms[~live] = np.inf
        if ready is None and live is None and is_small(parts):
            ready = PostingWeights.of(parts, self._norms)
        self.ready = ready
        self._scratch = local()

    def __len__(self) -> int:
        """Return the number of live documents."""
        return self._alive

    def scores(self, query: Sequence[tuple[int, float]]) -> NDArray[np.float32]:
        """Return every document's score for *query*, term numbers with boosts; 0 is no match."""
        scores = np.zeros(len(self._norms), dtype=np.float32)
        for term in self._weighted(query):
            add(scores, term)
        return scores

    def search(self, query: Sequence[tuple[int, float]], k: int) -> DocumentRanking:
        """Return the best *k* documents for *query*, term numbers with boosts."""
        # Looking up only documents that frequent terms can still lift among the best (MaxScore)
        # was tried on 100,000 chunks: at best 7 % off the median and slower beyond it.
        scores = self._zeros()
        for term in self._weighted(query):
            add(scores, term)
        return best(scores, k)

    def contributions(self, term: int, documents: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return what *term* adds to each of *documents*, which ascend."""
        return add_terms(
            np.zeros(len(documents), np.float32), documents, self._weighted([(term, 1)])
        )

    def _zeros(self) -> NDArray[np.float32]:
        """Return this thread's own array of zeros, one for each document and some to spare."""
        scores: NDArray[np.float32] | None = getattr(self._scratch, "scores", None)
        if scores is None:
            self._scratch.scores = scores = pad_scores(np.zeros(len(self._norms), dtype=np.float32))
        else:
            scores.fill(0)
        return scores

    def _weighted(self, query: Sequence[tuple[int, float]]) -> list[TermContribution]:
        """Return the terms that live documents hold, the rarest first."""
        term_of = self.ready.term if self.ready else self._computed
        rankings = [
            weighted if boost == 1 else boost_term(weighted, np.float32(boost))
            for term, boost in query
            if (weighted := term_of(term)).frequency
        ]
        # Stable: equally frequent terms stay in the order of the query, whatever their numbers.
        rankings.sort(key=itemgetter(0))
        return rankings

    def _computed(self, term: int) -> TermContribution:
        """Return *term* weighted for the live documents only."""
        frequency = 0
        shares = []
        for part in self._parts:
            span = part.span(term)
            documents = part.documents[span]
            norms = self._norms[documents]
            frequency += int(np.count_nonzero(np.isfinite(norms)))
            shares.append((documents, share(part.counts[span], norms)))
        rarity = idf(self._alive, frequency)
        return TermContribution(
            frequency, [(documents, rarity * portion) for documents, portion in shares]
        )


def is_small(parts: Sequence[Postings]) -> bool:
    """Return whether the weights of all postings are computed ahead."""
    return sum(len(part.documents) for part in parts) <= READY_POSTINGS


class PartWeights(NamedTuple):
    """The weights of the postings of a part, and their documents as wide as numpy's indices."""

    part: Postings
    documents: NDArray[np.intp]
    weights: NDArray[np.float32]


class PostingWeights:
    """The weights of all postings, computed once for documents that are all alive."""

    def __init__(self, parts: Sequence[PartWeights]) -> None:
        """Store the weights of each part."""
        self.parts = parts

    @classmethod
    def of(cls, parts: Sequence[Postings], norms: NDArray[np.float32]) -> Self:
        """Compute the weights of *parts*, whose documents have these *norms*."""
        held = np.zeros(max((len(part.offsets) - 1 for part in parts), default=0), dtype=np.int64)
        for part in parts:
            held[: len(part.offsets) - 1] += np.diff(part.offsets)
        distinct, positions = np.unique(held, return_inverse=True)
        # Not numpy's log: one function for one number and for many, so that the bits agree.
        rarity = np.array([idf(len(norms), int(df)) for df in distinct], dtype=np.float32)[
            positions
        ]
        weighted = []
        for part in parts:
            weights = share(part.counts, norms[part.documents])
            weights *= np.repeat(rarity[: len(part.offsets) - 1], np.diff(part.offsets))
            # A copy as wide as numpy's own indices: 8 bytes a posting save a seventh of a query.
            weighted.append(PartWeights(part, part.documents.astype(np.intp), weights))
        return cls(weighted)

    def term(self, term: int) -> TermContribution:
        """Return the weights of *term*."""
        frequency = 0
        postings = []
        for part, documents, weights in self.parts:
            span = part.span(term)
            frequency += span.stop - span.start
            postings.append((documents[span], weights[span]))
        return TermContribution(frequency, postings)


def boost_term(term: TermContribution, boost: np.float32) -> TermContribution:
    """Return *term* with all that it adds multiplied by *boost*."""
    postings = [(documents, weights * boost) for documents, weights in term.postings]
    return TermContribution(term.frequency, postings)


def share(counts: NDArray[np.uint16], norms: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return tf / (tf + norm), from 0 to 1."""
    times = counts.astype(np.float32)
    norms = norms + times
    times /= norms
    return times


def add(scores: NDArray[np.float32], term: TermContribution) -> None:
    """Add what *term* is worth to the *scores* of its documents."""
    for documents, weights in term.postings:
        # No document occurs twice; add.at is still half again as fast as += through an index.
        np.add.at(scores, documents, weights)


def add_terms(
    scores: NDArray[np.float32], documents: NDArray[np.int32], terms: Sequence[TermContribution]
) -> NDArray[np.float32]:
    """Return the *scores* of ascending *documents* with what *terms* add to them."""
    for term in terms:
        for held, weights in term.postings:
            positions = held.searchsorted(documents)
            np.minimum(positions, len(held) - 1, out=positions)
            scores += np.where(held[positions] == documents, weights[positions], np.float32(0))
    return scores


# A text, or terms as the index knows them with a boost each.
Query = str | Mapping[str, float]
# Which documents count: all, a mask over all of them, or an earlier view.
Live: TypeAlias = NDArray[np.bool_] | View | None


class TermScore(NamedTuple):
    """The score that one term of a query adds to a document."""

    term: str
    score: float


class _RunChain:
    """Runs from several places, to be read more than once."""

    def __init__(self, *sources: Iterable[PostingRun]) -> None:
        self._sources = sources

    def __iter__(self) -> Iterator[PostingRun]:
        return chain.from_iterable(self._sources)


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
        # Runs that were added since the last search.
        self._added = RunBuffer()
        self._merging = Lock()
        self._everything: View | None = None

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        postings: Postings,
        *,
        bm25: BM25,
        ready: PostingWeights | None = None,
    ) -> Self:
        """Return an index of finished *postings*, which documents may be added to."""
        index = cls(rules=vocabulary.rules, bm25=bm25)
        index._vocabulary = vocabulary
        index._parts = [postings]
        index._everything = View([postings], bm25=bm25, ready=ready)
        return index

    def __len__(self) -> int:
        """Return the number of documents, dead ones included."""
        last = self._parts[-1:]
        return sum(part.first + len(part.lengths) for part in last) + self._added.documents

    @property
    def terms(self) -> Sequence[str]:
        """The terms by number."""
        return tuple(self._vocabulary.terms)

    @property
    def nbytes(self) -> int:
        """Return the bytes of the postings; the terms come on top."""
        return sum(part.nbytes for part in self._merged())

    def add(self, documents: Iterable[Document]) -> range:
        """Append *documents*, texts or weighted fields, and return their numbers."""
        before = len(self)
        for run in collect(documents, self._vocabulary, first=before):
            self._added.add(run)
        self._everything = None
        return range(before, len(self))

    def _merged(self) -> list[Postings]:
        """Return the parts, with all that was added.

        A part is merged with the one before it unless that is more than twice as large, so that the
        number of parts, and of moves of a posting, stays logarithmic.
        """
        with self._merging:
            if self._added.documents:
                elder = list(self._parts)
                size = self._added.postings
                swallowed: list[PostingRun] = []
                while elder and len(elder[-1].documents) <= 2 * size:
                    last = elder.pop()
                    size += len(last.documents)
                    swallowed.insert(0, last.run())
                runs = _RunChain(swallowed, self._added)
                self._parts = [*elder, merge(runs, terms=len(self._vocabulary))]
                self._added = RunBuffer()
            return self._parts

    def compact(self) -> Postings:
        """Make the index one part, the fastest to search, and return it."""
        parts = self._merged()
        if len(parts) != 1:
            runs = [part.run() for part in parts]
            self._parts = [merge(runs, terms=len(self._vocabulary))]
            self._everything = None
        return self._parts[0]

    def view(self, live: NDArray[np.bool_] | None = None) -> View:
        """Return the documents that are alive, to be searched many times; None means all."""
        if live is None:
            if self._everything is None:
                self._everything = View(tuple(self._merged()), bm25=self.bm25)
            return self._everything
        if live.dtype != np.bool_ or live.shape != (len(self),):
            raise InputError(
                f"a mask of {live.dtype} with shape {live.shape}; expected {len(self)} booleans"
            )
        return View(tuple(self._merged()), bm25=self.bm25, live=live)

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
        numbered = ((known.get(term), boost) for term, boost in query.items())
        return {number: boost for number, boost in numbered if number is not None}


def mapped_index(
    files: IndexFiles, name: str, *, rules: TokenRules, bm25: BM25
) -> LexicalIndex | None:
    """Return the index *name* that a process has written; None if there is none."""
    name = f"{name} {rules}"
    columns = files.read(name)
    return None if columns is None else _index(columns, files, name, rules, bm25)


def shared_index(files: IndexFiles, name: str, index: LexicalIndex) -> LexicalIndex:
    """Write *index* as *name* and return it mapped; *index* itself if it cannot be written."""
    name = f"{name} {index.rules}"
    columns = files.share(name, partial(_columns, index))
    return index if columns is None else _index(columns, files, name, index.rules, index.bm25)


def _columns(index: LexicalIndex) -> Columns:
    postings = index.compact()
    return {
        **{name: getattr(postings, name) for name in POSTING_COLUMNS},
        **prefixed("terms", word_columns(index.terms)),
    }


def _index(
    columns: Columns, files: IndexFiles, name: str, rules: TokenRules, bm25: BM25
) -> LexicalIndex:
    postings = Postings(0, *(columns[column] for column in POSTING_COLUMNS))  # type: ignore[arg-type]
    vocabulary = Vocabulary(rules, WordNumbers(without_prefix(columns, "terms")))
    ready = _weights(postings, files, f"{name} {bm25}", bm25) if is_small([postings]) else None
    return LexicalIndex.of(vocabulary, postings, bm25=bm25, ready=ready)


def _weights(postings: Postings, files: IndexFiles, name: str, bm25: BM25) -> PostingWeights | None:
    """Return the weights of all postings, mapped; None if they cannot be written."""

    def make() -> Columns:
        computed = View([postings], bm25=bm25).ready
        only = computed.parts[0] if computed else None
        return {} if only is None else {"documents": only.documents, "weights": only.weights}

    columns = files.share(name, make)
    if not columns:
        return None
    weighted = PartWeights(postings, columns["documents"], columns["weights"])  # type: ignore[arg-type]
    return PostingWeights([weighted])
