"""What a search is to Karat: something that indexes a corpus and answers queries."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import NamedTuple, Protocol, runtime_checkable

from karat.corpus import Corpus
from karat.model import Hit

__all__ = [
    "Engine",
    "ExplainedHit",
    "Progress",
    "SearchStep",
    "SupportsBatch",
    "SupportsClose",
    "SupportsExplain",
    "SupportsMetadata",
    "SupportsPhases",
    "SupportsProgress",
    "SupportsReset",
    "SupportsSize",
    "SupportsSnapshots",
    "SupportsSteps",
    "SupportsWork",
    "broken_laws",
]

# Told what is done, and what there is to do.
Progress = Callable[[int, int], None]


@runtime_checkable
class Engine(Protocol):
    """A search engine.

    The law, which ``karat.testing.EngineSuite`` checks:

    - ``search`` returns at most *k* hits, best first, with finite descending scores;
    - no two hits are the same place, and every place exists in the corpus;
    - the same query on the same corpus gives the same hits;
    - an empty query or an empty corpus gives no hits, never an error;
    - ``search`` before ``index`` raises EngineError.

    ``index`` may be called again and then replaces what was indexed. Where *thread_safe* is true,
    several threads may search at once.
    """

    name: str
    thread_safe: bool

    def index(self, corpus: Corpus) -> None:
        """Make *corpus* searchable."""
        ...

    def search(self, query: str, k: int) -> Sequence[Hit]:
        """Return the best *k* hits for *query*."""
        ...


@runtime_checkable
class SupportsBatch(Protocol):
    """An engine that does a part of its work for many queries at once, such as embedding them.

    The hits are bit for bit those that it gives without.
    """

    def expect(self, queries: Sequence[str]) -> None:
        """Hear which queries will be asked, in place of those expected before; none ends that.

        It holds for whatever corpus is shown, and may come before ``index``. An error concerns
        the queries together: each may still be asked alone.
        """
        ...


@runtime_checkable
class SupportsSnapshots(Protocol):
    """An engine that moves between versions of a corpus without indexing it anew.

    After ``show`` the hits are those of an engine that indexed just that snapshot.
    """

    def show(self, corpus: Corpus) -> None:
        """Search *corpus* from now on; unchanged documents are not indexed again."""
        ...


@runtime_checkable
class SupportsWork(Protocol):
    """An engine that counts what its indexing has cost."""

    def work(self) -> Mapping[str, int]:
        """Return counts since ``index``, such as rows indexed, texts embedded and reused."""
        ...


@runtime_checkable
class SupportsProgress(Protocol):
    """An engine whose indexing takes long enough to be watched."""

    def watch(self, progress: Progress | None) -> None:
        """Call *progress* while indexing; None ends that."""
        ...


@runtime_checkable
class SupportsPhases(Protocol):
    """An engine that says where the time of its last search went."""

    def phases_ns(self) -> Mapping[str, int]:
        """Return nanoseconds by phase, such as embed, search and rerank."""
        ...


@runtime_checkable
class SupportsMetadata(Protocol):
    """An engine that tells more of its last search than hits."""

    def metadata(self) -> Mapping[str, object]:
        """Return what it told, such as the tokens and the money that the search has cost."""
        ...


@runtime_checkable
class SupportsReset(Protocol):
    """An engine that remembers queries and can forget them, so that a search can be timed cold."""

    def reset(self) -> None:
        """Forget what was cached for earlier queries."""
        ...


@runtime_checkable
class SupportsSize(Protocol):
    """An engine that knows how large its index is."""

    def index_bytes(self) -> int:
        """Return the bytes that the index takes, in memory or on disk."""
        ...


class ExplainedHit(NamedTuple):
    """A hit with the score that each stage gave it; a stage that did not see it is missing.

    *ranking* is what became of these scores: *names* is the factor on those of words where the
    query names what the place defines, *joined* the score of several stages together, and *kind*
    the factor for what the place is, such as a test. Their product is the score of the hit, unless
    it is held back as a further place of its file.
    """

    hit: Hit
    stages: Mapping[str, float]
    ranking: Mapping[str, float] = {}


@runtime_checkable
class SupportsExplain(Protocol):
    """An engine that can say why a hit stands where it stands."""

    def explain(self, query: str, k: int) -> Sequence[ExplainedHit]:
        """Return the hits of ``search`` with the scores of each stage."""
        ...


class SearchStep(NamedTuple):
    """What a search has found so far: the hits after a step, best first.

    *kind* is ``stage`` (several of these stand side by side, each as if it were alone),
    ``fusion``, ``rerank`` or ``threshold``.
    """

    kind: str
    hits: Sequence[Hit]


@runtime_checkable
class SupportsSteps(Protocol):
    """An engine that can say at which step a place was lost."""

    def steps(self, query: str, k: int) -> Sequence[SearchStep]:
        """Return the first *k* hits after each step; after the last one, those of ``search``."""
        ...


@runtime_checkable
class SupportsClose(Protocol):
    """An engine that holds a process, a connection or a file."""

    def close(self) -> None:
        """Let go of it; calling it twice is fine."""
        ...


def broken_laws(hits: Sequence[Hit], corpus: Corpus, k: int) -> list[str]:
    """Return what *hits*, the answer to one query, break; nothing where they keep the law.

    >>> from karat.corpus import from_texts
    >>> corpus = from_texts({"a.py": "x = 1"})
    >>> broken_laws([Hit("a.py", 1.0), Hit("b.py", 2.0, 3, 1)], corpus, k=1)
    ['2 hits for k = 1', 'scores are not descending: 1.0 before 2.0', 'b.py is not in the corpus']
    """
    found = [f"{len(hits)} hits for k = {k}"] if len(hits) > k else []
    scores = [hit.score for hit in hits]
    found += [f"score {score} is not finite" for score in scores if not isfinite(score)]
    found += [
        f"scores are not descending: {first} before {second}"
        for first, second in pairwise(scores)
        if first < second
    ]
    places = [hit[:1] + hit[2:5] for hit in hits]
    found += [
        f"{hit.path}:{hit.start_line}-{hit.end_line} comes twice"
        for rank, hit in enumerate(hits)
        if places[rank] in places[:rank]
    ]
    for hit in hits:
        found += _broken_place(hit, corpus)
    return found


def _broken_place(hit: Hit, corpus: Corpus) -> list[str]:
    if hit.path not in corpus.by_path:
        return [f"{hit.path} is not in the corpus"]
    if hit.start_line == hit.end_line == 0:
        return []
    text = corpus.read(hit.path)
    lines = text.count("\n") + (bool(text) and not text.endswith("\n"))
    if 1 <= hit.start_line <= hit.end_line <= lines:
        return []
    return [f"{hit.path} has lines 1-{lines}, not {hit.start_line}-{hit.end_line}"]
