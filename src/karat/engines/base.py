"""The base classes of search engines and of agents that return files."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from typing import NamedTuple

from karat.corpus import Corpus
from karat.model import Hit

# Called with the amount of work done and the total.
Progress = Callable[[int, int], None]


class ExplainedHit(NamedTuple):
    """A hit with the score that each stage gave it; a stage that did not see it is missing.

    *ranking* explains the final score: *names* is the factor on lexical scores where the query
    names a symbol that the chunk defines, *joined* the fused score of several stages, *kind* the
    factor for the kind of the chunk, such as a test, and *folder* that for documents outside of the
    main folder of documentation, if there is one. Their product is the score of the hit, unless it
    was lowered as a further chunk of the same file.
    """

    hit: Hit
    stages: Mapping[str, float]
    ranking: Mapping[str, float] = {}


class SearchStep(NamedTuple):
    """The hits after one step of a search, best first.

    *kind* is ``stage`` (several of these run side by side, each as if it were alone),
    ``fusion``, ``rerank`` or ``threshold``.
    """

    kind: str
    hits: Sequence[Hit]


class Engine(ABC):
    """A search engine; a subclass has a name and defines ``index`` and ``search``.

    The contract, which ``karat.testing.EngineSuite`` checks:

    - ``search`` returns at most *k* hits, best first, with finite descending scores;
    - no two hits have the same path and lines, and every hit exists in the corpus;
    - the same query on the same corpus gives the same hits;
    - an empty query or an empty corpus gives no hits, never an error;
    - ``search`` before ``index`` raises EngineError.

    ``index`` may be called again and then replaces what was indexed. Where *thread_safe* is true,
    several threads may search at once. All other methods have a default, which reports nothing.
    """

    name: str
    thread_safe: bool = False

    @abstractmethod
    def index(self, corpus: Corpus) -> None:
        """Make *corpus* searchable."""

    @abstractmethod
    def search(self, query: str, k: int) -> Sequence[Hit]:
        """Return the best *k* hits for *query*."""

    def show(self, corpus: Corpus) -> None:
        """Search *corpus* from now on; define it if unchanged documents need no indexing.

        Something was indexed before. The hits are those of an engine that indexed just *corpus*.
        """
        self.index(corpus)

    def expect(self, queries: Sequence[str]) -> None:  # noqa: ARG002 - for a subclass
        """Prefetch work for *queries*, which replace those expected before; an empty list ends it.

        The call is valid for any corpus and may come before ``index``. After an error, each query
        may still be searched alone. The hits are bit for bit the same as without prefetching.
        """
        return

    def reset(self) -> None:
        """Clear what was cached for earlier queries, so that a cold search can be timed."""
        return

    def watch(self, progress: Progress | None) -> None:  # noqa: ARG002 - for a subclass
        """Call *progress* while indexing; None ends that."""
        return

    def work(self) -> Mapping[str, float]:
        """Return counts since ``index``: rows indexed, texts embedded and reused, money spent."""
        return {}

    def index_bytes(self) -> int:
        """Return the bytes that the index takes, in memory or on disk; 0 if unknown."""
        return 0

    def phases_ns(self) -> Mapping[str, int]:
        """Return nanoseconds of the last search by phase, such as embed, search and rerank."""
        return {}

    def metadata(self) -> Mapping[str, object]:
        """Return metadata of the last search, such as its tokens and its cost."""
        return {}

    def explain(self, query: str, k: int) -> Sequence[ExplainedHit]:
        """Return the hits of ``search`` with the scores of each stage."""
        return [ExplainedHit(hit, {}) for hit in self.search(query, k)]

    def steps(self, query: str, k: int) -> Sequence[SearchStep]:
        """Return the first *k* hits after each step; after the last one, those of ``search``."""
        return [SearchStep("stage", self.search(query, k))]

    def close(self) -> None:
        """Release processes, connections and files; calling it twice is allowed."""
        return


def contract_violations(hits: Sequence[Hit], corpus: Corpus, k: int) -> list[str]:
    """Return how *hits*, the result of one query, violate the contract of engines.

    >>> from karat.corpus import from_texts
    >>> corpus = from_texts({"a.py": "x = 1"})
    >>> contract_violations([Hit("a.py", 1.0), Hit("b.py", 2.0, 3, 1)], corpus, k=1)
    ['2 hits for k = 1', 'scores are not descending: 1.0 before 2.0', 'b.py is not in the corpus']
    """
    violations = [f"{len(hits)} hits for k = {k}"] if len(hits) > k else []
    scores = [hit.score for hit in hits]
    violations += [f"score {score} is not finite" for score in scores if not isfinite(score)]
    violations += [
        f"scores are not descending: {first} before {second}"
        for first, second in pairwise(scores)
        if first < second
    ]
    locations = [hit[:1] + hit[2:5] for hit in hits]
    violations += [
        f"{hit.path}:{hit.start_line}-{hit.end_line} is returned twice"
        for rank, hit in enumerate(hits)
        if locations[rank] in locations[:rank]
    ]
    for hit in hits:
        violations += _location_violations(hit, corpus)
    return violations


def _location_violations(hit: Hit, corpus: Corpus) -> list[str]:
    if hit.path not in corpus.by_path:
        return [f"{hit.path} is not in the corpus"]
    if hit.start_line == hit.end_line == 0:
        return []
    text = corpus.read(hit.path)
    lines = text.count("\n") + (bool(text) and not text.endswith("\n"))
    if 1 <= hit.start_line <= hit.end_line <= lines:
        return []
    return [f"{hit.path} has lines 1-{lines}, not {hit.start_line}-{hit.end_line}"]


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """Files, best first, with scores and metadata if the agent reports any."""

    files: Sequence[str]
    scores: Sequence[float] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)


class RetrievalAgent(ABC):
    """A search over the files of one repository.

    Name it as ``module:Class`` wherever an engine is expected. A class that has these methods
    need not inherit from this one.
    """

    @abstractmethod
    def initialize(self, repo_path: str) -> None:
        """Get ready for the repository at *repo_path*."""

    @abstractmethod
    def retrieve(self, query: str) -> RetrievalResult:
        """Return the files for *query*, best first.

        An agent that streams its results yields several of them, each with the next files.
        """

    @abstractmethod
    def reset(self) -> None:
        """Clear the cache of earlier queries; called before a query's first repetition."""


class EmbedPart(NamedTuple):
    r"""Part *number* of *total*, from 0: the texts whose key says so.

    >>> [EmbedPart(number, 2).has(bytes(7) + b"\5") for number in (0, 1)]
    [False, True]
    """

    number: int
    total: int

    def has(self, key: bytes) -> bool:
        """Return whether the text with this *key* of the cache belongs to the part."""
        return int.from_bytes(key[:8], "big") % self.total == self.number
